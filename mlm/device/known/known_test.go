package known_test

import (
	"testing"

	"infill/mlm/device"
	"infill/mlm/device/devicetest"
)

// A device is called in the same way everywhere, and rounds only where it is asked to.
func TestDevices(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, d := range append(devicetest.Devices(), device.Processor{}) {
		a := d.About(t.TempDir())
		if a.Name != d.Name() || a.Rounding != d.Rounding() || names[a.Name] {
			t.Errorf("%s: %+v", d.Name(), a)
		}
		if d.Numbers(false).Rounded || d.Rounding() != device.Exact && !d.Numbers(true).Rounded {
			t.Errorf("%s: %+v in float32, %+v rounded", d.Name(), d.Numbers(false), d.Numbers(true))
		}
		names[a.Name] = true
	}
}
