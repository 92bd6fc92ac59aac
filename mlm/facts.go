package mlm

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"

	"infill/mlm/onnx"
	"infill/mlm/onnxgrad"
	"infill/tokenize"
)

// facts are all that is known of a model, each once: what the file, the tokenizer and
// config.json say, and what was found out from them. [Open] and [Inspect] gather them in
// the same way, and everybody else reads them here.
type facts struct {
	Info
	firstPosition int64 // position_ids of the first token
	config        config
	vocabTxt      bool // the vocabulary is a vocab.txt, a line for every id
	fromCache     bool // the derived graph was not derived now
	precision     Precision
	repeated      []string // pieces that the vocabulary has twice
	newHead       bool     // what makes the logits looks untrained
	pad           int64    // the token that fills rows up
	fixed         fixed
}

// addFile notes what the model file says of itself. m is as the processor runs it, and is given
// back with the interface that the rest of the program knows.
func (f *facts) addFile(name string, m *onnx.Model) (*onnx.Model, error) {
	m, done := adapted(m)
	f.Info = describe(name, m)
	f.Adapted = done
	err := inspect(&f.Info, m)
	if err == nil {
		f.fixed, err = fixedSizes(m)
		f.Adapted = append(f.Adapted, f.fixed.notes()...)
	}
	return m, err
}

// addConfig notes what config.json says.
func (f *facts) addConfig(c config) {
	f.config = c
	f.Architecture = c.architecture()
	f.firstPosition = int64(c.firstPosition())
}

// addTokenizer notes what the tokenizer says; the configuration comes first.
func (f *facts) addTokenizer(tok *tokenize.Tokenizer, files fs.FS) {
	f.vocabTxt = !exists(files, "tokenizer.json")
	f.Tokens, f.MaskID, f.Mask = tok.VocabSize(), tok.MaskID(), tok.Token(tok.MaskID())
	f.Known = tok.KnownVocabulary()
	f.MaxLength = longest(f.config.positions(), tok.MaxLength(), f.fixed.length)
	f.pad = max(0, int64(tok.PadID()))
	f.repeated = tok.Repeated()
}

// addGraph notes what the derivation found out.
func (f *facts) addGraph(a *about) {
	f.Vocab, f.Hidden, f.Embedding, f.Tied = a.Vocabulary, a.Dimension, a.Embedding, a.Tied
	f.Gradients, f.NoGradients = a.Gradient, a.NoGradients
}

// addHead notes the output projection. A table that was exported twice, one of them
// transposed, counts once.
func (f *facts) addHead(m *onnx.Model) {
	f.Head, f.newHead = headName(m), headUntrained(m)
	if f.Tied && f.Head != f.Embedding {
		f.Parameters -= stored(m, f.Head)
	}
}

// check compares the tokenizer with the number of logits. Tables are padded at times, for the sake
// of speed: to a multiple of 8, 64 or 128, or to what config.json states. The last is not believed
// of a vocab.txt, which has a line for every id: one that was cut short must not pass.
func (f *facts) check() error {
	width := cmp.Or(f.config.Hidden, f.config.Dim)
	if f.Vocab > 0 && f.Vocab == width && f.Vocab < f.Tokens {
		return fmt.Errorf("%w: its output has the width of its layers, %d; %s", ErrNotMasked, width,
			noHead)
	}
	return checkVocabulary(f.Tokens, f.Vocab, f.vocabTxt, f.config)
}

// notWanted is why a model that was opened with Options.Forward has no gradients.
const notWanted = "the model was opened without its backward pass"

// differentiate derives the graph. When only the backward pass is impossible it is made
// without; about then says why.
func differentiate(m *onnx.Model, o onnxgrad.Options) (*onnxgrad.Derived, *about, error) {
	noGradients := ""
	if o.ForwardOnly {
		noGradients = notWanted
	}
	g, err := onnxgrad.Derive(m, o)
	if err != nil && !o.ForwardOnly && !errors.Is(err, onnxgrad.ErrInputs) &&
		!errors.Is(err, onnxgrad.ErrOutputs) {
		noGradients = err.Error()
		o.ForwardOnly = true
		g, err = onnxgrad.Derive(m, o)
	}
	if err != nil {
		return nil, nil, err
	}
	return g, &about{Inputs: g.Inputs, Vocabulary: g.Vocabulary, Dimension: g.Dimension,
		Embedding: g.Embedding,
		Tied:      g.Tied, Gradient: g.Gradient, Counted: g.Counted, NoGradients: noGradients,
		Kept: g.KeptPerToken(usualLength), Weights: weightBytes(g.Model)}, nil
}

// runsAsIs reports whether a model that cannot be derived for this reason can be run as
// its file has it.
func runsAsIs(err error) bool {
	var op *onnxgrad.OpError
	return errors.As(err, &op) || errors.Is(err, onnxgrad.ErrEmbedding) ||
		errors.Is(err, onnxgrad.ErrUnsupportedOp)
}
