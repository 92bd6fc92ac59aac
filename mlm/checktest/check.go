// Package checktest checks an open model against its file, evaluated in float64. It is a helper of
// tests, and `bin/lab gradients` prints its report. The program does not use it.
package checktest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"

	"infill/mlm"
	"infill/mlm/internal/export"
	"infill/mlm/internal/source"
	"infill/mlm/onnx"
	"infill/mlm/onnxref"
	"infill/tokenize"
)

// Model is what is checked: a *mlm.Model.
type Model interface {
	Info() mlm.Info
	Tokenizer() *tokenize.Tokenizer
	Gradient(ctx context.Context, s *mlm.Sentence, states [][]int32, mode mlm.GradientMode,
		logProb, grad [][]float32) error
}

// Options steer [Check]. The zero value is a quick check.
type Options struct {
	Blanks     int    // m, 0 means 3
	Directions int    // tokens v that are tried per blank, 0 means 3
	Seed       uint64 // picks blanks, tokens and directions
}

// Report compares a running model with a float64 evaluation of its file, in which derivatives are
// central differences.
type Report struct {
	Blanks, Directions int // Directions: derivatives compared
	// LogProbError is the largest |difference| of log f over the vocabulary at every blank, in nats.
	LogProbError float64
	// FirstTermError is the same for the first term of the gradient, by the forward mode.
	FirstTermError float64
	// GradientError is the largest difference of the backward term E_v·Σ ∂log f/∂e_j, divided by
	// GradientScale, the largest such term. GradientRMS is the root of the mean square of those
	// differences, divided by that of the terms.
	GradientError, GradientScale, GradientRMS float64
	Tolerance                                 float64 // of LogProbError and GradientError
	OK                                        bool
}

// float32Tolerance is what float32 arithmetic may cost: the backward term is read off a sum with
// log f, which is some ten times larger.
const float32Tolerance = 1e-4

// Check compares log-probabilities and gradients with the model file, which lies in files,
// evaluated by package onnxref. ∂/∂e_j along E_v is taken by central differences of
// S = Σ_{i≠j} log f_i.
//
// Errors: mlm.ErrNoGradient, onnxeval.ErrOp for an operator that the evaluation does not know, or
// those of the model and its files.
func Check(ctx context.Context, m Model, files fs.FS, o Options) (*Report, error) {
	if o.Blanks == 0 {
		o.Blanks = 3
	}
	if o.Directions == 0 {
		o.Directions = 3
	}
	rng := rand.New(rand.NewPCG(o.Seed, 0x636865636b))
	s, state := sentence(m.Tokenizer(), o.Blanks, rng)
	n, v := len(s.Blanks), m.Info().Vocab
	lp, lpf := [][]float32{make([]float32, n)}, [][]float32{make([]float32, n)}
	full, first := [][]float32{make([]float32, n*v)}, [][]float32{make([]float32, n*v)}
	states := [][]int32{state}
	if err := errors.Join(m.Gradient(ctx, s, states, mlm.Full, lp, full),
		m.Gradient(ctx, s, states, mlm.Forward, lpf, first)); err != nil {
		return nil, err
	}
	ref, at, err := reference(files, m.Info().File)
	if err != nil {
		return nil, err
	}
	filled := &onnxref.Sentence{First: at, Blanks: s.Blanks, Mask: int64(m.Info().MaskID)}
	for _, id := range s.IDs {
		filled.IDs = append(filled.IDs, int64(id))
	}
	tokens := make([][]int, n)
	for j := range s.Blanks {
		for range o.Directions {
			tokens[j] = append(tokens[j], int(ordinary(m.Tokenizer(), rng)))
		}
	}
	got := onnxref.Outputs{LogProb: lp[0], Conditional: first[0], Gradient: full[0]}
	d, err := ref.Check(ctx, filled, got, tokens)
	if err != nil {
		return nil, err
	}
	r := &Report{Blanks: n, Directions: d.Directions, Tolerance: float32Tolerance,
		LogProbError: d.LogProb.MaxAbs, FirstTermError: d.Conditional.MaxAbs,
		GradientError: d.Second.Rel(), GradientScale: d.Second.Scale, GradientRMS: d.Second.RMS()}
	r.OK = r.GradientError <= r.Tolerance && r.LogProbError <= r.Tolerance && r.FirstTermError <= 10*r.Tolerance &&
		r.GradientScale > 0
	return r, nil
}

// ordinary picks a token that text can hold. The tokenizer must have one.
func ordinary(tok *tokenize.Tokenizer, rng *rand.Rand) int32 {
	for {
		id := int32(rng.IntN(tok.VocabSize()))
		if !tok.IsSpecial(id) && !tok.IsUnused(id) {
			return id
		}
	}
}

// sentence is random tokens, with random blanks, and the state that they are filled with.
func sentence(tok *tokenize.Tokenizer, blanks int, rng *rand.Rand) (*mlm.Sentence, []int32) {
	s := &mlm.Sentence{IDs: []int32{tok.CLSID()}}
	pieces := max(8, 2*blanks)
	for range pieces {
		s.IDs = append(s.IDs, ordinary(tok, rng))
	}
	s.IDs = append(s.IDs, tok.SEPID())
	for _, k := range rng.Perm(pieces)[:blanks] {
		s.Blanks = append(s.Blanks, 1+k)
	}
	slices.Sort(s.Blanks)
	var state []int32
	for _, p := range s.Blanks {
		state = append(state, s.IDs[p])
	}
	return s, state
}

// reference is the model file in float64, and the position of the first token.
func reference(fsys fs.FS, name string) (*onnxref.MaskedLM, int64, error) {
	files, err := source.Find(fsys, name)
	if err != nil {
		return nil, 0, err
	}
	cfg, err := files.Config()
	if err != nil {
		return nil, 0, err
	}
	m, err := onnx.Load(fsys, name)
	if err != nil {
		return nil, 0, err
	}
	m, _ = export.Of(m).Adapted()
	ref, err := onnxref.NewMaskedLM(m)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return ref, int64(cfg.FirstPosition()), err
}
