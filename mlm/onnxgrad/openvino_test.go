package onnxgrad

import (
	"math"
	"testing"

	"infill/internal/testmode"
	"infill/mlm/device/devicetest"
	"infill/mlm/device/openvino"
)

// Products of bfloat16 in r give torch's numbers within the bounds of the check of gradients.
// The log gives the errors.
func TestBFloat16Fixtures(t *testing.T) {
	devicetest.BFloat16(t)
	for _, f := range fixtures(t) {
		t.Run(f.name, func(t *testing.T) {
			d := derive(t, f.model)
			openvino.Device{}.Rewrite(d.Model, true)
			s := open(t, d, devicetest.Config(t, true))
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

// Every fixture gives torch's numbers on OpenVINO, as it does on the processor's own kernels.
func TestOpenVINOFixtures(t *testing.T) {
	testmode.Long(t)
	devicetest.OpenVINO(t)
	eachFixture(t, func(t *testing.T, f fixture) {
		d := derive(t, f.model)
		openvino.Device{}.Rewrite(d.Model, false)
		s := open(t, d, devicetest.Config(t, false))
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
