package devicetest

import "infill/mlm/device"

// Card is the name of the device [emulatedCard].
const Card = "card"

// emulatedCard is a graphics card without one: the runtime's own kernels, on graphs in half
// precision, beside the processor.
type emulatedCard struct{ device.Processor }

// Name is [Card].
func (emulatedCard) Name() string { return Card }

// Rounding is [device.Float16].
func (emulatedCard) Rounding() device.Rounding { return device.Float16 }

// About is the same on all machines.
func (emulatedCard) About(string) device.About {
	return device.About{Name: Card, About: "a graphics card for tests", Identity: Card,
		Rounding: device.Float16, Apart: 2, Tokens: 2048, FixedWeights: true, NoIntegers: true,
		Slow: true}
}

// Numbers are rounded where that is asked for.
func (emulatedCard) Numbers(rounded bool) device.Numbers {
	return device.Numbers{Neighbours: true, Rounded: rounded}
}
