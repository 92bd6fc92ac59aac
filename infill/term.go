package infill

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"infill/infill/internal/recall"
	"infill/infill/text"
	"infill/mlm"
	"infill/samplers"
)

// A Term is a part of an energy that judges finished texts: what a classifier or a second
// model says of them, a list of words, how near they are to what stood there before. With
// [WordOptions.Terms] the energy is
//
//	U(θ) = U₁(θ) + Σ_k λ_k U_k(text of θ)
//
// U₁ is the pseudo-log-likelihood of the engine's model, and λ_k the weights. A product of
// experts (Hinton, "Training products of experts by minimizing contrastive divergence", Neural
// Computation 14, 2002) is such a sum. Samplers propose by U₁, and their acceptance step makes
// π ∝ exp(U/T) of it.
//
// A term is safe for concurrent use. Its values depend on the text alone, bit by bit: not on the
// texts beside it, nor on what was asked before.
type Term interface {
	// Name is what results call the term. It is not empty and not "model", which is U₁.
	Name() string
	// Rows is about how many sequences of a neural network the value of a text takes, 0 for
	// none. It bounds what is computed exactly, see maxExactRows.
	Rows() int
	// Values sets v[k] to the value of texts[k], in nats before the weight. v has the length of
	// texts, and zeros. Values are finite. A state whose value is not is refused and counted, as one
	// whose energy is not a number. The first state of a chain, or all that are computed, end the
	// call with an error that names the term. Values may be called in several goroutines. A panic in
	// one comes out of Fill, where the caller can recover it.
	Values(ctx context.Context, texts []Finished, v []float64) error
}

// A Bounded term has values of at most Most nats. A search gives up fillings that cannot get among
// the best ones, which it knows only if each term that asks a neural network is bounded.
type bounded interface {
	Term
	Most() float64
}

// A Finished text is one whose blanks are filled, as results have it.
type Finished struct {
	Text  string
	Spans [][2]int // byte span in Text of what fills each blank, ascending
	// Original are the words that stood in the blanks before, see Options.Words.Original; nil where
	// nothing did.
	Original []string
}

// Before is the text with the words that stood in the blanks, "" where nothing did.
func (f Finished) Before() string {
	if len(f.Original) == 0 || len(f.Original) != len(f.Spans) {
		return ""
	}
	before, _ := text.Restored(f.Text, f.Spans, f.Original)
	return before
}

// A Weighted is a term with its weight.
type Weighted struct {
	Term   Term
	Weight float64 // λ: finite. Below 0 it makes likelier what the term makes unlikely
}

// ModelEnergy is the name of U₁ in Filling.Energies.
const ModelEnergy = "model"

// MaxWeight bounds the size of a weight.
const MaxWeight = 1e6

// checkTerms finds what is wrong with terms before anything is computed.
func checkTerms(terms []Weighted) error {
	var names []string
	for i, w := range terms {
		if w.Term == nil {
			return fmt.Errorf("%w: part %d of the energy is missing", text.ErrOption, i+1)
		}
		name := w.Term.Name()
		switch {
		case name == "" || name == ModelEnergy:
			return fmt.Errorf("%w: a part of the energy is called %q", text.ErrOption, name)
		case slices.Contains(names, name):
			return fmt.Errorf("%w: two parts of the energy are called %q; add their weights", text.ErrOption,
				name)
		case !(math.Abs(w.Weight) <= MaxWeight):
			return fmt.Errorf("%w: the part %s of the energy has the weight %v, want a number from %v to %v",
				text.ErrOption, name, w.Weight, -MaxWeight, MaxWeight)
		}
		names = append(names, name)
	}
	return nil
}

// termBytes bounds what a fill remembers of its terms' values.
const termBytes = 16 << 20

// extra are the terms of one fill. It is safe for concurrent use.
type extra struct {
	terms    []Weighted
	original []string
	memo     *recall.Memo // nil: nothing is remembered
	guides   []guide
	guided   bool                   // all terms that weigh anything are guides
	bad      atomic.Pointer[string] // what a term said that is not finite; nil: nothing
}

