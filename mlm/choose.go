package mlm

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"

	"infill/internal/ort"
	"infill/mlm/device"
)

// largeRounded is the size of the weights, in bytes, from which on a model is opened on a device
// that rounds by itself. In bfloat16 BERT-base, which has 438 MB, takes half the time a row, while
// a graph takes seconds to be compiled at the start. Small models gain nothing.
const largeRounded = LargeWeights

// automatic says that neither the device nor the precision is named.
func (o *options) automatic() bool { return o.Device == AutoDevice && o.Precision == Auto }

// choose puts names in the place of AutoDevice and Auto, see chooseDevice. A model that states what
// stays exact in 8 bits has these on the processor, unless somebody wants its gradients: also where
// signed products saturate, as the slower kernel still beats float32.
func (o *options) choose(weights int64) {
	auto := o.Precision == Auto
	o.chooseDevice(weights)
	if auto && o.Precision == Float32 && o.Forward && o.stated != nil &&
		(o.Device == "" || o.Device == device.CPU) {
		o.Precision = Int8
	}
}

// chooseDevice chooses a device and what precision that brings. weights is the size of the model's
// weights in bytes, 0 for what is to stay in float32. It looks for devices only where that matters:
// their files are compared with hashes.
func (o *options) chooseDevice(weights int64) {
	usable := func(d device.About) bool { return d.Problem == "" }
	switch {
	case o.automatic():
		o.Device, o.Precision = device.CPU, Float32
		if o.Unrounded || o.LowMemory || weights < cmp.Or(o.large, largeRounded) {
			return
		}
		fast := func(d device.About) bool { return usable(d) && !d.Slow }
		if list := o.Devices.Rounding(o.CacheDir); slices.ContainsFunc(list, fast) {
			d := list[slices.IndexFunc(list, fast)]
			o.Device, o.Precision = d.Name, o.rounding(d)
		}
	case o.Device == AutoDevice && o.Precision.Rounds():
		o.Device = device.CPU
		// Of one that has it, but cannot be used, the error says what is in the way.
		list := slices.DeleteFunc(slices.Clone(o.Devices.Rounding(o.CacheDir)),
			func(d device.About) bool { return rounding(d.Rounding) != o.Precision })
		if len(list) > 0 {
			o.Device = list[max(0, slices.IndexFunc(list, usable))].Name
		}
	case o.Device == AutoDevice:
		o.Device = device.CPU
	case o.Precision == Auto:
		o.Precision = Float32
		if o.Unrounded || o.Device == device.CPU || o.Device == "" {
			return
		}
		for _, d := range o.Devices.Rounding(o.CacheDir) {
			if d.Name == o.Device {
				o.Precision = o.rounding(d)
			}
		}
	}
}

// rounding is the precision that a device brings: float16 has no backward pass.
func (o *options) rounding(d device.About) Precision {
	p := rounding(d.Rounding)
	if p == Float16 && !o.Forward {
		return Float32
	}
	return p
}

// library is the file that the runtime is loaded from, "" to look for it: that which somebody
// named, or the one that a device needs that is named or may be chosen.
func (o *options) library() string {
	if o.Runtime != "" || o.Device == "" || os.Getenv(ort.EnvLibrary) != "" {
		return o.Runtime
	}
	if o.Device == AutoDevice {
		return o.Devices.Runtime("", o.CacheDir)
	}
	return o.Devices.Runtime(o.Device, o.CacheDir)
}

// findDevice chooses what is not named, see choose, and looks for the device.
func (o *options) findDevice(weights int64) error {
	o.choose(weights)
	var err error
	if o.device, o.about, err = o.Devices.Find(o.Device, o.CacheDir); err != nil {
		return fmt.Errorf("%w: %w", errOption, err)
	}
	// What positions share makes products of other sizes in each call.
	o.unshared = o.unshared || o.about.Apart > 0
	if o.Precision.Rounds() && rounding(o.about.Rounding) != o.Precision {
		return fmt.Errorf("%w: the device %s has no fast products of %s on this processor; there are %s "+
			"and %s", errOption, o.about.Name, o.Precision, Float32, Int8)
	}
	return nil
}

// on is the device, the processor if none was chosen.
func (o *options) on() device.Device {
	if o.device == nil {
		return device.Processor{}
	}
	return o.device
}

// numbers are what the device's are worth.
func (o *options) numbers() device.Numbers {
	return o.on().Numbers(o.Precision.Rounds())
}

// refused says why what is named cannot be had. An error names the devices there are. Whether one
// works turns out only with the runtime, so that is loaded for it.
func (o options) refused(library func() error) error {
	first := o
	err := first.findDevice(0)
	if err == nil || library() != nil {
		return err
	}
	return o.findDevice(0)
}

// onDevice opens something of a size, see choose, where the options have it. What was chosen by
// itself and does not open there is opened on the processor.
func (o options) onDevice(ctx context.Context, weights int64, open func(options) error) error {
	chosen := o
	err := chosen.findDevice(weights)
	if err == nil {
		err = open(chosen)
	}
	if err == nil || !o.automatic() || chosen.Device == device.CPU || ctx.Err() != nil {
		return err
	}
	o.Device = device.CPU
	if err := o.findDevice(weights); err != nil {
		return err
	}
	return open(o)
}

// Automatic says where, and in which precision, a model is opened for which neither is named.
// weights is the size of its weights in float32, in bytes. Of o the fields CacheDir, Devices,
// Forward, LowMemory and Unrounded count. Unless the runtime is loaded it is not known whether what
// is installed works.
func Automatic(weights int64, o Options) (device string, p Precision) {
	o.Device, o.Precision = AutoDevice, Auto
	chosen := options{Options: o}
	chosen.choose(weights)
	return chosen.Device, chosen.Precision
}

// LargeWeights is the size of the weights in float32, in bytes, from which on Automatic has
// anything but the processor's own kernels and Float32: 256 MiB, which is 67 million weights.
const LargeWeights = 256 << 20
