package mlm

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"infill/internal/ort"
	"infill/mlm/onnx"
)

// SaturatesIntegers reports whether the processor gets products of unsigned by signed 8-bit
// integers wrong. Those of x86 without VNNI do: their instruction adds two products of up to
// 255·127 in 16 bits, and a sum beyond ±32,767 becomes that bound. Quantised models get unsigned
// weights there, of the same products and bits, by a slower and exact kernel.
//
// The runtime must be loaded. Errors wrap one of internal/ort.
func SaturatesIntegers() (bool, error) { return saturates() }

var saturates = sync.OnceValues(func() (bool, error) { return probe(largest(onnx.Int8)) })

// probe says whether a row of 255s times the weights of m does not give what it must. The
// runtime has kernels of its own for a single row and for weights that are not repacked.
func probe(m *onnx.Model, want []int32) (bool, error) {
	graph, err := m.Marshal()
	if err != nil {
		return false, err
	}
	for _, loose := range []bool{false, true} {
		c := ort.Config{NoPrepack: loose}
		if wrong, err := multiplies(graph, want, c); wrong || err != nil {
			return wrong, err
		}
	}
	return false, nil
}

// probeDepth is the number of products in a sum of the probe.
const probeDepth = 64

// largest is a model of one product with the largest weights of a type, and what a row of 255s
// must give. Signed weights are of either sign.
func largest(typ onnx.DataType) (m *onnx.Model, want []int32) {
	const columns = 32
	weights := make([]byte, probeDepth*columns)
	want = make([]int32, columns)
	for i := range weights {
		w := int32(127)
		if typ == onnx.Uint8 {
			w = 255
		} else if i%columns%2 == 1 {
			w = -127
		}
		weights[i] = byte(w)
		want[i%columns] += 255 * w
	}
	rows := func(name string, typ onnx.DataType, columns int64) []*onnx.ValueInfo {
		return []*onnx.ValueInfo{{Name: name, Type: typ, HasShape: true,
			Shape: []onnx.Dim{{Param: "rows"}, {Value: columns}}}}
	}
	g := &onnx.Graph{Name: "probe",
		Inputs: rows("x", onnx.Uint8, probeDepth), Outputs: rows("y", onnx.Int32, columns),
		Initializers: []*onnx.Tensor{
			onnx.NewTensor("w", typ, []int64{probeDepth, columns}, weights)},
		Nodes: []*onnx.Node{{Name: "product", Op: "MatMulInteger", Inputs: []string{"x", "w"},
			Outputs: []string{"y"}}}}
	return &onnx.Model{IRVersion: 7, Graph: g, Opsets: map[string]int64{"": 13}}, want
}

// multiplies runs the graph of largest and says whether a row of the product differs from want.
func multiplies(graph []byte, want []int32, c ort.Config) (wrong bool, err error) {
	s, err := ort.OpenBytes("a product of 8-bit integers", graph, []string{"x"}, []string{"y"}, c)
	if err != nil {
		return false, err
	}
	defer s.Close() //nolint:errcheck // nothing is lost
	for _, rows := range []int{1, 9} {
		x, y := slices.Repeat([]uint8{255}, rows*probeDepth), make([]int32, rows*len(want))
		var f feeds
		in := []*ort.Tensor{feed(&f, x, int64(rows), probeDepth)}
		out := []*ort.Tensor{feed(&f, y, int64(rows), int64(len(want)))}
		err := f.run(context.Background(), s, in, out)
		f.close()
		if err != nil {
			return false, fmt.Errorf("a product of 8-bit integers: %w", err)
		}
		if !slices.Equal(y, slices.Repeat(want, rows)) {
			return true, nil
		}
	}
	return false, nil
}
