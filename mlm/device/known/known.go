// Package known lists the devices that this build knows. Another device is another package beside
// this one, and an entry of the list.
package known

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"infill/internal/ort"
	"infill/mlm/device"
	"infill/mlm/device/cuda"
	"infill/mlm/device/openvino"
)

// devices are in the order in which they are offered, the one used by default first.
var devices = []device.Device{device.Processor{}, cuda.Device{}, openvino.Device{}}

// An installable device is one whose files are fetched.
type installable interface {
	Install(ctx context.Context, o ort.InstallOptions) error
}

// Installable are the names of the devices that can be installed.
func Installable() (names []string) {
	for _, d := range devices {
		if _, ok := d.(installable); ok {
			names = append(names, d.Name())
		}
	}
	return names
}

// Install installs the device of that name, which is one of [Installable].
func Install(ctx context.Context, name string, o ort.InstallOptions) error {
	for _, d := range devices {
		if i, ok := d.(installable); ok && d.Name() == name {
			return i.Install(ctx, o)
		}
	}
	return fmt.Errorf("%w: %q cannot be installed", device.ErrDevice, name)
}

// Add adds a device, before any is looked for. It is for tests.
func Add(d device.Device) { devices = append(slices.Clone(devices), d) }

// All lists the devices, whether they can be used or not. cache is as for [device.Device].
func All(cache string) []device.About {
	out := make([]device.About, len(devices))
	for i, d := range devices {
		out[i] = d.About(cache)
	}
	return out
}

// Rounding lists the devices that are faster in another precision on this machine, whether they can
// be used or not. Where there are none it looks at no file.
func Rounding(cache string) []device.About {
	var out []device.About
	for _, d := range devices {
		if d.Rounding() != device.Exact {
			out = append(out, d.About(cache))
		}
	}
	return out
}

// Runtime is the library that the runtime has to be for the device of that name, "" for any.
// Without a name it is what the first device needs that needs one: all others take it as well.
func Runtime(name, cache string) string {
	for _, d := range devices {
		if name != "" && d.Name() != name {
			continue
		}
		if path := d.Runtime(cache); path != "" {
			return path
		}
	}
	return ""
}

// Find is the device of that name, "" for [device.CPU]. Errors wrap [device.ErrDevice], and
// [ort.ErrNotInstalled] where that helps, and name the devices that can be used. A device may turn
// out not to work only when the runtime is loaded.
func Find(name, cache string) (device.Device, device.About, error) {
	if name == "" {
		name = device.CPU
	}
	if i := slices.IndexFunc(devices, func(d device.Device) bool { return d.Name() == name }); i >= 0 {
		if a := devices[i].About(cache); a.Problem == "" {
			return devices[i], a, nil
		}
	}
	why, missing := "", false
	var usable []string
	for _, a := range All(cache) {
		switch {
		case a.Problem == "":
			usable = append(usable, a.Name)
		case a.Name == name:
			why, missing = ": "+a.Problem, a.Missing
		}
	}
	err := fmt.Errorf("%w: %q%s; there is: %s", device.ErrDevice, name, why,
		strings.Join(usable, ", "))
	if missing {
		err = fmt.Errorf("%w; %s is %w", err, name, ort.ErrNotInstalled)
	}
	return nil, device.About{}, err
}
