package ort

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	binding "github.com/yalue/onnxruntime_go"
)

// CPU is the device that is always there: the processor, with the runtime's own kernels.
const CPU = "cpu"

// ErrDevice: there is no such device, or it does not work on this machine.
var ErrDevice = errors.New("no such device")

// ErrNotInstalled: the device needs files that are not there, or not whole.
var ErrNotInstalled = errors.New("not installed")

// A Device is what can evaluate a graph.
type Device struct {
	Name    string // as a user writes it
	About   string // what it is, for people
	Problem string // why it cannot be used, with the remedy; "" if it can
	Missing bool   // the problem is that it is not installed
	// Identity is what results depend on beside the graph: versions, the precision that
	// it computes in. Graphs made for one identity are not used for another.
	Identity string
	// FixedWeights: the device refuses a weight that is an input and has a value as well,
	// which elsewhere keeps the runtime from copying it.
	FixedWeights bool
	// SharedSquares: the device computes x·Wᵀ for x·W where a graph has both of one square
	// weight. It needs a copy of the weight for one of them.
	SharedSquares bool
	// RoundsByPlace: in bfloat16 the device rounds the negative of a mean in one way or another, by
	// the place of a row among others.
	RoundsByPlace bool
	// NoIntegers: products of 8-bit integers were not checked on the device.
	NoIntegers bool
	// BFloat16: the device has products of bfloat16 that are faster than those of float32.
	BFloat16 bool
	// Emulates: its sessions compute in float32, and graphs have to round by themselves. No device of
	// a user does, see [AddEmulated].
	Emulates bool
}

// A provider knows one device. Another device is another file of this package with one
// more of these in its list of providers.
type provider interface {
	// device says what there is. cache replaces the user's cache. The library of the runtime may not
	// be loaded yet. Once it is, this says whether the device works with it, too.
	device(cache string) Device
	// bfloat16 is Device.BFloat16. It looks at the processor alone.
	bfloat16() bool
	// attach adds the device to the options of a session, whose other settings are c.
	attach(o *binding.SessionOptions, c Config) error
}

// providers by their names, the one used by default first.
var providers = []provider{cpu{}, &openvino{}}

// cpu needs nothing: the runtime has its kernels for the processor in every session.
type cpu struct{}

func (cpu) device(string) Device {
	return Device{Name: CPU, About: "this processor, with the runtime's own kernels", Identity: CPU}
}

func (cpu) bfloat16() bool { return false }

func (cpu) attach(*binding.SessionOptions, Config) error { return nil }

// Emulated is the device that [AddEmulated] adds.
const Emulated = "emulated"

// AddEmulated adds a device that has bfloat16 without a processor for it, slowly: the runtime's
// own kernels, on graphs that round. It is for tests and measurements.
func AddEmulated() { addEmulated() }

var addEmulated = sync.OnceFunc(func() { providers = append(slices.Clone(providers), emulated{}) })

type emulated struct{ cpu }

func (emulated) device(string) Device {
	return Device{Name: Emulated, About: "bfloat16 for tests", Identity: Emulated, BFloat16: true,
		Emulates: true}
}

func (emulated) bfloat16() bool { return true }

// BFloat16Devices lists the devices that have bfloat16 on this processor, whether they can be used
// or not. Where there are none it looks at no file. cache is as for [Devices].
func BFloat16Devices(cache string) []Device {
	var out []Device
	for _, p := range providers {
		if p.bfloat16() {
			out = append(out, p.device(cache))
		}
	}
	return out
}

// Devices lists the devices that this build knows, whether they can be used or not. cache replaces
// the user's cache folder, "" does not.
func Devices(cache string) []Device {
	out := make([]Device, len(providers))
	for i, p := range providers {
		out[i] = p.device(cache)
	}
	return out
}

// FindDevice is the device of that name, "" for [CPU]. cache is as for [Devices]. Errors wrap
// [ErrDevice] and name the devices that can be used. A device may turn out not to work only when
// the runtime is loaded.
func FindDevice(name, cache string) (Device, error) {
	_, d, err := findProvider(name, cache)
	return d, err
}

func findProvider(name, cache string) (provider, Device, error) {
	if name == "" {
		name = CPU
	}
	var usable []string
	for _, p := range providers {
		d := p.device(cache)
		if d.Name == name && d.Problem == "" {
			return p, d, nil
		}
		if d.Problem == "" {
			usable = append(usable, d.Name)
		}
	}
	there := strings.Join(usable, ", ")
	for _, p := range providers {
		d := p.device(cache)
		if d.Name != name {
			continue
		}
		err := fmt.Errorf("%w: %s: %s; there is: %s", ErrDevice, name, d.Problem, there)
		if d.Missing {
			err = fmt.Errorf("%w; %s is %w", err, name, ErrNotInstalled)
		}
		return nil, d, err
	}
	return nil, Device{}, fmt.Errorf("%w: %q; there is: %s", ErrDevice, name, there)
}
