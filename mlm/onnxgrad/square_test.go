package onnxgrad

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"infill/internal/ort"
	"infill/internal/ort/orttest"
	"infill/internal/testmode"
	"infill/mlm/onnx"
	"infill/mlm/onnxeval"
	"infill/mlm/onnxref"
)

// squares is a graph that reads one square weight in both ways, the first way first.
func squares(first, second string, w []float32, n int64) *onnx.Model {
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
		node.Attrs = []*onnx.Attribute{{Name: "transB", Type: onnx.AttrInt, I: 1}}
		return node
	}
	info := func(name string) *onnx.ValueInfo {
		return &onnx.ValueInfo{Name: name, Type: onnx.Float, HasShape: true,
			Shape: []onnx.Dim{{Param: "rows " + name}, {Value: n}}}
	}
	return &onnx.Model{IRVersion: 8, Opsets: []onnx.OperatorSet{{Version: 17},
		{Domain: onnx.Microsoft, Version: 1}},
		Graph: &onnx.Graph{Name: "g", Inputs: []*onnx.ValueInfo{info("x"), info("z")},
			Outputs:      []*onnx.ValueInfo{info("y1"), info("y2")},
			Nodes:        []*onnx.Node{product(first, "x", "y1"), product(second, "z", "y2")},
			Initializers: []*onnx.Tensor{onnx.Floats("W", []int64{n, n}, w...)}}}
}

var orders = [][2]string{{"Gemm", "MatMul"}, {"MatMul", "Gemm"}, {"MatMul", "FusedMatMul"},
	{"FusedMatMul", "MatMul"}}

func numbers(rng *rand.Rand, n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(rng.NormFloat64())
	}
	return out
}

// A graph computes the same before and after, and reads no square weight in two ways.
func TestSplitSquares(t *testing.T) {
	t.Parallel()
	const n = 3
	rng := rand.New(rand.NewPCG(1, 1))
	w, x, z := numbers(rng, n*n), numbers(rng, 2*n), numbers(rng, n)
	for _, o := range orders {
		var was []*onnxeval.Tensor
		for _, split := range []bool{false, true} {
			m := squares(o[0], o[1], w, n)
			if split {
				if k := SplitSquares(m); k != 1 {
					t.Errorf("%v: %d weights", o, k)
				}
				if k := SplitSquares(m); k != 0 {
					t.Errorf("%v: %d weights are left", o, k)
				}
			}
			if err := onnx.Check(m); err != nil {
				t.Fatal(err)
			}
			e, err := onnxref.New(m)
			if err != nil {
				t.Fatal(err)
			}
			out, err := e.Run(map[string]*onnxeval.Tensor{"x": float64s(x, 2, n), "z": float64s(z, 1, n)},
				"y1", "y2")
			if err != nil {
				t.Fatal(err)
			}
			if split {
				for k := range out {
					for i := range out[k].F {
						if math.Abs(out[k].F[i]-was[k].F[i]) > 1e-12 {
							t.Errorf("%v: output %d is %v, was %v", o, k, out[k].F, was[k].F)
						}
					}
				}
			}
			was = out
		}
	}
}

func float64s(v []float32, shape ...int) *onnxeval.Tensor {
	t := &onnxeval.Tensor{Type: onnx.Float, Shape: shape}
	for _, x := range v {
		t.F = append(t.F, float64(x))
	}
	return t
}

// OpenVINO computes both products, too, once the weight is split. Without that it gives z·Wᵀ for
// z·W, or the other way round.
func TestOpenVINOSquares(t *testing.T) {
	device := orttest.OpenVINO(t)
	if !device.SharedSquares || !device.FixedWeights {
		t.Errorf("%+v", device)
	}
	const n = 64
	rng := rand.New(rand.NewPCG(1, 1))
	w, x, z := numbers(rng, n*n), numbers(rng, 6*n), numbers(rng, 2*n)
	wrong := 0
	for _, o := range orders {
		for _, split := range []bool{false, true} {
			off := offSquares(t, o, w, x, z, n, split)
			if split && off > 1e-4 {
				t.Errorf("%v: off by %g", o, off)
			}
			if !split && off > 1 {
				wrong++
			}
		}
	}
	if wrong == 0 {
		t.Error("OpenVINO computes all of it by itself: SplitSquares is not needed any more")
	}
}

// offSquares is the largest error of both products.
func offSquares(t *testing.T, order [2]string, w, x, z []float32, n int, split bool) float64 {
	t.Helper()
	m := squares(order[0], order[1], w, int64(n))
	if split {
		SplitSquares(m)
	}
	out := runSquares(t, m, ort.Config{Device: ort.OpenVINO}, n, x, z)
	off := 0.0
	for k, in := range [][]float32{x, z} {
		for r := range len(in) / n {
			for c := range n {
				sum := 0.0
				for i := range n {
					v := w[i*n+c]
					if order[k] != "MatMul" {
						v = w[c*n+i]
					}
					sum += float64(in[r*n+i]) * float64(v)
				}
				off = max(off, math.Abs(sum-float64(out[k][r*n+c])))
			}
		}
	}
	return off
}

// runSquares gives the two products of squares, of rows of n numbers.
func runSquares(t *testing.T, m *onnx.Model, c ort.Config, n int, x, z []float32) (out [2][]float32) {
	t.Helper()
	data, err := onnx.Marshal(m, onnx.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := ort.OpenBytes("squares", data, []string{"x", "z"}, []string{"y1", "y2"}, c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	var tensors []*ort.Tensor
	defer func() {
		for _, v := range tensors {
			v.Close()
		}
	}()
	for _, rows := range [][]float32{x, z} {
		tensors = append(tensors, tensor(t, []int64{int64(len(rows) / n), int64(n)}, rows))
	}
	tensors = append(tensors, nil, nil) // the runtime makes the results
	if err := s.Run(t.Context(), tensors[:2], tensors[2:]); err != nil {
		t.Fatal(err)
	}
	for k, v := range tensors[2:] {
		got, ok := ort.Data[float32](v)
		if !ok {
			t.Fatalf("result %d is not in float32", k)
		}
		out[k] = slices.Clone(got)
	}
	return out
}

// Every fixture gives torch's numbers on OpenVINO, as it does on the processor's own kernels.
func TestOpenVINOFixtures(t *testing.T) {
	testmode.Long(t)
	orttest.OpenVINO(t)
	eachFixture(t, func(t *testing.T, f fixture) {
		d := derive(t, f.model)
		SplitSquares(d.Model)
		s := open(t, d, ort.Config{Device: ort.OpenVINO})
		for i, c := range f.Calls {
			r := s.run(t, c, true, true)
			for what, off := range map[string]float64{
				"log f":       relative(r.logProb, c["log_prob"].Data),
				"conditional": relative(r.conditional, c["conditional"].Data),
			} {
				if !(off < f.tolerance(1e-5)) {
					t.Errorf("%s, call %d: %s is off by %.2g", f.name, i, what, off)
				}
			}
			if c["blanks"].Shape[1] > 1 {
				if off := relative(second(c, r.gradient, r.conditional)); !(off < f.tolerance(1e-5)) {
					t.Errorf("%s, call %d: the second term is off by %.2g", f.name, i, off)
				}
			}
		}
	})
}
