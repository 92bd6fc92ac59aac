// Package mlm runs a masked language model: an ONNX export of a BERT-family
// network is loaded and checked, the graph of its energy and gradient is
// derived from it (package mlm/onnxgrad), and the rows of any number of
// callers are evaluated together.
//
// For a sentence with blanks i = 1..m and a state θ (one token per blank),
// X(θ) is the sentence with the blanks filled and f the model's softmax over
// its full vocabulary V:
//
//	log f(θ_i | X(θ) with blank i masked)                     LogProb, TokenLogProb
//	log f(· | X(θ) with blank i masked)                       Conditional
//	log f(· | the sentence with every blank masked)           Independent
//	∇U_j[v] = log f(v | X with j masked)
//	        + E_v · Σ_{i≠j} ∂ log f(θ_i | X with i masked)/∂e_j   Gradient
//
// with U(θ) = Σ_i log f(θ_i | …), E the word-embedding table and e_j the
// embedding at blank j. This is the pseudo-log-likelihood and the gradient of
// its one-hot extension that discrete Langevin samplers use (Zhang, Liu and
// Liu, "A Langevin-like Sampler for Discrete Distributions", ICML 2022).
//
// All values are float32 in nats; sums over blanks are the caller's, in
// float64. A result depends on the model, the sentence and the state only:
// not on the number of threads, the size of batches, or what other callers
// happen to share them, unless [Model.SameBytes] says otherwise.
package mlm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"infill/internal/gate"
	"infill/internal/ort"
	"infill/mlm/device"
	"infill/tokenize"
)

// What callers branch on; errors of this package wrap one of them, an error
// of internal/ort (runtime trouble) or of mlm/onnx (file trouble).
var (
	// ErrTooLong: the sentence has more pieces than the model has positions.
	ErrTooLong = errors.New("sentence is too long for the model")
	// errSentence: blanks or states do not fit the sentence or the vocabulary.
	errSentence = errors.New("bad sentence")
	// ErrNoModel: the folder has no model file, or several and none with a usual name.
	ErrNoModel = errors.New("no model")
	// ErrNotMasked: the graph is not a masked language model that can be used:
	// no input_ids, no logits, or shapes of another kind.
	ErrNotMasked = errors.New("not a masked language model")
	// ErrNoGradient: the backward pass of this model could not be derived;
	// the forward mode works.
	ErrNoGradient = errors.New("model has no full gradient")
	// errVocabulary: tokenizer and model disagree on the vocabulary.
	errVocabulary = errors.New("vocabulary does not fit the model")
	// ErrNotFinite: the model computes NaN or infinity.
	ErrNotFinite = errors.New("the model's output is not finite")
	// ErrOption: an option is out of range.
	ErrOption = errors.New("bad model option")
	// errClosed: the model was closed.
	errClosed = errors.New("model is closed")
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
	// Precision is that of products.
	Precision Precision
	// Forward leaves the backward pass out: full gradients are refused with ErrNoGradient. The
	// weights are then repacked once in place of twice. Energies, conditionals and forward gradients
	// are the same bits, but with LowMemory or Int8 and weights in 16 bits, where the last may differ.
	Forward bool
	// Device is the name of what evaluates the model: [CPUDevice], which "" means, or another one of
	// those that package mlm/device/known lists. Results are the same bits only on the same device.
	// [AutoDevice] leaves it to [Open], see [Auto].
	Device string
	// Unrounded keeps what is chosen by itself to Float32, for those who need the model itself. It
	// has no part in what is named.
	Unrounded bool
	// Profile makes the runtime time every node of every run, which is slower,
	// and write that to a file whose name begins with this when the model is
	// closed; "" for none.
	Profile string
	// Runtime is the path of ONNX Runtime's library; "" searches for it.
	Runtime string
	// CacheDir is the cache, in which the library is looked for and derived
	// graphs of large models are kept; "" is the user's cache.
	CacheDir string

	looseTable  bool          // see loosened
	unfused     bool          // see fusions
	late        bool          // see widened
	stored      bool          // the weights are stored in few bits
	unshared    bool          // see onnxgrad.Options
	cacheLimits *limits       // nil for the usual ones
	device      device.Device // nil until it was looked for
	about       device.About
	choice      *choice    // nil for the usual one
	signedness  signedness // of 8-bit weights
}

// Precision says how products are computed.
type Precision int

