package openvino_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"infill/mlm/device/devicetest"
	"infill/mlm/device/openvino"
	"infill/mlm/onnx"
	"infill/mlm/onnxeval"
	"infill/mlm/onnxref"
)

var orders = [][2]string{{"Gemm", "MatMul"}, {"MatMul", "Gemm"}, {"MatMul", "FusedMatMul"},
	{"FusedMatMul", "MatMul"}}

// A graph computes the same before and after, and reads no square weight in two ways.
func TestSplitSquares(t *testing.T) {
	t.Parallel()
	const n = 3
	rng := rand.New(rand.NewPCG(1, 1))
	w, x, z := devicetest.Numbers(rng, n*n), devicetest.Numbers(rng, 2*n), devicetest.Numbers(rng, n)
	for _, o := range orders {
		var was []*onnxeval.Tensor
		for _, split := range []bool{false, true} {
			m := devicetest.Squares(o[0], o[1], w, n)
			if split {
				if k := openvino.SplitSquares(m); k != 1 {
					t.Errorf("%v: %d weights", o, k)
				}
				if k := openvino.SplitSquares(m); k != 0 {
					t.Errorf("%v: %d weights are left", o, k)
				}
			}
			if err := m.Check(); err != nil {
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
	if about := devicetest.OpenVINO(t); !about.FixedWeights {
		t.Errorf("%+v", about)
	}
	const n = 64
	rng := rand.New(rand.NewPCG(1, 1))
	w, x, z := devicetest.Numbers(rng, n*n), devicetest.Numbers(rng, 6*n), devicetest.Numbers(rng, 2*n)
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
	m := devicetest.Squares(order[0], order[1], w, int64(n))
	if split {
		openvino.SplitSquares(m)
	}
	out := devicetest.RunSquares(t, m, devicetest.Config(t, false), n, x, z)
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
