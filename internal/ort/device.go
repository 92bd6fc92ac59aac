package ort

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	binding "github.com/yalue/onnxruntime_go"
)

// CPU is the device that is always there: the processor, with the runtime's own kernels.
const CPU = "cpu"

// ErrDevice: there is no such device, or it does not work on this machine.
var ErrDevice = errors.New("no such device")

// A Device is what can evaluate a graph.
type Device struct {
	Name    string // as a user writes it
	About   string // what it is, for people
	Problem string // why it cannot be used, with the remedy; "" if it can
	// Identity is what results depend on beside the graph: versions, the precision that
	// it computes in. Graphs made for one identity are not used for another.
	Identity string
	// FixedWeights: the device refuses a weight that is an input and has a value as well,
	// which elsewhere keeps the runtime from copying it.
	FixedWeights bool
}

// A provider knows one device. Another device is another file of this package with one
// more of these in its list of providers.
type provider interface {
	// device says what there is. The library of the runtime may not be loaded yet.
	device() Device
	// attach adds the device to the options of a session, whose other settings are c.
	attach(o *binding.SessionOptions, c Config) error
}

// providers by their names, the one used by default first.
var providers = []provider{cpu{}}

// cpu needs nothing: the runtime has its kernels for the processor in every session.
type cpu struct{}

func (cpu) device() Device {
	return Device{Name: CPU, About: "this processor, with the runtime's own kernels", Identity: CPU}
}

func (cpu) attach(*binding.SessionOptions, Config) error { return nil }

// Devices lists the devices that this build knows, whether they can be used or not.
func Devices() []Device {
	out := make([]Device, len(providers))
	for i, p := range providers {
		out[i] = p.device()
	}
	return out
}

// FindDevice is the device of that name, "" for [CPU]. Errors wrap [ErrDevice] and name
// the devices that can be used.
func FindDevice(name string) (Device, error) {
	_, d, err := findProvider(name)
	return d, err
}

func findProvider(name string) (provider, Device, error) {
	if name == "" {
		name = CPU
	}
	var usable []string
	for _, d := range Devices() {
		if d.Problem == "" {
			usable = append(usable, d.Name)
		}
	}
	i := slices.IndexFunc(providers, func(p provider) bool { return p.device().Name == name })
	if i < 0 {
		return nil, Device{}, fmt.Errorf("%w: %q; there is: %s", ErrDevice, name,
			strings.Join(usable, ", "))
	}
	d := providers[i].device()
	if d.Problem != "" {
		return nil, d, fmt.Errorf("%w: %s: %s; there is: %s", ErrDevice, name, d.Problem,
			strings.Join(usable, ", "))
	}
	return providers[i], d, nil
}
