package mlm

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"infill/mlm/internal/cache"
	"infill/mlm/internal/export"
	"infill/mlm/internal/source"
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
	config        source.Config
	vocabTxt      bool // the vocabulary is a vocab.txt, a line for every id
	fromCache     bool // the derived graph was not derived now
	precision     Precision
	repeated      []string // pieces that the vocabulary has twice
	newHead       bool     // what makes the logits looks untrained
	pad           int64    // the token that fills rows up
	fixed         export.Sizes
	state         int // H, the width of what the head reads; 0 if that is not known
}

// addFile notes what the model file says of itself. m is as the processor runs it. given is
// Options.Inputs.
func (f *facts) addFile(name string, m *onnx.Model, given map[string]float64) (*export.Masked,
	error) {
	x, err := export.Of(m).Masked(given)
	f.Info = Info{File: name, Opset: m.Opsets[""], Ops: x.Ops, Inputs: x.Inputs, Vocab: x.Vocab,
		Parameters: x.Parameters, Bytes: x.Bytes, Adapted: x.Notes,
		Producer: strings.TrimSuffix(m.ProducerName+" "+m.ProducerVersion, " ")}
	f.fixed = x.Sizes
	return x, err
}

// addConfig notes what config.json says.
func (f *facts) addConfig(c source.Config) {
	f.config = c
	f.Architecture = c.Architecture()
	f.firstPosition = int64(c.FirstPosition())
}

// addTokenizer notes what the tokenizer says; the configuration comes first.
func (f *facts) addTokenizer(tok *tokenize.Tokenizer, files source.Files) {
	f.vocabTxt = !files.Has("tokenizer.json")
	f.Tokens, f.MaskID, f.Mask = tok.VocabSize(), tok.MaskID(), tok.Token(tok.MaskID())
	f.Known = tok.KnownVocabulary()
	f.Typography = tok.Typography().String()
	f.MaxLength = f.config.Longest(tok.MaxLength(), f.fixed.Length)
	f.pad = max(0, int64(tok.PadID()))
	f.repeated = tok.Repeated()
}

// addGraph notes what the derivation found out.
func (f *facts) addGraph(a *cache.About) {
	f.Vocab, f.Hidden, f.Embedding, f.Tied = a.Vocabulary, a.Dimension, a.Embedding, a.Tied
	f.Gradients, f.NoGradients = a.Gradient, a.NoGradients
	f.state, f.newHead = a.State, a.NewHead
}

// addHead notes the output projection. A table that was exported twice, one of them
// transposed, counts once.
func (f *facts) addHead(m *export.Masked) {
	if t := m.HeadWeight(); t != nil {
		f.Head = t.Name
		if f.Tied && f.Head != f.Embedding {
			f.Parameters -= t.Len()
		}
	}
}

// check compares the tokenizer with the number of logits. Tables are padded at times, for the sake
// of speed: to a multiple of 8, 64 or 128, or to what config.json states. The last is not believed
// of a vocab.txt, which has a line for every id: one that was cut short must not pass. Where more
// than a tenth of the logits have no piece the tokenizer is another model's, unless config.json
// says otherwise.
func (f *facts) check() error {
	width := cmp.Or(f.config.Hidden, f.config.Dim)
	if f.Vocab > 0 && f.Vocab == width && f.Vocab < f.Tokens {
		return fmt.Errorf("%w: its output has the width of its layers, %d; %s", errNotMasked, width,
			export.NoHead)
	}
	return checkVocabulary(f.Tokens, f.Vocab, f.vocabTxt, f.config)
}

// notWanted is why a model that was opened with Options.Forward has no gradients.
const notWanted = "the model was opened without its backward pass"

// noGradientsIn is why a model in this precision has none.
func noGradientsIn(p Precision) string {
	return fmt.Sprintf("there is no backward pass in %s; open the model in %s", p, Float32)
}

// differentiate derives the graph. When only the backward pass is impossible it is made
// without; about then says why.
func differentiate(m *onnx.Model, o onnxgrad.Options) (*onnxgrad.Derived, *cache.About, error) {
	noGradients := ""
	switch {
	case o.Half:
		noGradients = noGradientsIn(Float16)
	case o.Int8:
		noGradients, o.ForwardOnly = noGradientsIn(Int8), true
	case o.ForwardOnly:
		noGradients = notWanted
	}
	g, err := onnxgrad.Derive(m, o)
	if err != nil && !o.ForwardOnly {
		noGradients = err.Error()
		o.ForwardOnly = true
		g, err = onnxgrad.Derive(m, o)
	}
	if err != nil {
		return nil, nil, err
	}
	return g, &cache.About{Facts: g.Facts, NoGradients: noGradients,
		Kept: g.KeptPerToken(usualLength), Weights: export.Of(g.Model).WeightBytes()}, nil
}

// runsAsIs reports whether a model that cannot be derived for this reason can be run as its file
// has it, and notes why it has no gradients.
func (f *facts) runsAsIs(err error) bool {
	f.NoGradients = err.Error()
	if f.fixed != (export.Sizes{}) {
		f.NoGradients = f.fixed.NoGradients()
		return true
	}
	var e *onnxgrad.Error
	return errors.As(err, &e) && !e.Interface()
}

// checkVocabulary is the comparison of [facts.check].
func checkVocabulary(tokens, logits int, plain bool, c source.Config) error {
	stated := tokens < logits && c.Vocab == logits && !plain
	few, remedy := 10*(logits-tokens) > logits, ""
	switch {
	case tokens == logits, few && c.Unused, !few && (stated || roundedUp(tokens, logits)):
		return nil
	case few:
		remedy = `, or, if it is meant that more than a tenth of the logits have no token, ` +
			`write "unused_logits": true into config.json`
	}
	return fmt.Errorf("%w: the tokenizer has %d tokens, the model %d logits; put the tokenizer files "+
		"of this very model beside it%s", errVocabulary, tokens, logits, remedy)
}

// roundedUp says whether a table was padded to a multiple that processors like.
func roundedUp(tokens, logits int) bool {
	for _, multiple := range []int{8, 64, 128} {
		if tokens < logits && logits%multiple == 0 && logits-tokens < multiple {
			return true
		}
	}
	return false
}
