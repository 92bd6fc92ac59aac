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

// chooseDevice chooses a device and what precision that brings: half precision has no backward
// pass. weights is the size of the model's weights in bytes, 0 for what is to stay in float32. It
// looks for devices only where that matters, as they look at files: a small model gains nothing.
func (o *options) chooseDevice(weights int64) {
	large := weights >= cmp.Or(o.large, LargeWeights)
	auto, rounds := o.automatic(), o.Precision.Rounds()
	var list []device.About
	if o.Device != "" && o.Device != device.CPU && (rounds || o.Precision == Auto && !o.Unrounded) &&
		(!auto || large && !o.LowMemory) {
		list = o.Devices.Rounding(o.CacheDir)
	}
	if o.Device == AutoDevice {
		o.Device = device.CPU
		usable := func(d device.About) bool { return d.Problem == "" && (!auto || !d.Slow) }
		if i := slices.IndexFunc(list, usable); i >= 0 || rounds && len(list) > 0 {
			o.Device = list[max(0, i)].Name // of one that cannot be used the error says why
		}
	}
	if o.Precision == Auto {
		o.Precision = Float32
		named := func(d device.About) bool { return d.Name == o.Device }
		if o.Forward && slices.ContainsFunc(list, named) {
			o.Precision = Float16
		}
	}
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
	if o.Precision.Rounds() && o.about.Rounding != o.Precision.String() {
		return fmt.Errorf("%w: the device %s has no fast products of %s; there are %s and %s", errOption,
			o.about.Name, o.Precision, Float32, Int8)
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
