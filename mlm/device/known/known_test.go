package known

import (
	"errors"
	"strings"
	"testing"

	"infill/internal/ort"
	"infill/mlm/device"
)

// broken is a device that is not there.
type broken struct {
	device.Processor
	problem string
	missing bool
	rounds  bool
}

func (b broken) Name() string { return "broken" }
func (b broken) Rounding() device.Rounding {
	return map[bool]device.Rounding{true: device.BFloat16}[b.rounds]
}

func (b broken) About(string) device.About {
	return device.About{Name: "broken", Problem: b.problem, Missing: b.missing}
}

// with has only the processor and another device for one test.
func with(t *testing.T, d device.Device) {
	t.Helper()
	was := devices
	devices = []device.Device{device.Processor{}, d}
	t.Cleanup(func() { devices = was })
}

func TestFind(t *testing.T) {
	for _, name := range []string{"", device.CPU} {
		d, a, err := Find(name, "")
		if err != nil || d.Name() != device.CPU || a.Name != device.CPU || a.Identity == "" {
			t.Errorf("%q: %+v, %v", name, a, err)
		}
	}
	refused := func(name, want string, missing bool) {
		t.Helper()
		_, _, err := Find(name, "")
		if !errors.Is(err, device.ErrDevice) || !strings.Contains(err.Error(), want) ||
			!strings.HasSuffix(strings.Split(err.Error(), "; ")[1], "there is: cpu") ||
			errors.Is(err, ort.ErrNotInstalled) != missing {
			t.Errorf("%s: %v", name, err)
		}
	}
	with(t, broken{problem: "the processor lacks what it needs"})
	refused("gpu", `"gpu"`, false)
	refused("broken", "lacks", false)
	if all := All(""); len(all) != 2 || all[0].Name != device.CPU || all[1].Problem == "" {
		t.Errorf("all: %+v", all)
	}
	with(t, broken{problem: "its files", missing: true})
	refused("broken", "its files", true)
}

// Devices that round are listed, those that cannot be used among them, and no others.
func TestRounding(t *testing.T) {
	with(t, broken{})
	if list := Rounding(""); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	with(t, broken{rounds: true, problem: "not there"})
	if list := Rounding(""); len(list) != 1 || list[0].Problem != "not there" {
		t.Errorf("%+v", list)
	}
}

// A device is called in the same way everywhere, and rounds only where it is asked to.
func TestDevices(t *testing.T) {
	was := len(devices)
	Add(broken{problem: "x"})
	t.Cleanup(func() { devices = devices[:was] })
	names := map[string]bool{}
	for _, d := range devices {
		a := d.About(t.TempDir())
		if a.Name != d.Name() || a.Rounding != d.Rounding() || names[a.Name] {
			t.Errorf("%s: %+v", d.Name(), a)
		}
		if d.Numbers(false).Rounded || d.Rounding() != device.Exact && !d.Numbers(true).Rounded {
			t.Errorf("%s: %+v in float32, %+v rounded", d.Name(), d.Numbers(false), d.Numbers(true))
		}
		names[a.Name] = true
	}
	if !names["broken"] {
		t.Error("what was added is not listed")
	}
}
