// Package known lists the devices that this build knows. Another device is another package beside
// this one, and an entry of the list.
package known

import (
	"infill/mlm/device"
	"infill/mlm/device/cuda"
)

// Devices are those beside the processor, the one used by default first.
func Devices() device.List { return device.List{cuda.Device{}} }
