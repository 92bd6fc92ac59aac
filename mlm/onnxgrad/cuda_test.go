package onnxgrad

import (
	"testing"

	"infill/internal/ort"
	"infill/internal/testmode"
	"infill/mlm/device/cuda"
)

// onCUDA is the configuration of a session on a graphics card of NVIDIA. A test is skipped where
// there is none, or where the process has another build of the runtime: INFILL_ORT names that for
// CUDA.
func onCUDA(tb testing.TB) ort.Config {
	tb.Helper()
	path := cuda.Device{}.Runtime("")
	if path == "" {
		testmode.Missing(tb, "a graphics card of NVIDIA with its device, cuda, installed")
	}
	if _, err := ort.Load(ort.FindOptions{Path: path}); err != nil {
		testmode.Missing(tb, err.Error())
	}
	p, err := cuda.Device{}.Provider("")
	if err != nil {
		tb.Fatal(err)
	}
	return ort.Config{Provider: p}
}

// Every fixture gives torch's numbers on a graphics card, gradients among them, and those of half
// precision to about three digits.
func TestCUDAFixtures(t *testing.T) {
	config := onCUDA(t)
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
