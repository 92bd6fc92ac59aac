// Package device says what can evaluate a model, and what has to be known of it. A device is one
// implementation of [Device], in a package of its own. Package known lists them.
package device

import (
	"errors"

	"infill/internal/ort"
)

// ErrDevice is a device that is unknown or does not work on this machine.
var ErrDevice = errors.New("no such device")

// A Device evaluates graphs.
type Device interface {
	// Name is what a user writes.
	Name() string
	// Runtime is the library that the runtime has to be, "" for any. The device is usable only in a
	// process that has loaded it. cache is as for About. It is "" where the device is not installed.
	Runtime(cache string) string
	// About says what there is. cache replaces the user's cache folder, "" does not. Whether the
	// device works with the runtime is known once that is loaded.
	About(cache string) About
	// Provider is what evaluates graphs, nil for the runtime's own kernels. cache is as for About.
	Provider(cache string) (ort.Provider, error)
}

// Float16 is the Rounding of a device that is faster in half precision.
const Float16 = "fp16"

// About is what there is to know of a device before a graph is opened on it.
type About struct {
	Name    string `json:"name"`              // as a user writes it
	About   string `json:"about"`             // what it is, for people
	Problem string `json:"problem,omitempty"` // why it cannot be used, with the remedy; "" if it can
	Missing bool   `json:"missing,omitempty"` // the problem is that it is not installed
	// Identity is what results depend on beside the graph: versions, the precision that
	// it computes in. Graphs made for one identity are not used for another.
	Identity string `json:"identity"`
	// Rounding is Float16 if products are faster so than in float32. Scores that are printed are
	// computed again in float32.
	Rounding string `json:"rounding,omitempty"`
	// Apart: it computes beside the processor and runs as many calls at a time, large ones: the
	// processor's threads prepare work for it. The last bits of a row may depend on the rows that
	// share a call with it, so that the same command may print other bytes. Products of 8-bit integers
	// were not checked on it. It refuses a weight that is an input and has a value as well, which
	// elsewhere keeps the runtime from copying it. 0 for the processor itself.
	Apart int `json:"-"`
	// Tokens is how many tokens a call has, Apart from the processor: rows of a length are always as
	// many, filled up if need be. 0 for what suits the processor.
	Tokens int `json:"-"`
	// Slow: nothing is gained by it, so that it has to be named.
	Slow bool `json:"-"`
}

// CPU is the name of the device that is always there: the processor, with the runtime's own
// kernels.
const CPU = "cpu"

// Processor is the device [CPU].
type Processor struct{}

// Name is [CPU].
func (Processor) Name() string { return CPU }

// Runtime is "".
func (Processor) Runtime(string) string { return "" }

// About is the same on all machines.
func (Processor) About(string) About {
	return About{Name: CPU, About: "this processor, with the runtime's own kernels", Identity: CPU}
}

// Provider is nil.
func (Processor) Provider(string) (ort.Provider, error) { return nil, nil }
