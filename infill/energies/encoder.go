package energies

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"infill/infill"
	"infill/infill/open"
	"infill/internal/gate"
	"infill/internal/jsonwords"
	"infill/mlm"
)

// An Encoder is an ONNX export of a model that makes a vector of a text, with its own tokenizer:
// the mean over all tokens of its last layer, as sentence encoders have it (Reimers and Gurevych,
// "Sentence-BERT", EMNLP 2019). As a term its value is the cosine of the angle between the vectors
// of the finished text and of the text as it was: from −1 to 1. It is safe for concurrent use.
type Encoder struct {
	net  *mlm.Network
	name string
}

// OpenEncoder opens the encoder in a folder: model.onnx with the output last_hidden_state,
// config.json and the tokenizer's files. A folder of sentence-transformers whose pooling is not the
// mean is refused. Errors: those of [open.Network].
func OpenEncoder(ctx context.Context, dir string, o mlm.Options) (*Encoder, error) {
	if err := meanPooled(dir); err != nil {
		return nil, err
	}
	net, err := open.Network(ctx, dir, "last_hidden_state", o)
	if err != nil {
		return nil, err
	}
	e := &Encoder{net, "similar"}
	if _, err := e.vector(ctx, "a"); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", dir, err), net.Close())
	}
	return e, nil
}

// meanPooled refuses a folder that states another pooling.
func meanPooled(dir string) error {
	const name = "1_Pooling/config.json"
	b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var pooling struct {
		Mean *bool `json:"pooling_mode_mean_tokens"`
	}
	if err := json.Unmarshal(b, &pooling); err != nil {
		return fmt.Errorf("%w: %s: %s: %w", mlm.ErrNetwork, dir, name, jsonwords.Error(err))
	}
	if pooling.Mean != nil && !*pooling.Mean {
		return fmt.Errorf("%w: %s: %s states another pooling than the mean; give an encoder with that",
			mlm.ErrNetwork, dir, name)
	}
	return nil
}

// SHA256 names the encoder by what it is made from, in hexadecimal digits.
func (e *Encoder) SHA256() string { return e.net.SHA256() }

// Close frees the encoder.
func (e *Encoder) Close() error { return e.net.Close() }

// named is the encoder as a term of another name.
func (e *Encoder) named(name string) *Encoder { return &Encoder{e.net, name} }

// vector returns a text's vector, of length 1.
func (e *Encoder) vector(ctx context.Context, text string) ([]float64, error) {
	h, shape, tokens, err := e.net.Run(ctx, text)
	if err != nil {
		return nil, err
	}
	if len(shape) != 3 || int(shape[1]) != tokens || shape[2] < 1 {
		return nil, fmt.Errorf("%w: an output of shape %v, want a vector for each of %d tokens",
			mlm.ErrNetwork, shape, tokens)
	}
	v := make([]float64, shape[2])
	for i, x := range h {
		v[i%len(v)] += float64(x)
	}
	square := 0.0
	for _, x := range v {
		square += x * x
	}
	for i := range v {
		v[i] /= math.Sqrt(square)
	}
	return v, nil
}

// Name implements [infill.Term].
func (e *Encoder) Name() string { return e.name }

// Rows implements [infill.Term].
func (e *Encoder) Rows() int { return 1 }

// Values implements [infill.Term]. The error is infill.ErrNoOriginal for a text of unknown
// original.
func (e *Encoder) Values(ctx context.Context, texts []infill.Finished, v []float64) error {
	before, of := make([][]float64, len(texts)), map[string][]float64{} // mostly one original
	for k, f := range texts {
		text := f.Before()
		if text == "" {
			return infill.ErrNoOriginal
		}
		if of[text] == nil {
			v, err := e.vector(ctx, text)
			if err != nil {
				return err
			}
			of[text] = v
		}
		before[k] = of[text]
	}
	return gate.Each(ctx, len(texts), func(ctx context.Context, k int) error {
		now, err := e.vector(ctx, texts[k].Text)
		if err != nil {
			return err
		}
		v[k] = 0
		for i, x := range now {
			v[k] += x * before[k][i]
		}
		v[k] = max(-1, min(1, v[k])) // rounding
		return nil
	})
}
