package onnxgrad

import (
	"context"
	"fmt"
	"math"
)

// Outputs are what a derived graph gave for a sentence of m blanks.
type Outputs struct {
	LogProb     []float32 // [m] log f(θ_i)
	Conditional []float32 // [m, V]
	Gradient    []float32 // [m, V]
}

// Deviation compares numbers with the truth.
type Deviation struct {
	MaxAbs float64 // largest difference, NaN if one of the numbers is
	Scale  float64 // largest absolute true value
}

// Rel is the largest difference relative to the largest true value. Single true values may be close
// to zero, so no difference is taken relative to its own.
func (d Deviation) Rel() float64 {
	if d.Scale == 0 {
		return d.MaxAbs
	}
	return d.MaxAbs / d.Scale
}

func (d *Deviation) add(got, want float64) {
	off := math.Abs(got - want)
	d.MaxAbs = math.Max(d.MaxAbs, off) // keeps NaN
	d.Scale = max(d.Scale, math.Abs(want))
}

// report is the outcome of Check.
type report struct {
	Blanks     int
	Directions int       // derivatives that were compared, all blanks together
	Energy     Deviation // U, the sum of log f
	LogProb    Deviation // single log f
	Conditional,
	Gradient, // ∇U along the directions
	Second Deviation // its second term alone
}

// Check compares outputs of a derived graph with the file in float64: log f exactly, the gradient
// at blank j by differences along the rows tokens[j] of the embedding table. It ends early with the
// context's cause.
func (lm *MaskedLM) Check(ctx context.Context, s *Sentence, got Outputs, tokens [][]int) (report,
	error) {
	r := report{Blanks: len(s.Blanks)}
	cond, err := lm.Conditionals(s)
	if err != nil {
		return r, err
	}
	m, v := len(s.Blanks), lm.vocabulary
	if len(got.LogProb) != m || len(got.Conditional) != m*v || len(got.Gradient) != m*v ||
		len(tokens) != m {
		return r, fmt.Errorf("outputs of %d, %d and %d numbers and %d lists of tokens "+
			"for %d blanks and %d tokens",
			len(got.LogProb), len(got.Conditional), len(got.Gradient), len(tokens), m, v)
	}
	u, truth := 0.0, 0.0
	for i, c := range cond {
		want := c[s.IDs[s.Blanks[i]]]
		r.LogProb.add(float64(got.LogProb[i]), want)
		u, truth = u+float64(got.LogProb[i]), truth+want
		for k, x := range c {
			r.Conditional.add(float64(got.Conditional[i*v+k]), x)
		}
	}
	r.Energy.add(u, truth)
	for j, list := range tokens {
		for _, k := range list {
			if ctx.Err() != nil {
				return r, context.Cause(ctx)
			}
			slope, err := lm.Slope(s, j, k)
			if err != nil {
				return r, err
			}
			g := float64(got.Gradient[j*v+k])
			r.Gradient.add(g, cond[j][k]+slope)
			r.Second.add(g-float64(got.Conditional[j*v+k]), slope)
			r.Directions++
		}
	}
	return r, nil
}
