package onnxgrad

import (
	"math/rand/v2"
	"slices"
	"testing"

	"infill/internal/ort"
	"infill/internal/ort/orttest"
	"infill/mlm/onnx"
)

// meanTaken is a graph with a mean taken off between two products, y = (xW - mean(xW))V. With shared
// it gives the mean itself, too.
func meanTaken(n int64, shared bool) *onnx.Model {
	rng := rand.New(rand.NewPCG(7, 1))
	node := func(op, out string, in ...string) *onnx.Node {
		return &onnx.Node{Name: out, Op: op, Inputs: in, Outputs: []string{out}}
	}
	mean := node("ReduceMean", "mean", "h")
	mean.Attrs = []*onnx.Attribute{{Name: "axes", Type: onnx.AttrInts, Ints: []int64{-1}}}
	info := func(name string, width int64) *onnx.ValueInfo {
		return &onnx.ValueInfo{Name: name, Type: onnx.Float, HasShape: true,
			Shape: []onnx.Dim{{Param: "rows"}, {Value: width}}}
	}
	m := &onnx.Model{IRVersion: 8, Opsets: []onnx.OperatorSet{{Version: 17}},
		Graph: &onnx.Graph{Name: "g", Inputs: []*onnx.ValueInfo{info("x", n)},
			Outputs: []*onnx.ValueInfo{info("y", n)},
			Nodes: []*onnx.Node{node("MatMul", "h", "x", "W"), mean, node("Sub", "c", "h", "mean"),
				node("MatMul", "y", "c", "V")},
			Initializers: []*onnx.Tensor{onnx.Floats("W", []int64{n, n}, numbers(rng, int(n*n))...),
				onnx.Floats("V", []int64{n, n}, numbers(rng, int(n*n))...)}}}
	if shared {
		m.Graph.Outputs = append(m.Graph.Outputs, info("mean", 1))
	}
	return m
}

// centredRows are the results for rows of n numbers.
func centredRows(t *testing.T, m *onnx.Model, c ort.Config, n int, x []float32) []float32 {
	t.Helper()
	data, err := onnx.Marshal(m, onnx.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := ort.OpenBytes("centred", data, []string{"x"}, []string{"y"}, c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	out := []*ort.Tensor{nil} // the runtime makes the result
	in := tensor(t, []int64{int64(len(x) / n), int64(n)}, x)
	defer in.Close()
	if err := s.Run(t.Context(), []*ort.Tensor{in}, out); err != nil {
		t.Fatal(err)
	}
	defer out[0].Close()
	got, ok := ort.Data[float32](out[0])
	if !ok {
		t.Fatal("the result is not in float32")
	}
	return slices.Clone(got)
}

// The numbers of a graph are the same bits before and after. A mean that is read twice stays.
func TestNegateMeans(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	const n = 48
	x := numbers(rand.New(rand.NewPCG(3, 1)), 9*n)
	was := centredRows(t, meanTaken(n, false), ort.Config{}, n, x)
	m := meanTaken(n, false)
	if k := NegateMeans(m); k != 1 {
		t.Errorf("%d means", k)
	}
	if k := NegateMeans(m); k != 0 {
		t.Errorf("%d means are left", k)
	}
	if err := onnx.Check(m); err != nil {
		t.Fatal(err)
	}
	if is := centredRows(t, m, ort.Config{}, n, x); !slices.Equal(is, was) {
		t.Error("other numbers")
	}
	if k := NegateMeans(meanTaken(n, true)); k != 0 {
		t.Errorf("%d means that something else reads", k)
	}
}

// In bfloat16 a row has the same bits in every place once means are negated.
func TestOpenVINOMeans(t *testing.T) {
	device := orttest.BFloat16(t)
	if !device.RoundsByPlace {
		t.Errorf("%+v", device)
	}
	const n, rows = 256, 61
	x := numbers(rand.New(rand.NewPCG(3, 1)), rows*n)
	order := rand.New(rand.NewPCG(4, 1)).Perm(rows)
	var turned []float32
	for _, r := range order {
		turned = append(turned, x[r*n:(r+1)*n]...)
	}
	for _, negate := range []bool{false, true} {
		m := meanTaken(n, false)
		if negate {
			NegateMeans(m)
		}
		on := ort.Config{Device: ort.OpenVINO, BFloat16: true}
		a, b := centredRows(t, m, on, n, x), centredRows(t, m, on, n, turned)
		differ := 0
		for k, r := range order {
			if !slices.Equal(a[r*n:(r+1)*n], b[k*n:(k+1)*n]) {
				differ++
			}
		}
		if negate && differ > 0 {
			t.Errorf("%d of %d rows differ", differ, rows)
		}
		if !negate && differ == 0 {
			t.Error("OpenVINO rounds alike by itself: NegateMeans is not needed any more")
		}
	}
}