const (
	// Float32 is the precision of everything else.
	Float32 Precision = iota
	// Int8 rounds the weights of forward products, and what they are multiplied with, to 8 bits,
	// each 64 of them with a scale of their own. Weights that are stored in 4 bits stay the same
	// numbers. A row depends on no other. Energies and conditionals are those of the rounded model,
	// for which samplers with an acceptance step are exact, because energy and gradient are the same
	// functions of the state each time. The backward pass is in float32. [Model.Float32] is the
	// model itself. Models that multiply integers already run as they are.
	Int8
	// BFloat16 has the factors and results of all products rounded to bfloat16, of energies and
	// conditionals, too. Where they are the same function of the state each time, samplers with an
	// acceptance step are exact for the rounded model, which is another one. Where they
	// are not, [Model.SameBytes] says so. [Model.Float32] is the model itself. Only some devices
	// have it.
	BFloat16
	// Auto leaves the precision to [Open], as [AutoDevice] leaves the device. A device that is named
	// brings its precision: BFloat16 where it has that, and Float32 elsewhere. A precision that is
	// named picks a device that has it. Where neither is named large models are opened in BFloat16
	// on a device that has it. Those whose weights are stored in few bits are opened in Int8 on a
	// processor with AVX-512 VNNI, and everything else in Float32. Models so chosen say
	// by [Model.Device] and [Model.Precision] what it is.
	Auto
)

// Names of devices: AutoDevice leaves the device to [Open], see [Auto], and CPUDevice is the
// processor with the runtime's own kernels.
const (
	AutoDevice = "auto"
	CPUDevice  = device.CPU
)

var precisionNames = []string{Float32: "fp32", Int8: "int8", BFloat16: "bf16", Auto: "auto"}

// Names lists the names of all precisions, in their order.
func (Precision) Names() []string { return slices.Clone(precisionNames) }

// String is the precision's name: fp32, int8, bf16 or auto.
func (p Precision) String() string { return nameOf(precisionNames, "precision", int(p)) }

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
func (g GradientMode) String() string { return nameOf(gradientModeNames, "gradient", int(g)) }

// nameOf is name i of a list, and where there is none what it is of, with the number.
func nameOf(names []string, what string, i int) string {
	if i < 0 || i >= len(names) {
		return fmt.Sprintf("%s(%d)", what, i)
	}
	return names[i]
}

// A Sentence is one sequence of token ids, special tokens included, with the
// positions of its blanks, ascending. What IDs holds at a blank is ignored.
// It must not change while a call uses it.
type Sentence struct {
	IDs    []int32
	Blanks []int
}

// Model is an open model, made by [Open] or [OpenDir]. It is safe for concurrent use. The zero
// value is a closed one.
type Model struct {
	tok   *tokenize.Tokenizer
	info  facts
	from  folder
	be    backend
	sched *scheduler

	options Options // that it was opened with
	exact   exact
}

// Tokenizer is the tokenizer found beside the model.
func (m *Model) Tokenizer() *tokenize.Tokenizer { return m.tok }

// Info says what was recognised in the model file.
func (m *Model) Info() Info { return m.info.Info }

// VocabSize is V, the number of logits; the tokenizer may know fewer tokens.
func (m *Model) VocabSize() int { return m.info.Vocab }

// MaxLength is the largest number of ids of a sentence, special tokens
// included; 0 if the model states no limit.
func (m *Model) MaxLength() int { return m.info.MaxLength }

// Work counts what a model has evaluated of one kind: calls of the runtime,
// rows (sequences with one blank masked, those that fill up a batch among
// them), tokens (rows × length), and of these the distinct ones, by piece and
// place, of each run: what comes before the first attention is computed for
// them alone. Where a model is run as it is they are all tokens.
type Work struct{ Runs, Rows, Tokens, Distinct int64 }

// Work counts what was evaluated since the model was opened: energies (one
// token at a blank), conditionals (the vocabulary at a blank) and gradients.
// What was shared or known already was not evaluated and is not counted.
func (m *Model) Work() (energies, conditionals, gradients Work) {
	if m.sched == nil {
		return
	}
	get := func(k kind) Work {
		c := &m.sched.did[k]
		return Work{c.runs.Load(), c.rows.Load(), c.tokens.Load(), c.distinct.Load()}
	}
	return get(energyRow), get(conditionalRow), get(gradientGroup)
}

// Precision is that which the model was opened with, never Auto.
func (m *Model) Precision() Precision { return m.info.precision }

// Device is the name of what evaluates the model, never "" or AutoDevice.
func (m *Model) Device() string { return m.options.on().Name() }

// SameBytes says whether a result is the same bits each time. On some devices the last bits of a
// row may depend on the rows beside it, which threads and timing decide.
func (m *Model) SameBytes() bool { return !m.options.numbers().Neighbours }

// Threads is how many batches are evaluated at the same time.
func (m *Model) Threads() int { return m.options.Threads }

