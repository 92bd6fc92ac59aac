// Package known lists the devices that this build knows. Another device is another package beside
// this one, and an entry of the list.
package known

import (
	"context"
	"fmt"

	"infill/internal/ort"
	"infill/mlm/device"
	"infill/mlm/device/cuda"
	"infill/mlm/device/openvino"
)

// Devices are those beside the processor, the one used by default first.
func Devices() device.List { return device.List{cuda.Device{}, openvino.Device{}} }

// An installable device is one whose files are fetched.
type installable interface {
	Install(ctx context.Context, o ort.InstallOptions) error
}

// Installable are the names of the devices that can be installed.
func Installable() (names []string) {
	for _, d := range Devices() {
		if _, ok := d.(installable); ok {
			names = append(names, d.Name())
		}
	}
	return names
}

// Install installs the device of that name, which is one of [Installable].
func Install(ctx context.Context, name string, o ort.InstallOptions) error {
	for _, d := range Devices() {
		if i, ok := d.(installable); ok && d.Name() == name {
			return i.Install(ctx, o)
		}
	}
	return fmt.Errorf("%w: %q cannot be installed", device.ErrDevice, name)
}
