package onnxgrad

import (
	"testing"

	"infill/mlm/device/devicetest"
)

// Every fixture gives torch's numbers on a graphics card, gradients among them, and those of half
// precision to about three digits.
func TestCUDAFixtures(t *testing.T) {
	config := devicetest.CUDA(t)
	eachFixture(t, func(t *testing.T, f fixture) {
		s := open(t, derive(t, f.model), config)
		for i, c := range f.Calls {
			r := s.run(t, c, true, true)
			offs := map[string]float64{
				"log f":       relative(r.logProb, c["log_prob"].Data),
				"conditional": relative(r.conditional, c["conditional"].Data),
			}
			if c["blanks"].Shape[1] > 1 {
				offs["the second term"] = relative(second(c, r.gradient, r.conditional))
			}
			for what, off := range offs {
				if !(off < f.tolerance(2e-5)) {
					t.Errorf("call %d: %s is off by %.2g", i, what, off)
				}
			}
		}
		checkHalf(t, f, config, false)
		checkHalf(t, f, config, true)
	})
}