// Places are those that gate.Compute takes one of, for packages of this module.
func (m *Model) Places(gate.Key) gate.Places { return m.sched }

// Close stops the workers and frees the model. Calls in flight end with
// errClosed. Closing twice is harmless.
func (m *Model) Close() error {
	if m.sched == nil {
		return nil
	}
	m.sched.close()
	return errors.Join(m.be.close(), m.exact.close())
}

// LogProb sets logProb[c][i] = log f(states[c][i] | blank i masked, the other
// blanks as in states[c]) for every state c and blank i, in nats (≤ 0).
func (m *Model) LogProb(ctx context.Context, s *Sentence, states [][]int32,
	logProb [][]float32) error {
	if err := m.check(s, states, nil); err != nil {
		return err
	}
	if err := room("logProb", logProb, len(states), len(s.Blanks)); err != nil {
		return err
	}
	return m.tokens(ctx, s, states, nil, func(c, blank int, lp float32) { logProb[c][blank] = lp })
}

// TokenLogProb sets logProb[c] = log f(states[c][i[c]] | blank i[c] masked, the other blanks as in
// states[c]): of LogProb the values of one blank each.
func (m *Model) TokenLogProb(ctx context.Context, s *Sentence, states [][]int32, i []int,
	logProb []float32) error {
	if len(i) != len(states) || len(logProb) != len(states) {
		return fmt.Errorf("%w: %d states but %d blanks and room for %d values", errSentence,
			len(states), len(i), len(logProb))
	}
	if err := errors.Join(m.check(s, states, nil), m.check(s, states, i)); err != nil {
		return err
	}
	return m.tokens(ctx, s, states, i, func(c, _ int, lp float32) { logProb[c] = lp })
}

// tokens evaluates the tokens of all blanks of the states, or of blank masked[c] of state c only,
// and hands set each value.
func (m *Model) tokens(ctx context.Context, s *Sentence, states [][]int32, masked []int,
	set func(c, blank int, lp float32)) error {
	units := make([]*unit, 0, len(states)*len(s.Blanks))
	for _, c := range contexts(s, states, masked) {
		first := c.users[0]
		u := &unit{key: m.key(s, conditionalRow), state: states[first], blank: c.blank}
		if c.sameTarget(states) {
			u.key.kind = energyRow
			u.deliver = func(lp, _ []float32) {
				for _, k := range c.users {
					set(k, c.blank, lp[0])
				}
			}
		} else {
			// Several tokens in the same place of the same text: one row
			// over the vocabulary answers for all of them.
			u.deliver = func(_, wide []float32) {
				for _, k := range c.users {
					set(k, c.blank, wide[states[k][c.blank]])
				}
			}
		}
		units = append(units, u)
	}
	return m.sched.do(ctx, s, units)
}

// Gradient sets logProb as [Model.LogProb] does and grad[c], m·V values in
// row-major order, to ∇U or its first term at states[c]. The error is ErrOption for another mode,
// and ErrNoGradient where Full is asked of a model that does not have it.
func (m *Model) Gradient(ctx context.Context, s *Sentence, states [][]int32, mode GradientMode,
	logProb, grad [][]float32) error {
	if err := m.check(s, states, nil); err != nil {
		return err
	}
	if mode != Full && mode != Forward {
		return fmt.Errorf("%w: gradient mode %d, want Full or Forward", ErrOption, mode)
	}
	n, v := len(s.Blanks), m.info.Vocab
	if err := errors.Join(room("logProb", logProb, len(states), n),
		room("grad", grad, len(states), n*v)); err != nil {
		return err
	}
	var units []*unit
	if mode == Forward || n == 1 { // with one blank the second term is an empty sum
		for _, c := range contexts(s, states, nil) {
			units = append(units, &unit{key: m.key(s, conditionalRow), state: states[c.users[0]],
				blank: c.blank,
				deliver: func(_, wide []float32) {
					for _, k := range c.users {
						logProb[k][c.blank] = wide[states[k][c.blank]]
						copy(grad[k][c.blank*v:(c.blank+1)*v], wide)
					}
				}})
		}
		return m.sched.do(ctx, s, units)
	}
	if !m.info.Gradients {
		return fmt.Errorf("%w: %s; the forward gradient works", ErrNoGradient, m.info.NoGradients)
	}
	for _, users := range distinct(states) {
		units = append(units, &unit{key: m.key(s, gradientGroup), state: states[users[0]], blank: -1,
			deliver: func(lp, wide []float32) {
				for _, k := range users {
					copy(logProb[k], lp)
					copy(grad[k], wide)
				}
			}})
	}
	return m.sched.do(ctx, s, units)
}

