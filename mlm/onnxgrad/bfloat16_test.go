package onnxgrad

import (
	"math"
	"testing"

	"infill/internal/ort"
	"infill/internal/ort/orttest"
	"infill/mlm/onnx"
)

// Products of bfloat16 in r give torch's numbers within the bounds of the check of gradients.
// The log gives the errors.
func TestBFloat16Fixtures(t *testing.T) {
	orttest.BFloat16(t)
	for _, f := range fixtures(t) {
		t.Run(f.name, func(t *testing.T) {
			d := derive(t, f.model)
			SplitSquares(d.Model)
			s := open(t, d, ort.Config{Device: ort.OpenVINO, BFloat16: true})
			for i, c := range f.Calls {
				r := s.run(t, c, true, true)
				logf, term := offBFloat16(c, r)
				t.Logf("call %d: log f within %.4f nats, the second term within %.4f", i, logf, term)
				if !(logf > 0 && logf <= 0.1) || !(term <= 0.15) {
					t.Errorf("call %d: log f within %g nats, the second term %g", i, logf, term)
				}
				// A run is a function of its inputs.
				again := s.run(t, c, true, true)
				if difference(r.logProb, again.logProb) != 0 ||
					difference(r.gradient, again.gradient) != 0 {
					t.Errorf("call %d: a second run gives other numbers", i)
				}
			}
		})
	}
}

// OpenVINO rounds the result of a product, too, before a sum in float32 reads it. So logits are
// rounded. Only a result that is an output of the graph stays as it is.
func TestBFloat16Results(t *testing.T) {
	device := orttest.BFloat16(t)
	const n = 64
	x, z, w := make([]float32, n), make([]float32, n), make([]float32, n*n)
	x[0], x[1] = 1, 1.0/4096 // x·W is 1 + i/4096
	for i := range n {
		z[i], w[i], w[n+i] = 1, 1, float32(i) // z·W is 1 + i
	}
	m := squares("MatMul", "MatMul", w, n)
	m.Graph.Nodes[0].Outputs[0] = "product"
	m.Graph.Nodes = append(m.Graph.Nodes, &onnx.Node{Name: "sum", Op: "Sub",
		Inputs: []string{"product", "z"}, Outputs: []string{"y1"}})
	out := runSquares(t, m, ort.Config{Device: device.Name, BFloat16: true}, n, x, z)
	for i := range n {
		want := toBFloat16(1+float32(i)/4096) - 1
		if float64(out[0][i]) != want || out[1][i] != float32(1+i) {
			t.Errorf("column %d: %v, want %v, and %v, want %d", i, out[0][i], want, out[1][i], 1+i)
		}
	}
}

// offBFloat16 is the largest error of log f in nats, and the root mean square of those of the
// second term over that of its values.
func offBFloat16(c map[string]array, r result) (logf, term float64) {
	for i, want := range c["log_prob"].Data {
		if x := math.Abs(float64(r.logProb[i]) - want); !(x <= logf) {
			logf = x
		}
	}
	if c["blanks"].Shape[1] < 2 {
		return logf, 0
	}
	got, want := second(c, r.gradient, r.conditional)
	off, scale := 0.0, 0.0
	for i, w := range want {
		off += (float64(got[i]) - w) * (float64(got[i]) - w)
		scale += w * w
	}
	return logf, math.Sqrt(off / scale)
}

func difference(a, b []float32) float64 {
	off := 0.0
	for i := range a {
		if x := math.Abs(float64(a[i] - b[i])); !(x <= off) {
			off = x
		}
	}
	return off
}
