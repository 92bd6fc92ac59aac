package onnxgrad_test

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"slices"
	"testing"

	"infill/mlm"
	"infill/mlm/internal/export"
	"infill/mlm/internal/source"
	"infill/mlm/onnx"
	"infill/mlm/onnxgrad"
	"infill/tokenize"
)

// model is what is checked: a *mlm.Model.
type model interface {
	Info() mlm.Info
	Tokenizer() *tokenize.Tokenizer
	Gradient(ctx context.Context, s *mlm.Sentence, states [][]int32, mode mlm.GradientMode,
		logProb, grad [][]float32) error
}

// sizes are those of a check.
type sizes struct {
	blanks, directions int    // directions: tokens v that are tried per blank
	seed               uint64 // picks blanks, tokens and directions
}

// report compares a running model with a float64 evaluation of its file, in which derivatives are
// central differences.
type report struct {
	directions int // derivatives compared
	// logProb is the largest |difference| of log f over the vocabulary at every blank, in nats, and
	// first the same of the first term of the gradient, by the forward mode.
	logProb, first float64
	// gradient is the largest difference of the backward term E_v·Σ ∂log f/∂e_j, divided by scale, the
	// largest such term.
	gradient, scale float64
	ok              bool
}

// tolerance is what float32 arithmetic may cost: the backward term is read off a sum with log f,
// which is some ten times larger.
const tolerance = 1e-4

// check compares log-probabilities and gradients with the model file, which lies in files, evaluated
// in float64. ∂/∂e_j along E_v is taken by central differences of S = Σ_{i≠j} log f_i.
func check(ctx context.Context, m model, files fs.FS, o sizes) (r report, err error) {
	rng := rand.New(rand.NewPCG(o.seed, 0x636865636b))
	s, state := sentence(m.Tokenizer(), o.blanks, rng)
	n, v := len(s.Blanks), m.Info().Vocab
	lp, lpf := [][]float32{make([]float32, n)}, [][]float32{make([]float32, n)}
	full, first := [][]float32{make([]float32, n*v)}, [][]float32{make([]float32, n*v)}
	states := [][]int32{state}
	if err := errors.Join(m.Gradient(ctx, s, states, mlm.Full, lp, full),
		m.Gradient(ctx, s, states, mlm.Forward, lpf, first)); err != nil {
		return r, err
	}
	ref, at, err := reference(files, m.Info().File)
	if err != nil {
		return r, err
	}
	filled := &onnxgrad.Sentence{First: at, Blanks: s.Blanks, Mask: int64(m.Info().MaskID)}
	for _, id := range s.IDs {
		filled.IDs = append(filled.IDs, int64(id))
	}
	tokens := make([][]int, n)
	for j := range s.Blanks {
		for range o.directions {
			tokens[j] = append(tokens[j], int(ordinary(m.Tokenizer(), rng)))
		}
	}
	d, err := ref.Check(ctx, filled,
		onnxgrad.Outputs{LogProb: lp[0], Conditional: first[0], Gradient: full[0]}, tokens)
	r = report{d.Directions, d.LogProb.MaxAbs, d.Conditional.MaxAbs, d.Second.Rel(), d.Second.Scale, false}
	r.ok = r.gradient <= tolerance && r.logProb <= tolerance && r.first <= 10*tolerance && r.scale > 0
	return r, err
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
	s := &mlm.Sentence{}
	mark := func(id int32) {
		if id >= 0 {
			s.IDs = append(s.IDs, id)
		}
	}
	mark(tok.CLSID())
	first, pieces := len(s.IDs), max(8, 2*blanks)
	for range pieces {
		s.IDs = append(s.IDs, ordinary(tok, rng))
	}
	mark(tok.SEPID())
	for _, k := range rng.Perm(pieces)[:blanks] {
		s.Blanks = append(s.Blanks, first+k)
	}
	slices.Sort(s.Blanks)
	var state []int32
	for _, p := range s.Blanks {
		state = append(state, s.IDs[p])
	}
	return s, state
}

// reference is the model file in float64, and the position of the first token.
func reference(fsys fs.FS, name string) (*onnxgrad.MaskedLM, int64, error) {
	files, err := source.Find(fsys, name)
	if err != nil {
		return nil, 0, err
	}
	cfg, cerr := files.Config()
	m, merr := onnx.Load(fsys, name)
	if err := errors.Join(cerr, merr); err != nil {
		return nil, 0, err
	}
	m, _ = export.Of(m).Adapted(nil)
	ref, err := onnxgrad.NewMaskedLM(m)
	return ref, int64(cfg.FirstPosition()), err
}

// wrongGradient is a model whose backward term is too large by a part of it.
type wrongGradient struct {
	*mlm.Model
	part float32
}

func (w wrongGradient) Gradient(ctx context.Context, s *mlm.Sentence, states [][]int32,
	mode mlm.GradientMode, logProb, grad [][]float32) error {
	if err := w.Model.Gradient(ctx, s, states, mode, logProb, grad); err != nil || mode != mlm.Full {
		return err
	}
	first := [][]float32{make([]float32, len(grad[0]))}
	if err := w.Model.Gradient(ctx, s, states, mlm.Forward, logProb, first); err != nil {
		return err
	}
	for i, x := range first[0] {
		grad[0][i] += (grad[0][i] - x) * w.part
	}
	return nil
}

// The check of models finds a gradient that is a little off.
func TestCheckFindsErrors(t *testing.T) {
	t.Parallel()
	m, files := opened(t, "../testdata/tiny-bert", "cpu")
	r, err := check(t.Context(), wrongGradient{m, .01}, files, sizes{3, 3, 0})
	if err != nil || r.ok || r.gradient < 5e-3 || r.gradient > 2e-2 {
		t.Errorf("a gradient that is off by 1 %% passes: %+v, %v", r, err)
	}
}
