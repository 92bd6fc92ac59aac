package devicetest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"infill/internal/ort"
	"infill/mlm/onnx"
)

// Squares is a graph that reads one square weight in both ways, the first way first.
func Squares(first, second string, w []float32, n int64) *onnx.Model {
	product := func(kind, x, y string) *onnx.Node {
		node := &onnx.Node{Name: y, Op: "MatMul", Inputs: []string{x, "W"}, Outputs: []string{y}}
		switch kind {
		case "Gemm":
			node.Op = "Gemm"
		case "FusedMatMul":
			node.Op, node.Domain = "FusedMatMul", onnx.Microsoft
		default:
			return node
		}
		node.Attrs = []*onnx.Attribute{onnx.Attr("transB", 1)}
		return node
	}
	info := func(name string) *onnx.ValueInfo {
		return &onnx.ValueInfo{Name: name, Type: onnx.Float, HasShape: true,
			Shape: []onnx.Dim{{Param: "rows " + name}, {Value: n}}}
	}
	return &onnx.Model{IRVersion: 8, Opsets: map[string]int64{"": 17, onnx.Microsoft: 1},
		Graph: &onnx.Graph{Name: "g", Inputs: []*onnx.ValueInfo{info("x"), info("z")},
			Outputs:      []*onnx.ValueInfo{info("y1"), info("y2")},
			Nodes:        []*onnx.Node{product(first, "x", "y1"), product(second, "z", "y2")},
			Initializers: []*onnx.Tensor{onnx.Floats("W", []int64{n, n}, w...)}}}
}

// Numbers draws n numbers.
func Numbers(rng *rand.Rand, n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(rng.NormFloat64())
	}
	return out
}

// RunSquares gives the two products of [Squares], of rows of n numbers.
func RunSquares(tb testing.TB, m *onnx.Model, c ort.Config, n int, x, z []float32) [2][]float32 {
	tb.Helper()
	out := Run(tb, m, c, n, []string{"x", "z"}, []string{"y1", "y2"}, x, z)
	return [2][]float32{out[0], out[1]}
}

// Run evaluates a graph whose inputs are rows of n numbers.
func Run(tb testing.TB, m *onnx.Model, c ort.Config, n int, inputs, outputs []string,
	rows ...[]float32) [][]float32 {
	tb.Helper()
	data, err := m.Marshal()
	if err != nil {
		tb.Fatal(err)
	}
	s, err := ort.OpenBytes("graph", data, inputs, outputs, c)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	var in []*ort.Tensor
	out := make([]*ort.Tensor, len(outputs)) // the runtime makes the results
	defer func() {
		for _, v := range slices.Concat(in, out) {
			if v != nil {
				v.Close()
			}
		}
	}()
	for _, x := range rows {
		v, err := ort.NewTensor([]int64{int64(len(x) / n), int64(n)}, x)
		if err != nil {
			tb.Fatal(err)
		}
		in = append(in, v)
	}
	if err := s.Run(tb.Context(), in, out); err != nil {
		tb.Fatal(err)
	}
	got := make([][]float32, len(out))
	for k, v := range out {
		x, ok := v.Floats()
		if !ok {
			tb.Fatalf("result %d is not in float32", k)
		}
		got[k] = slices.Clone(x)
	}
	return got
}

// ToBFloat16 keeps eight binary digits, to the nearest and to even in the middle.
func ToBFloat16(x float32) float64 {
	if x == 0 {
		return 0
	}
	_, e := math.Frexp(float64(x))
	unit := math.Ldexp(1, e-8)
	return math.RoundToEven(float64(x)/unit) * unit
}
