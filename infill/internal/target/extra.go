package target

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"infill/infill/internal/recall"
	"infill/infill/request"
	"infill/mlm"
	"infill/samplers"
	"infill/tokenize"
)

// termBytes bounds what a fill remembers of its terms' values.
const termBytes = 16 << 20

// Extra are the terms of one fill. It is safe for concurrent use.
type Extra struct {
	Terms    []request.Weighted
	original []string
	memo     *recall.Memo // nil: nothing is remembered
	guides   []guide
	Guided   bool                   // all terms that weigh anything are guides
	bad      atomic.Pointer[string] // what a term said that is not finite; nil: nothing
}

// NewExtra is nil where there are no terms. tok is the tokenizer of the model, and remember says
// that nothing is asked twice.
func NewExtra(opt *request.Options, tok *tokenize.Tokenizer, remember bool) *Extra {
	if len(opt.Words.Terms) == 0 {
		return nil
	}
	x := &Extra{Terms: opt.Words.Terms, original: opt.Words.Original}
	x.guides, x.Guided = guidesOf(x.Terms, tok, remember)
	if remember {
		x.memo = recall.NewMemo(termBytes)
	}
	return x
}

// Rows is about how many sequences of neural networks the terms of a text take.
func (e *Extra) Rows() int {
	n := 0
	if e != nil {
		for _, w := range e.Terms {
			n += w.Term.Rows()
		}
	}
	return n
}

// Cheap reports whether a part of an energy asks no neural network.
func (e *Extra) Cheap() bool {
	return e != nil && slices.ContainsFunc(e.Terms, func(w request.Weighted) bool {
		return w.Weight != 0 && w.Term.Rows() == 0
	})
}

// Most is the most that the parts of an energy that ask a neural network can add, in nats: +Inf if
// one of them does not say.
func (e *Extra) Most() float64 {
	sum := 0.0
	if e == nil {
		return 0
	}
	for _, w := range e.Terms {
		if w.Weight == 0 || w.Term.Rows() == 0 {
			continue
		}
		b, ok := w.Term.(request.Bounded)
		if !ok || w.Weight < 0 {
			return math.Inf(1)
		}
		sum += w.Weight * b.Most()
	}
	return sum
}

// Sums adds Σ λ_k U_k of texts to u, in nats, over the terms that take accepts; nil accepts all.
func (e *Extra) Sums(ctx context.Context, texts []request.Finished, u []float64,
	take func(request.Weighted) bool) error {
	v := make([]float64, len(texts))
	for i, w := range e.Terms {
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
func (e *Extra) values(ctx context.Context, i int, texts []request.Finished, v []float64) error {
	if len(texts) == 0 {
		return nil
	}
	var keys []string
	var different []request.Finished
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
	ask := func(ctx context.Context, texts []request.Finished) ([]float64, error) {
		got := make([]float64, len(texts))
		return got, e.Ask(ctx, i, texts, got)
	}
	var found []float64
	var err error
	if e.memo == nil {
		found, err = ask(ctx, different)
	} else {
		found, err = e.memo.Numbers(ctx, keys, func(ctx context.Context, which []int) ([]float64, error) {
			asked := make([]request.Finished, len(which))
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

// Ask has a term judge texts. Its errors name it.
func (e *Extra) Ask(ctx context.Context, i int, texts []request.Finished, v []float64) error {
	t := e.Terms[i].Term
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

// Blame is the error of numbers which are not finite, with the part of the energy that said one in
// the place of what came of it, if any did.
func (e *Extra) Blame(err error) error {
	if e == nil || !errors.Is(err, samplers.ErrState) && !errors.Is(err, mlm.ErrNotFinite) {
		return err
	}
	if said := e.bad.Load(); said != nil {
		return fmt.Errorf("%w: %s", mlm.ErrNotFinite, *said)
	}
	return err
}

// A guiding term has gradients over the tokens of a tokenizer. They are nil where its own tokens
// are others. remember says that nothing is asked twice.
type guiding interface {
	Gradients(tok *tokenize.Tokenizer, remember bool) *recall.Recall
}

// A guide is a term whose gradient goes with the model's.
type guide struct {
	model  *recall.Recall
	weight float64
}

// guidesOf lists the terms that have gradients over the tokens of a tokenizer. all reports whether
// these are all that weigh anything.
func guidesOf(terms []request.Weighted, tok *tokenize.Tokenizer, remember bool) (list []guide,
	all bool) {
	all = true
	for _, w := range terms {
		if w.Weight == 0 {
			continue
		}
		var m *recall.Recall
		if g, ok := w.Term.(guiding); ok {
			m = g.Gradients(tok, remember)
		}
		if m == nil {
			all = false
			continue
		}
		list = append(list, guide{m, w.Weight})
	}
	return list, all
}
