package infill

import (
	"cmp"
	"context"
	"math"
	"slices"

	"infill/infill/internal/recall"
)

// termOrder is the order in which the terms of a filling are asked for, those near the token that
// was changed first: they change most. Terms of U come before the others, and no change is −1.
func termOrder(terms []scoreTerm, n, changed int) []int {
	order := make([]int, len(terms))
	for i := range order {
		order[i] = i
	}
	if changed < 0 {
		changed = n / 2
	}
	far := func(i int) int {
		d := terms[i].at - changed
		if terms[i].u == 0 {
			d += 2 * n // chain rules come last
		}
		return max(d, -d)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(far(a), far(b)) })
	return order
}

// learn takes the values of the terms whose rows are known.
func (w *work) learn(rows *recall.Source) {
	for i, a := range w.ask {
		if w.known[i] || !rows.Known(a) {
			continue
		}
		if r := rows.Row(a); r != nil {
			w.known[i], w.value[i] = true, r.Value(w.state[w.terms[i].at])
		}
	}
	for w.next < len(w.order) && w.known[w.order[w.next]] {
		w.next++
	}
}

func (w *work) open() bool { return w.next < len(w.order) }

// wanted lists what to ask next: the first row that nobody asked for yet, and those that were asked
// for and are not held any more.
func (w *work) wanted(rows *recall.Source) []*recall.Ask {
	w.learn(rows)
	var out []*recall.Ask
	fresh := false
	for _, i := range w.order {
		switch a := w.ask[i]; {
		case w.known[i]:
		case rows.Known(a):
			out = append(out, a)
		case !fresh:
			fresh = true
			out = append(out, a)
		}
	}
	return out
}

// cheapParts are Σ λ_k U_k of texts, of the parts of the energy that ask no neural network.
func (s *seeker) cheapParts(ctx context.Context, texts []Filling) ([]float64, error) {
	return s.energyParts(ctx, texts, false)
}

// costlyParts are those of the other parts.
func (s *seeker) costlyParts(ctx context.Context, texts []Filling) ([]float64, error) {
	return s.energyParts(ctx, texts, true)
}

func (s *seeker) energyParts(ctx context.Context, texts []Filling, costly bool) ([]float64, error) {
	out := make([]float64, len(texts))
	t := s.parts[0].target
	if t.extra == nil {
		return out, nil
	}
	all := make([]Finished, len(texts))
	for i := range texts {
		all[i] = t.finished(texts[i])
	}
	return out, t.extra.sums(ctx, all, out, func(w Weighted) bool {
		return (w.Term.Rows() > 0) == costly
	})
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
		b, ok := w.Term.(Bounded)
		if !ok || w.Weight < 0 {
			return math.Inf(1)
		}
		sum += w.Weight * b.Most()
	}
	return sum
}
