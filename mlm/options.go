package mlm

import (
	"slices"

	"infill/internal/nearest"
	"infill/mlm/device"
	"infill/mlm/internal/cache"
	"infill/tokenize"
)

// DefaultBatchTokens is the number of tokens (rows × length) that one
// call of the runtime gets. About a thousand is where a 4×256 model has all
// its products large enough and its activations still in cache.
const DefaultBatchTokens = 1024

// Bounds of Options, so that a slip of the keyboard does not exhaust memory.
const (
	MaxThreads     = 1024
	MaxBatchTokens = 1 << 20
)

// Options steer [Open]. The zero value of every field is a sensible default.
type Options struct {
	// File is the model file inside the folder; "" looks for model.onnx and
	// onnx/model.onnx, and then for the only ONNX file there and in onnx. See [Locate].
	File string
	// Threads is how many batches are evaluated at the same time, sentences of package infill that
	// are worked on between them included: at most MaxThreads; 0 means 1.
	Threads int
	// BatchTokens bounds rows × length of one batch; a single unit
	// that is larger is evaluated by itself. At most MaxBatchTokens; 0 means
	// DefaultBatchTokens, or fewer for models whose batches would take much memory.
	BatchTokens int
	// LowMemory uses the weights as they lie in their file instead of repacking
	// them for the processor, and makes batches smaller: much less memory, slower
	// by a quarter, and at times other last bits.
	LowMemory bool
	// Few says that few rows will be asked for: a large model is opened with LowMemory and Forward,
	// which takes a third of the time.
	Few bool
	// Precision is the precision of products.
	Precision Precision
	// Forward leaves the backward pass out: full gradients are refused with ErrNoGradient. The
	// weights are then repacked once in place of twice. Energies, conditionals and forward gradients
	// are the same bits, but with LowMemory and weights in 16 bits, where the last may differ.
	Forward bool
	// Inputs are numbers for inputs of the graph that no text has, such as a time, by their names.
	// Each stands in every place. A graph that has another such input is refused, see [InputError].
	Inputs map[string]float64
	// Typography is how curly quotes, dashes and their like are shown to the model.
	Typography tokenize.Typography
	// Device is the name of what evaluates the model: [CPUDevice], which "" means, or one of Devices.
	// Results are the same bits only on the same device. [AutoDevice] leaves it to [Open], see [Auto].
	Device string
	// Devices are those beside the processor. Package mlm/device/known has those of this module.
	Devices device.List
	// Unrounded keeps what is chosen by itself to Float32, for those who need the model itself. It
	// has no part in what is named.
	Unrounded bool
	// Profile makes the runtime time every node of every run, which is slower,
	// and write that to a file whose name begins with this when the model is
	// closed; "" for none.
	Profile string
	// Runtime is the path of ONNX Runtime's library; "" searches for it.
	Runtime string
	// CacheDir is the cache, which may hold the library and keeps derived graphs
	// of large models; "" is the user's cache.
	CacheDir string
}

// options are what a model is opened with: what its caller says, and what follows from it.
type options struct {
	Options
	device     device.Device // nil until one was chosen
	about      device.About
	looseTable bool                    // see loosened
	unfused    bool                    // see fusions
	late       bool                    // see widened
	unshared   bool                    // see onnxgrad.Options
	stated     [][]int                 // see source.Config.Exact
	columns    func() ([][]int, error) // those of onnxgrad.Options.Exact, for Int8

	// Tests have others.
	cacheLimits *cache.Limits // nil for the usual ones
	large       int64         // bytes of weights from which on Auto may round, 0 for the usual ones
	unsigned    bool          // 8-bit weights, also where signed ones do not saturate
}

// Precision says how products are computed.
type Precision int

const (
	// Float32 is the precision that the weights are trained in.
	Float32 Precision = iota
	// Int8 has the products with weights in whole numbers of 8 bits. Each column of weights and each
	// token has a scale of its own, and a few columns stay in float32. A row depends on no other. All
	// results are of this model, printed scores too. It has no backward pass. A model whose
	// conditionals would change too much is refused, with what it would cost. Models that multiply
	// integers already run as they are.
	Int8
	// Float16 has energies and conditionals computed in half precision, the sums of norms and
	// softmaxes and all from the logits on in float32. Where they are the same function of the state
	// each time, samplers with an acceptance step are exact for the rounded model, which is another
	// one. Where they are not, [Model.SameBytes] says so. [Model.Float32] is the model itself. Full
	// gradients come from that. Only graphics cards have it.
	Float16
	// Auto leaves the precision to [Open], as [AutoDevice] leaves the device. A device that is named
	// brings its precision: Float16 where it has that, and Float32 elsewhere. A precision
	// that is named picks a device that has it. Where neither is named large models are opened on a
	// device that rounds. Everything else is in Float32, but for models on the processor whose
	// config.json has int8_exact, as the default model's: with Forward they are in Int8. Models so
	// chosen say by [Model.Device] and [Model.Precision] what it is.
	Auto
)

// Names of devices: AutoDevice leaves the device to [Open], see [Auto], and CPUDevice is the
// processor with the runtime's own kernels.
const (
	AutoDevice = "auto"
	CPUDevice  = device.CPU
)

var precisionNames = []string{Float32: "fp32", Int8: "int8", Float16: "fp16", Auto: "auto"}

// Names lists the names of all precisions, in their order.
func (Precision) Names() []string { return slices.Clone(precisionNames) }

// String is the precision's name: fp32, int8, fp16 or auto.
func (p Precision) String() string { return nearest.Of(precisionNames, "precision", p) }

// Rounds reports whether a device rounds the numbers themselves. Printed scores are then those of
// another model, see [Model.Float32].
func (p Precision) Rounds() bool { return p == Float16 }

// GradientMode says what [Model.Gradient] computes.
type GradientMode int

const (
	// Full is the gradient of the one-hot extension of U, both terms.
	Full GradientMode = iota
	// Forward is its first term only, log f(v | X with j masked): no backward
	// pass. With Metropolis–Hastings the sampler stays exact.
	Forward
)

var gradientModeNames = []string{Full: "full", Forward: "forward"}

// Names lists the names of all modes, in their order.
func (GradientMode) Names() []string { return slices.Clone(gradientModeNames) }

// String is the mode's name: full or forward.
func (g GradientMode) String() string { return nearest.Of(gradientModeNames, "gradient", g) }
