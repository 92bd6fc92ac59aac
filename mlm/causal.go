package mlm

import (
	"context"
	"fmt"
	"math"

	"infill/mlm/internal/source"
	"infill/tokenize"
)

// A Causal is an ONNX export of a language model that predicts the next token, such as GPT-2, with
// its own tokenizer. It is safe for concurrent use.
type Causal struct{ net *Network }

// IsCausal says whether the config.json of a folder names a causal model. It is
// false where that file is missing or damaged: opening the folder then says why.
func IsCausal(dir string) bool {
	from, done, err := source.Open(dir)
	if err != nil {
		return false
	}
	defer done()
	files, err := source.Find(from.FS, "")
	if err != nil {
		return false
	}
	c, err := files.Config()
	return err == nil && c.Causal()
}

// OpenCausal opens the model in a folder as [OpenNetwork] does. Its output is called logits, and it
// has no inputs of earlier runs (past_key_values). Errors: those of [OpenNetwork].
func OpenCausal(ctx context.Context, dir string, o Options) (*Causal, error) {
	n, err := openFolder(ctx, dir, "logits", tokenize.LoadCausal, o)
	if err != nil {
		return nil, err
	}
	return &Causal{n}, nil
}

// LogProb is the logarithm of the probability of a text behind the token that texts begin with, in
// nats, and its number of tokens, that one not among them. Errors: those of [Network.Run], and
// ErrNotFinite.
func (c *Causal) LogProb(ctx context.Context, text string) (sum float64, tokens int, err error) {
	if c.net.session == nil {
		return 0, 0, errClosed
	}
	enc, err := c.net.tok.Encode(text)
	if err != nil || enc.Len() == 0 {
		return 0, 0, err
	}
	ids := append([]int32{c.net.tok.CLSID()}, enc.IDs...)
	logits, shape, err := c.net.of(ctx, ids)
	if err != nil {
		return 0, 0, err
	}
	vocabulary := c.net.tok.VocabSize()
	if len(shape) != 3 || int(shape[1]) != len(ids) || int(shape[2]) < vocabulary {
		return 0, 0, fmt.Errorf("%w: logits of shape %v, want a number for each of %d pieces behind "+
			"each of %d tokens", ErrNetwork, shape, vocabulary, len(ids))
	}
	width := int(shape[2])
	for i, id := range enc.IDs {
		row := logits[i*width : (i+1)*width]
		sum += float64(row[id]) - logSum(row)
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return 0, 0, fmt.Errorf("%w: the log-probability of %q is %v", ErrNotFinite, text, sum)
	}
	return sum, enc.Len(), nil
}

// SHA256 is a hash of the model, its weights, its configuration and its tokenizer.
func (c *Causal) SHA256() string { return c.net.SHA256() }

// Close frees the model once nothing runs.
func (c *Causal) Close() error { return c.net.Close() }
