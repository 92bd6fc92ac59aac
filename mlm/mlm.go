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
	"errors"
	"fmt"
	"io"
	"time"

	"infill/internal/gate"
	"infill/mlm/internal/export"
	"infill/mlm/internal/source"
	"infill/tokenize"
)

// An InputError is an input that is fed neither from a text nor by [Options.Inputs], or a number
// for an input that is not there.
type InputError = export.InputError

// What callers branch on; errors of this package wrap one of them, an error
// of internal/ort (runtime trouble) or of mlm/onnx (file trouble).
var (
	// ErrTooLong: the sentence has more pieces than the model has positions.
	ErrTooLong = errors.New("sentence is too long for the model")
	// errSentence: blanks or states do not fit the sentence or the vocabulary.
	errSentence = errors.New("bad sentence")
	// errNotMasked: the graph is not a masked language model that can be used:
	// no input_ids, no logits, or shapes of another kind.
	errNotMasked = export.ErrNotMasked
	// ErrNoGradient: the backward pass of this model could not be derived;
	// the forward mode works.
	ErrNoGradient = errors.New("model has no full gradient")
	// ErrNoState: what the head of this model reads is not known.
	ErrNoState = errors.New("the model does not give its states")
	// errLarge: a file beside the model has more bytes than it may have.
	errLarge = errors.New("the file has too many bytes")
	// errVocabulary: tokenizer and model disagree on the vocabulary.
	errVocabulary = errors.New("vocabulary does not fit the model")
	// ErrNotFinite: the model computes NaN or infinity.
	ErrNotFinite = errors.New("the model's output is not finite")
	// errOption: an option is out of range.
	errOption = errors.New("bad model option")
	// errClosed: the model was closed.
	errClosed = errors.New("model is closed")
)

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
	from  source.Folder
	be    backend
	sched *scheduler

	asked, options      options // before and after the choice of what was left to Open
	exact, withGradient beside
}

// Tokenizer is the tokenizer found beside the model.
func (m *Model) Tokenizer() *tokenize.Tokenizer { return m.tok }

// Info says what was recognised in the model file.
func (m *Model) Info() Info { return m.info.Info }

// VocabSize is V, the number of logits; the tokenizer may know fewer tokens.
func (m *Model) VocabSize() int { return m.info.Vocab }

// Beside reads a file of the model's folder, of at most a number of bytes. Errors come from the
// file system, such as fs.ErrNotExist, or are errLarge.
func (m *Model) Beside(name string, most int64) ([]byte, error) {
	from, done, err := m.from.Again()
	if err != nil {
		return nil, err
	}
	defer done()
	f, err := from.FS.Open(name)
	if err != nil {
		return nil, from.Named(err)
	}
	defer f.Close() //nolint:errcheck // opened for reading
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s: %w: it may have %d", name, errLarge, most)
	}
	return data, from.Named(err)
}

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
// What was shared or known already was not evaluated and is not counted. The work of the model of
// WithGradients is among it.
func (m *Model) Work() (energies, conditionals, gradients Work) {
	if m.sched == nil {
		return
	}
	second := m.withGradient.opened()
	get := func(k kind) (w Work) {
		for _, m := range append(second, m) {
			c := &m.sched.did[k]
			w.Runs, w.Rows = w.Runs+c.runs.Load(), w.Rows+c.rows.Load()
			w.Tokens, w.Distinct = w.Tokens+c.tokens.Load(), w.Distinct+c.distinct.Load()
		}
		return w
	}
	return get(energyRow), get(conditionalRow), get(gradientGroup)
}

// Spent is the time that the runtime took for what Work counts. Runs at the same time are added.
func (m *Model) Spent() (all time.Duration) {
	if m.sched != nil {
		for k := range m.sched.did {
			all += time.Duration(m.sched.did[k].took.Load())
		}
	}
	return all
}

// Precision is that which the model was opened with, never Auto.
func (m *Model) Precision() Precision { return m.info.precision }

// Device is the name of what evaluates the model, never "" or AutoDevice.
func (m *Model) Device() string { return m.options.on().Name() }

// SameBytes says whether a result is the same bits each time. On some devices the last bits of a
// row may depend on the rows beside it, which threads and timing decide.
func (m *Model) SameBytes() bool { return m.options.about.Apart == 0 }

// Threads is how many batches are evaluated at the same time.
func (m *Model) Threads() int { return m.options.Threads }

// Streams is how much work the model can take at the same time, in threads that prepare it:
// Threads, and more of them where a device beside the processor evaluates large batches.
func (m *Model) Streams() int {
	if m.options.about.Apart > 0 {
		return max(m.options.Threads, streamsApart)
	}
	return m.options.Threads
}

// streamsApart keeps some hundred rows ready, of sentences of a handful of lengths.
const streamsApart = 48

// Places are those that gate.Compute takes one of, for packages of this module.
func (m *Model) Places(gate.Key) gate.Places { return m.sched }

// Close stops the workers and frees the model. Calls in flight end with
// errClosed. Closing twice is harmless.
func (m *Model) Close() error {
	if m.sched == nil {
		return nil
	}
	m.sched.close()
	return errors.Join(m.be.close(), m.exact.close(), m.withGradient.close())
}