// Conditional sets out[c], V values, to log f(· | blank i[c] masked, the
// other blanks as in states[c]).
func (m *Model) Conditional(ctx context.Context, s *Sentence, states [][]int32, i []int,
	out [][]float32) error {
	if len(i) != len(states) {
		return fmt.Errorf("%w: %d states but %d blanks to mask", errSentence, len(states), len(i))
	}
	if err := m.check(s, states, i); err != nil {
		return err
	}
	if err := room("out", out, len(states), m.info.Vocab); err != nil {
		return err
	}
	var units []*unit
	for _, c := range contexts(s, states, i) {
		units = append(units, &unit{key: m.key(s, conditionalRow), state: states[c.users[0]],
			blank: c.blank,
			deliver: func(_, wide []float32) {
				for _, k := range c.users {
					copy(out[k], wide)
				}
			}})
	}
	return m.sched.do(ctx, s, units)
}

// Independent sets out[i], V values, to log f(· | every blank masked) at blank i.
func (m *Model) Independent(ctx context.Context, s *Sentence, out [][]float32) error {
	if err := m.check(s, nil, nil); err != nil {
		return err
	}
	if err := room("out", out, len(s.Blanks), m.info.Vocab); err != nil {
		return err
	}
	units := make([]*unit, len(s.Blanks))
	for i := range units {
		units[i] = &unit{key: m.key(s, conditionalRow), blank: i,
			deliver: func(_, wide []float32) { copy(out[i], wide) }}
	}
	return m.sched.do(ctx, s, units)
}

// check refuses what would be out of range further down. masked[c], if
// given, is the blank of states[c] whose token does not matter.
func (m *Model) check(s *Sentence, states [][]int32, masked []int) error {
	if m.sched == nil {
		return errClosed
	}
	if s == nil {
		return fmt.Errorf("%w: there is none; make one of the ids of tokenize.Tokenizer.Encode",
			errSentence)
	}
	if limit := m.info.MaxLength; limit > 0 && len(s.IDs) > limit {
		return fmt.Errorf("%w: %d pieces with the special tokens, the model takes %d; split the text",
			ErrTooLong, len(s.IDs), limit)
	}
	if len(s.Blanks) == 0 {
		return fmt.Errorf("%w: it has no blank", errSentence)
	}
	for p, id := range s.IDs {
		if id < 0 || int(id) >= m.info.Vocab {
			return fmt.Errorf("%w: id %d at position %d is outside the vocabulary of %d", errSentence, id, p,
				m.info.Vocab)
		}
	}
	for i, p := range s.Blanks {
		if p < 0 || p >= len(s.IDs) || i > 0 && p <= s.Blanks[i-1] {
			return fmt.Errorf("%w: blanks %v are not ascending positions below %d", errSentence, s.Blanks,
				len(s.IDs))
		}
	}
	for c, st := range states {
		if len(st) != len(s.Blanks) {
			return fmt.Errorf("%w: state %d has %d tokens for %d blanks", errSentence, c, len(st),
				len(s.Blanks))
		}
		if masked != nil && (masked[c] < 0 || masked[c] >= len(s.Blanks)) {
			return fmt.Errorf("%w: state %d: there is no blank %d of %d", errSentence, c, masked[c],
				len(s.Blanks))
		}
		for i, id := range st {
			if (id < 0 || int(id) >= m.info.Vocab) && (masked == nil || masked[c] != i) {
				return fmt.Errorf("%w: state %d: id %d at blank %d is outside the vocabulary of %d",
					errSentence, c, id, i, m.info.Vocab)
			}
		}
	}
	return nil
}

// closed says by errClosed, which callers know, that a session was closed.
func closed(err error) error {
	if errors.Is(err, ort.ErrClosed) {
		return fmt.Errorf("%w: %w", errClosed, err)
	}
	return err
}

// given refuses a missing context. Without it a goroutine that nobody can recover would panic.
func given(ctx context.Context) error {
	if ctx == nil {
		return fmt.Errorf("%w: the context is nil; pass context.Background()", ErrOption)
	}
	return nil
}

func room(name string, dst [][]float32, n, width int) error {
	if len(dst) != n {
		return fmt.Errorf("%w: %s has %d rows, needed are %d", errSentence, name, len(dst), n)
	}
	for c := range dst {
		if len(dst[c]) < width {
			return fmt.Errorf("%w: %s[%d] has room for %d values, needed are %d", errSentence, name, c,
				len(dst[c]), width)
		}
	}
	return nil
}

func (m *Model) key(s *Sentence, k kind) key {
	key := key{kind: k, length: len(s.IDs), group: 1}
	if k == gradientGroup {
		key.group = len(s.Blanks)
	}
	return key
}
