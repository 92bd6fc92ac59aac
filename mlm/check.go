package mlm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"infill/mlm/onnxref"
)

// CheckOptions steer [Model.Check]; the zero value is a quick check.
type CheckOptions struct {
	// Blanks is m; 0 means 3.
	Blanks int
	// Directions is how many tokens v are tried per blank; 0 means 3.
	Directions int
	// Seed picks blanks, tokens and directions.
	Seed uint64
}

// CheckReport compares the running model with a float64 evaluation of its
// file, in which derivatives are central differences.
type CheckReport struct {
	Blanks     int `json:"blanks"`
	Directions int `json:"directions"` // derivatives compared
	// LogProbError is the largest |difference| of log f over the vocabulary
	// at every blank, in nats.
	LogProbError float64 `json:"log_prob_error"`
	// FirstTermError is the same for the first term of the gradient, where it
	// can be had by itself (the forward mode).
	FirstTermError float64 `json:"first_term_error"`
	// GradientError is the largest difference of the backward term
	// E_v·Σ ∂log f/∂e_j, divided by GradientScale, the largest such term.
	GradientError float64 `json:"gradient_error"`
	GradientScale float64 `json:"gradient_scale"`
	// GradientRMS is the root of the mean square of those differences, divided
	// by that of the terms.
	GradientRMS float64 `json:"gradient_rms"`
	// Tolerance bounds LogProbError, and GradientError of a model in float32.
	Tolerance float64 `json:"tolerance"`
	// RMSTolerance bounds GradientRMS of a rounded model. It is 0 for one in float32.
	RMSTolerance float64 `json:"rms_tolerance,omitempty"`
	OK           bool    `json:"ok"`
}

// checkTolerance is what float32 arithmetic may cost: the backward term is
// read off a sum with log f, which is some ten times larger.
const checkTolerance = 1e-4

// bfloat16Tolerance is what products of bfloat16 may cost the backward term, and bfloat16LogProb
// what log f may be off by, in nats. On a processor that has them backward terms of 52 small random
// models were off by 2 % (median) and 11 % (largest), those of BERT-base by 1.3 %, and its log f by
// at most .009.
const (
	bfloat16Tolerance = 0.15
	bfloat16LogProb   = 0.1
)

// Check compares log-probabilities and gradients with the model file evaluated in
// float64 by package onnxref, which shares no code with the runtime, and with the
// derivation only single operators. ∂/∂e_j along E_v is taken by central differences
// of S = Σ_{i≠j} log f_i.
//
// Errors: ErrNoGradient, with the reason and the remedy, if the model has no
// gradient to check; onnxeval.ErrOp if the float64 evaluation does not know an
// operator.
func (m *Model) Check(ctx context.Context, o CheckOptions) (*CheckReport, error) {
	if o.Blanks == 0 {
		o.Blanks = 3
	}
	if o.Directions == 0 {
		o.Directions = 3
	}
	if o.Blanks < 2 || o.Blanks > 64 || o.Directions < 1 || o.Directions > 1000 {
		return nil, fmt.Errorf("%w: %d blanks (2 to 64), %d directions (1 to 1000)", errOption, o.Blanks,
			o.Directions)
	}
	if m.sched == nil {
		return nil, errClosed
	}
	if !m.info.Gradients {
		return nil, fmt.Errorf("%w: %s", ErrNoGradient, m.info.NoGradients)
	}
	if err := m.speaks(); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(o.Seed, 0x636865636b))
	s, state, err := m.checkSentence(o.Blanks, rng)
	if err != nil {
		return nil, err
	}
	ref, err := m.reference()
	if err != nil {
		return nil, err
	}
	n, v := len(s.Blanks), m.info.Vocab
	lp, lpf := [][]float32{make([]float32, n)}, [][]float32{make([]float32, n)}
	full, first := [][]float32{make([]float32, n*v)}, [][]float32{make([]float32, n*v)}
	states := [][]int32{state}
	err = errors.Join(m.Gradient(ctx, s, states, Full, lp, full),
		m.Gradient(ctx, s, states, Forward, lpf, first))
	if err != nil {
		return nil, err
	}
	filled := &onnxref.Sentence{First: m.info.firstPosition, Blanks: s.Blanks,
		Mask: int64(m.info.MaskID)}
	for _, id := range s.IDs {
		filled.IDs = append(filled.IDs, int64(id))
	}
	tokens := make([][]int, n)
	for j, p := range s.Blanks {
		filled.IDs[p] = int64(state[j])
		for range o.Directions {
			tokens[j] = append(tokens[j], int(m.ordinary(rng)))
		}
	}
	got := onnxref.Outputs{LogProb: lp[0], Conditional: first[0], Gradient: full[0]}
	d, err := ref.Check(ctx, filled, got, tokens)
	if err != nil {
		return nil, err
	}
	r := &CheckReport{Blanks: n, Directions: d.Directions, Tolerance: checkTolerance,
		LogProbError: d.LogProb.MaxAbs, FirstTermError: d.Conditional.MaxAbs,
		GradientError: d.Second.Rel(), GradientScale: d.Second.Scale, GradientRMS: d.Second.RMS()}
	within := r.GradientError <= r.Tolerance
	if m.info.precision == BFloat16 {
		r.Tolerance, r.RMSTolerance = bfloat16LogProb, bfloat16Tolerance
		within = r.GradientRMS <= bfloat16Tolerance
	}
	r.OK = within && r.LogProbError <= r.Tolerance && r.FirstTermError <= 10*r.Tolerance &&
		r.GradientScale > 0
	return r, nil
}

// holds says whether text can hold a token.
func (m *Model) holds(id int32) bool { return !m.tok.IsSpecial(id) && !m.tok.IsUnused(id) }

// ordinary picks a token that text can hold, after speaks.
func (m *Model) ordinary(rng *rand.Rand) int32 {
	for {
		if id := int32(rng.IntN(m.tok.VocabSize())); m.holds(id) {
			return id
		}
	}
}

// speaks refuses a tokenizer without a token that text can hold.
func (m *Model) speaks() error {
	for id := range int32(m.tok.VocabSize()) {
		if m.holds(id) {
			return nil
		}
	}
	return fmt.Errorf("%w: every token is special or unused", errVocabulary)
}

// checkSentence is random tokens, with random blanks and a random state.
func (m *Model) checkSentence(blanks int, rng *rand.Rand) (*Sentence, []int32, error) {
	s := &Sentence{IDs: []int32{m.tok.CLSID()}}
	pieces := max(8, 2*blanks)
	for range pieces {
		s.IDs = append(s.IDs, m.ordinary(rng))
	}
	s.IDs = append(s.IDs, m.tok.SEPID())
	for _, k := range rng.Perm(pieces)[:blanks] {
		s.Blanks = append(s.Blanks, 1+k)
	}
	slices.Sort(s.Blanks)
	var state []int32
	for _, p := range s.Blanks {
		state = append(state, s.IDs[p])
	}
	return s, state, m.check(s, [][]int32{state}, nil)
}

// reference is the model file in float64.
func (m *Model) reference() (*onnxref.MaskedLM, error) {
	parsed, done, err := m.from.Parse(m.info.File)
	defer done()
	if err != nil {
		return nil, err
	}
	ref, err := onnxref.NewMaskedLM(parsed)
	if errors.Is(err, onnxref.ErrParts) {
		err = fmt.Errorf("%w: %w", errNotMasked, err)
	}
	return ref, err
}
