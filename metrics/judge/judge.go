// Package judge has models that judge finished texts: by a causal model their perplexity, and by a
// masked model their pseudo-perplexity (Salazar et al., "Masked language model scoring", ACL 2020).
package judge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"infill/infill"
	"infill/infill/open"
	"infill/infill/text"
	"infill/metrics/interval"
	"infill/mlm"
	"infill/tokenize"
)

// A Judge is a model that judges texts. It is safe for concurrent use.
type Judge struct {
	// Sum is "sha256:" and the hash of the model, as records have that of the model that filled.
	Sum string
	// Pseudo says that the model is a masked one, so that its numbers are pseudo-perplexities.
	Pseudo bool

	name  string // as it was opened
	one   func(ctx context.Context, text string) (Verdict, error)
	close func() error
}

// A Verdict is what a judge says of a text, zero where it is empty or too long to judge.
type Verdict struct {
	LogProb    float64 // the sum over the tokens, in nats
	Tokens     int
	Characters int // Unicode code points
	Words      int // between white space
}

// Open opens a judge: the folder of a causal model in ONNX, which its config.json names as such, or
// any masked model, see [open.Find]. Errors come from [mlm.OpenCausal] and [open.Model].
func Open(ctx context.Context, name string, o mlm.Options) (*Judge, error) {
	if name != "" && mlm.IsCausal(name) {
		m, err := mlm.OpenCausal(ctx, name, o)
		if err != nil {
			return nil, err
		}
		one := func(ctx context.Context, text string) (v Verdict, err error) {
			v.LogProb, v.Tokens, err = m.LogProb(ctx, text)
			return v, err
		}
		return &Judge{Sum: "sha256:" + m.SHA256(), name: name, one: one, close: m.Close}, nil
	}
	o.Forward = true
	m, err := open.Model(ctx, name, o)
	if err != nil {
		return nil, err
	}
	e := infill.New(m)
	one := func(ctx context.Context, text string) (Verdict, error) {
		s, err := e.Score(ctx, text, infill.ScoreOptions{By: infill.ScorePLL})
		if err != nil {
			return Verdict{}, err
		}
		return Verdict{LogProb: s.Score, Tokens: len(s.Pieces)}, nil
	}
	return &Judge{Sum: "sha256:" + m.Info().SHA256, Pseudo: true, name: name, one: one,
		close: e.Close}, nil
}

// Close frees the model.
func (j *Judge) Close() error { return j.close() }

// Verdicts judges texts, each different one once. Texts that are empty, have a blank, are too long
// or no UTF-8 have no verdict. Errors come from the runtime, or are mlm.ErrNotFinite.
func (j *Judge) Verdicts(ctx context.Context, texts []string) ([]Verdict, error) {
	place := map[string]int{}
	var different []string
	for _, s := range texts {
		if _, known := place[s]; !known && strings.TrimSpace(s) != "" {
			place[s] = len(different)
			different = append(different, s)
		}
	}
	of := make([]Verdict, len(different))
	each, ctx := errgroup.WithContext(ctx)
	each.SetLimit(runtime.GOMAXPROCS(0))
	for i, s := range different {
		each.Go(func() error {
			v, err := j.one(ctx, s)
			if refused(err) {
				return nil
			}
			of[i] = v
			of[i].Characters, of[i].Words = utf8.RuneCountInString(s), len(strings.Fields(s))
			return err
		})
	}
	if err := each.Wait(); err != nil {
		return nil, fmt.Errorf("the judge %s: %w", cmp.Or(j.name, "default"), err)
	}
	out := make([]Verdict, len(texts))
	for i, s := range texts {
		if k, known := place[s]; known {
			out[i] = of[k]
		}
	}
	return out, nil
}

// refused reports whether an error concerns this text only, so that others can still be judged.
func refused(err error) bool {
	for _, of := range []error{mlm.ErrTooLong, text.ErrEmpty, text.ErrBlank, tokenize.ErrInvalidUTF8} {
		if errors.Is(err, of) {
			return true
		}
	}
	return false
}

// Perplexity is the perplexity of texts together, NaN for none: exp(−Σ log p / number of tokens).
func Perplexity(of ...Verdict) float64 {
	return math.Exp(Loss(func(v Verdict) int { return v.Tokens }, of...))
}

// Loss is −Σ log p of texts together, in nats, over the sum of a number of each, such as its
// tokens. It is NaN for none. Judges of different vocabularies compare by characters or words.
func Loss(per func(Verdict) int, of ...Verdict) float64 {
	sum, n := 0.0, 0
	for _, v := range of {
		sum, n = sum-v.LogProb, n+per(v)
	}
	return sum / float64(n)
}

// Interval is an interval for the [Loss] of texts in units that were chosen independently. It is a
// jackknife, which leaves out at most the given number of parts in turn. It is NaN if a single part
// holds all tokens.
func Interval(per func(Verdict) int, units [][]Verdict, level float64, blocks int) (low,
	high float64) {
	without, _ := interval.Without(units, blocks, func(rest [][]Verdict) (float64, error) {
		return Loss(per, slices.Concat(rest...)...), nil
	})
	mean, half := Loss(per, slices.Concat(units...)...), interval.Jackknife(level, without)
	return mean - half, mean + half
}
