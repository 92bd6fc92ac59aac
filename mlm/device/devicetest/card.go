// Package devicetest has a device for tests of any package.
package devicetest

import (
	"infill/mlm/device"
	"infill/mlm/device/known"
)

// Card is the name of the device [emulatedCard].
const Card = "card"

// Devices lists the program's devices and the emulated one.
func Devices() device.List { return append(known.Devices(), emulatedCard{}) }

// emulatedCard is a graphics card without one: the runtime's own kernels, on graphs in half
// precision, beside the processor.
type emulatedCard struct{ device.Processor }

// Name is [Card].
func (emulatedCard) Name() string { return Card }

// About is the same on all machines.
func (emulatedCard) About(string) device.About {
	return device.About{Name: Card, About: "a graphics card for tests", Identity: Card,
		Rounding: device.Float16, Apart: 2, Tokens: 2048, Slow: true}
}
