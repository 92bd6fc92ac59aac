package openvino_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"infill/internal/ort"
	"infill/internal/ort/orttest"
	"infill/mlm/device/devicetest"
	"infill/mlm/device/openvino"
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
	mean.Attrs = []*onnx.Attribute{onnx.Attr("axes", []int64{-1})}
	info := func(name string, width int64) *onnx.ValueInfo {
		return &onnx.ValueInfo{Name: name, Type: onnx.Float, HasShape: true,
			Shape: []onnx.Dim{{Param: "rows"}, {Value: width}}}
	}
	m := &onnx.Model{IRVersion: 8, Opsets: map[string]int64{"": 17},
		Graph: &onnx.Graph{Name: "g", Inputs: []*onnx.ValueInfo{info("x", n)},
			Outputs: []*onnx.ValueInfo{info("y", n)},
			Nodes: []*onnx.Node{node("MatMul", "h", "x", "W"), mean, node("Sub", "c", "h", "mean"),
				node("MatMul", "y", "c", "V")},
			Initializers: []*onnx.Tensor{onnx.Floats("W", []int64{n, n}, devicetest.Numbers(rng, int(n*n))...),
				onnx.Floats("V", []int64{n, n}, devicetest.Numbers(rng, int(n*n))...)}}}
	if shared {
		m.Graph.Outputs = append(m.Graph.Outputs, info("mean", 1))
	}
	return m
}

// centredRows are the results for rows of n numbers.
func centredRows(t *testing.T, m *onnx.Model, c ort.Config, n int, x []float32) []float32 {
	t.Helper()
	return devicetest.Run(t, m, c, n, []string{"x"}, []string{"y"}, x)[0]
}

// The numbers of a graph are the same bits before and after. A mean that is read twice stays.
func TestNegateMeans(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	const n = 48
	x := devicetest.Numbers(rand.New(rand.NewPCG(3, 1)), 9*n)
	was := centredRows(t, meanTaken(n, false), ort.Config{}, n, x)
	m := meanTaken(n, false)
	if k := openvino.NegateMeans(m); k != 1 {
		t.Errorf("%d means", k)
	}
	if k := openvino.NegateMeans(m); k != 0 {
		t.Errorf("%d means are left", k)
	}
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	if is := centredRows(t, m, ort.Config{}, n, x); !slices.Equal(is, was) {
		t.Error("other numbers")
	}
	if k := openvino.NegateMeans(meanTaken(n, true)); k != 0 {
		t.Errorf("%d means that something else reads", k)
	}
}

// In bfloat16 a row has the same bits in every place once means are negated.
func TestOpenVINOMeans(t *testing.T) {
	devicetest.BFloat16(t)
	const n, rows = 256, 61
	x := devicetest.Numbers(rand.New(rand.NewPCG(3, 1)), rows*n)
	order := rand.New(rand.NewPCG(4, 1)).Perm(rows)
	var turned []float32
	for _, r := range order {
		turned = append(turned, x[r*n:(r+1)*n]...)
	}
	for _, negate := range []bool{false, true} {
		m := meanTaken(n, false)
		if negate {
			openvino.NegateMeans(m)
		}
		on := devicetest.Config(t, true)
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

// OpenVINO rounds the result of a product, too, before a sum in float32 reads it. So logits are
// rounded. Only a result that is an output of the graph stays as it is.
func TestBFloat16Results(t *testing.T) {
	devicetest.BFloat16(t)
	const n = 64
	x, z, w := make([]float32, n), make([]float32, n), make([]float32, n*n)
	x[0], x[1] = 1, 1.0/4096 // x·W is 1 + i/4096
	for i := range n {
		z[i], w[i], w[n+i] = 1, 1, float32(i) // z·W is 1 + i
	}
	m := devicetest.Squares("MatMul", "MatMul", w, n)
	m.Graph.Nodes[0].Outputs[0] = "product"
	m.Graph.Nodes = append(m.Graph.Nodes, &onnx.Node{Name: "sum", Op: "Sub",
		Inputs: []string{"product", "z"}, Outputs: []string{"y1"}})
	out := devicetest.RunSquares(t, m, devicetest.Config(t, true), n, x, z)
	for i := range n {
		want := devicetest.ToBFloat16(1+float32(i)/4096) - 1
		if float64(out[0][i]) != want || out[1][i] != float32(1+i) {
			t.Errorf("column %d: %v, want %v, and %v, want %d", i, out[0][i], want, out[1][i], 1+i)
		}
	}
}