// newExtra is nil where there are no terms.
func (e *Engine) newExtra(opt *Options) *extra {
	if len(opt.Words.Terms) == 0 {
		return nil
	}
	x := &extra{terms: opt.Words.Terms, original: opt.Words.Original}
	x.guides, x.guided = e.guidesOf(opt)
	if e.memo != nil {
		x.memo = recall.NewMemo(termBytes)
	}
	return x
}

// rows is about how many sequences of neural networks the terms of a text take.
func (e *extra) rows() int {
	n := 0
	if e != nil {
		for _, w := range e.terms {
			n += w.Term.Rows()
		}
	}
	return n
}

// cheap reports whether a part of an energy asks no neural network.
func (e *extra) cheap() bool {
	return e != nil && slices.ContainsFunc(e.terms, func(w Weighted) bool {
		return w.Weight != 0 && w.Term.Rows() == 0
	})
}

// most is the most that the parts of an energy that ask a neural network can add, in nats: +Inf if
// one of them does not say.
func (e *extra) most() float64 {
	sum := 0.0
	if e == nil {
		return 0
	}
	for _, w := range e.terms {
		if w.Weight == 0 || w.Term.Rows() == 0 {
			continue
		}
		b, ok := w.Term.(bounded)
		if !ok || w.Weight < 0 {
			return math.Inf(1)
		}
		sum += w.Weight * b.Most()
	}
	return sum
}

// sums adds Σ λ_k U_k of texts to u, in nats, over the terms that take accepts; nil accepts all.
func (e *extra) sums(ctx context.Context, texts []Finished, u []float64,
	take func(Weighted) bool) error {
	v := make([]float64, len(texts))
	for i, w := range e.terms {
		if w.Weight == 0 || take != nil && !take(w) {
			continue
		}
		if err := e.values(ctx, i, texts, v); err != nil {
			return err
		}
		for k := range u {
			u[k] += w.Weight * v[k]
		}
	}
	return nil
}

// values sets v to the values of term i, asking about every different text once.
func (e *extra) values(ctx context.Context, i int, texts []Finished, v []float64) error {
	if len(texts) == 0 {
		return nil
	}
	var keys []string
	var different []Finished
	number := make([]int, len(texts))
	at := map[string]int{}
	for k, f := range texts {
		key := fmt.Sprint(i, f.Spans, f.Text)
		n, seen := at[key]
		if !seen {
			n = len(keys)
			at[key] = n
			keys, different = append(keys, key), append(different, f)
		}
		number[k] = n
	}
	ask := func(ctx context.Context, texts []Finished) ([]float64, error) {
		got := make([]float64, len(texts))
		return got, e.ask(ctx, i, texts, got)
	}
	var found []float64
	var err error
	if e.memo == nil {
		found, err = ask(ctx, different)
	} else {
		found, err = e.memo.Numbers(ctx, keys, func(ctx context.Context, which []int) ([]float64, error) {
			asked := make([]Finished, len(which))
			for j, n := range which {
				asked[j] = different[n]
			}
			return ask(ctx, asked)
		})
	}
	if err != nil {
		return err
	}
	for k, n := range number {
		v[k] = found[n]
	}
	return nil
}

// ask has a term judge texts. Its errors name it.
func (e *extra) ask(ctx context.Context, i int, texts []Finished, v []float64) error {
	t := e.terms[i].Term
	if err := t.Values(ctx, texts, v); err != nil {
		return fmt.Errorf("part %s of the energy: %w", t.Name(), err)
	}
	for k := range v {
		if e.bad.Load() == nil && (math.IsNaN(v[k]) || math.IsInf(v[k], 0)) {
			said := fmt.Sprintf("part %s of the energy is %v for %q; its values have to be finite",
				t.Name(), v[k], texts[k].Text)
			e.bad.Store(&said)
		}
	}
	return nil
}

// blame is the error of numbers which are not finite, with the part of the energy that said one in
// the place of what came of it, if any did.
func (e *extra) blame(err error) error {
	if e == nil || !errors.Is(err, samplers.ErrState) && !errors.Is(err, mlm.ErrNotFinite) {
		return err
	}
	if said := e.bad.Load(); said != nil {
		return fmt.Errorf("%w: %s", mlm.ErrNotFinite, *said)
	}
	return err
}
