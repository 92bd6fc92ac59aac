// Package device says what can evaluate a model, and what has to be known of it. A device is one
// implementation of [Device], in a package of its own. Package known lists them.
package device

import (
	"errors"

	"infill/internal/ort"
	"infill/mlm/onnx"
)

// ErrDevice is a device that is unknown or does not work on this machine.
var ErrDevice = errors.New("no such device")

// Rounding is a precision below float32.
type Rounding string

// The precisions there are: none, bfloat16 and float16.
const (
	Exact    Rounding = ""
	BFloat16 Rounding = "bf16"
	Float16  Rounding = "fp16"
)

// A Device evaluates graphs.
type Device interface {
	// Name is what a user writes.
	Name() string
	// Rounding is the precision in which products are faster on this machine than in float32. It
	// looks at no file.
	Rounding() Rounding
	// Runtime is the library that the runtime has to be, "" for any. The device is usable only in a
	// process that has loaded it. cache is as for About. It is "" where the device is not installed.
	Runtime(cache string) string
	// About says what there is. cache replaces the user's cache folder, "" does not. Whether the
	// device works with the runtime is known once that is loaded.
	About(cache string) About
	// Rewrite changes a graph to one that the device computes right, rounded or not. In [Float16] the
	// graph was derived so.
	Rewrite(m *onnx.Model, rounded bool)
	// Provider is what evaluates a session's graph, nil for the runtime's own kernels.
	Provider(s Session) (*ort.Provider, error)
	// Numbers says what the device's numbers are worth.
	Numbers(rounded bool) Numbers
}

// Session is how a graph is evaluated.
type Session struct {
	CacheDir string // replaces the user's cache, in which the device may be installed
	Streams  int    // runs at the same time
	Rounded  bool   // products are to be in the device's Rounding
}

// Numbers is what the numbers of a device are worth in a precision.
type Numbers struct {
	// Neighbours: the last bits of a row may depend on the rows that share a call with it, so that
	// the same command may print other bytes.
	Neighbours bool
	// Rounded: they are not those of the model. Scores that are printed are computed again in
	// float32, by the runtime's own kernels.
	Rounded bool
}

// About is what there is to know of a device before a graph is opened on it.
type About struct {
	Name    string `json:"name"`              // as a user writes it
	About   string `json:"about"`             // what it is, for people
	Problem string `json:"problem,omitempty"` // why it cannot be used, with the remedy; "" if it can
	Missing bool   `json:"missing,omitempty"` // the problem is that it is not installed
	// Identity is what results depend on beside the graph: versions, the precision that
	// it computes in. Graphs made for one identity are not used for another.
	Identity string   `json:"identity"`
	Rounding Rounding `json:"rounding,omitempty"` // see Device
	// Apart: it computes beside the processor and runs as many calls at a time, large ones: the
	// processor's threads prepare work for it. 0 for the processor itself.
	Apart int `json:"-"`
	// Tokens is how many tokens a call has, Apart from the processor: rows of a length are always as
	// many, filled up if need be. 0 for what suits the processor.
	Tokens int `json:"-"`
	// FixedWeights: the device refuses a weight that is an input and has a value as well,
	// which elsewhere keeps the runtime from copying it.
	FixedWeights bool `json:"-"`
	// NoIntegers: products of 8-bit integers were not checked on the device.
	NoIntegers bool `json:"-"`
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

// Rounding is [Exact].
func (Processor) Rounding() Rounding { return Exact }

// Runtime is "".
func (Processor) Runtime(string) string { return "" }

// About is the same on all machines.
func (Processor) About(string) About {
	return About{Name: CPU, About: "this processor, with the runtime's own kernels", Identity: CPU}
}

// Rewrite changes nothing.
func (Processor) Rewrite(*onnx.Model, bool) {}

// Provider is nil.
func (Processor) Provider(Session) (*ort.Provider, error) { return nil, nil }

// Numbers says that the processor computes the model's numbers, the same bits each time.
func (Processor) Numbers(bool) Numbers { return Numbers{} }
