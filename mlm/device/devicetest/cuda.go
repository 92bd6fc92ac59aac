package devicetest

import (
	"testing"

	"infill/internal/ort"
	"infill/internal/testmode"
	"infill/mlm/device"
	"infill/mlm/device/cuda"
)

// CUDA is the configuration of a session on a graphics card of NVIDIA. A test is skipped where
// there is none, or where the process has another build of the runtime: INFILL_ORT names that for
// CUDA.
func CUDA(tb testing.TB) ort.Config {
	tb.Helper()
	path := cuda.Device{}.Runtime("")
	if path == "" {
		testmode.Missing(tb, "a graphics card of NVIDIA with its device, cuda, installed")
	}
	if _, err := ort.Load(ort.FindOptions{Path: path}); err != nil {
		testmode.Missing(tb, err.Error())
	}
	p, err := cuda.Device{}.Provider(device.Session{})
	if err != nil {
		tb.Fatal(err)
	}
	return ort.Config{Provider: p}
}
