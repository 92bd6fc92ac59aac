package known_test

import (
	"testing"

	"infill/mlm/device"
	"infill/mlm/device/devicetest"
)

// A device is called in the same way everywhere.
func TestDevices(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, d := range append(devicetest.Devices(), device.Processor{}) {
		a := d.About(t.TempDir())
		if a.Name != d.Name() || names[a.Name] {
			t.Errorf("%s: %+v", d.Name(), a)
		}
		names[a.Name] = true
	}
}
