package search

import (
	"cmp"
	"context"
	"math"
	"slices"

	"infill/infill/internal/recall"
	"infill/infill/internal/target"
	"infill/infill/request"
	"infill/mlm"
)

// termOrder is the order in which the terms of a filling are asked for, those near the token that
// was changed first: they change most. Terms of U come before the others, and no change is −1.
func termOrder(terms []target.ScoreTerm, n, changed int) []int {
	order := make([]int, len(terms))
	for i := range order {
		order[i] = i
	}
	if changed < 0 {
		changed = n / 2
	}
	far := func(i int) int {
		d := terms[i].At - changed
		if terms[i].U == 0 {
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
		if r, held := rows.Row(a); held {
			w.known[i], w.value[i] = true, float64(r.Value(w.state[w.terms[i].At]))
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

// energyParts are Σ λ_k U_k of texts: of the costly parts of the energy, which ask neural networks,
// or of the others.
func (s *Seeker) energyParts(ctx context.Context, texts []request.Filling, costly bool) ([]float64,
	error) {
	out := make([]float64, len(texts))
	t := s.parts[0].Target
	if t.Extra == nil {
		return out, nil
	}
	all := make([]request.Finished, len(texts))
	for i := range texts {
		all[i] = t.Finished(texts[i])
	}
	return out, t.Extra.Sums(ctx, all, out, func(w request.Weighted) bool {
		return (w.Term.Rows() > 0) == costly
	})
}

// begin makes the work on a filling.
func (s *Seeker) begin(ctx context.Context, f *filled) error {
	s.seen[f.key] = math.Inf(1)
	pt := f.part
	l := pt.LayoutOf(f.x, nil)
	w := &work{lay: l, state: pt.Tokens(nil, l, f.x, -1, -1)}
	w.terms = pt.termsOf(len(w.state), s.p.Opt.Results.Score)
	w.value, w.known = make([]float64, len(w.terms)), make([]bool, len(w.terms))
	w.order = termOrder(w.terms, len(w.state), f.near)
	mask := pt.Tokenizer().MaskID()
	f.text = pt.Spell(f.x, s.p.Opt.Results.AsModel)
	var sentence *mlm.Sentence
	sentence, w.other = pt.asFinished(l, &f.text, w.state)
	w.finished = sentence != l.Sentence
	for i := range w.terms {
		t := &w.terms[i]
		w.ask = append(w.ask, s.Rows.Ask(sentence, t.Masked(w.state, mask), t.At, pt.Model))
	}
	f.work = w
	v, err := s.energyParts(ctx, []request.Filling{f.text}, false)
	if err != nil {
		return err
	}
	f.cheap = v[0]
	return nil
}

// sift takes in the rows that were asked for. It returns the fillings that need further ones.
func (s *Seeker) sift(ctx context.Context, active []*filled) ([]*filled, error) {
	var done, rest []*filled
	for _, f := range active {
		f.work.learn(s.Rows)
		if f.work.open() {
			rest = append(rest, f)
		} else {
			done = append(done, f)
		}
	}
	if err := s.finish(ctx, done); err != nil {
		return nil, err
	}
	if err := s.watch(); err != nil {
		return nil, err
	}
	kept := rest[:0]
	for _, f := range rest {
		if s.most(f) >= s.Threshold() {
			kept = append(kept, f)
		} else if s.GaveUp != nil {
			s.GaveUp(f.part.Target, f.x, f.text.Text)
		}
	}
	return kept, nil
}

// most is the highest rank that the known terms leave possible.
func (s *Seeker) most(f *filled) float64 {
	if f.kept || f.work.other {
		return math.Inf(1) // or its terms are not those of its score
	}
	u := f.cheap + s.whole + f.part.LengthPart(f.work.lay.Lengths)
	for i, known := range f.work.known {
		if known {
			u += f.work.terms[i].Weight(s.p.Opt.Results.Score) * min(f.work.value[i], 0)
		}
	}
	if s.p.PerToken {
		u /= float64(len(f.work.state))
	}
	return u
}

// finish takes fillings all of whose terms are known.
func (s *Seeker) finish(ctx context.Context, done []*filled) error {
	if len(done) == 0 {
		return nil
	}
	texts := make([]request.Filling, len(done))
	for i, f := range done {
		texts[i] = f.text
	}
	costly, err := s.energyParts(ctx, texts, true)
	if err != nil {
		return err
	}
	for i, f := range done {
		w := f.work
		for j := range w.terms {
			w.terms[j].Add(&f.parts, w.value[j])
		}
		f.parts.Finished, f.parts.Length = w.finished, f.part.LengthPart(w.lay.Lengths)
		if w.other {
			if _, err := f.part.FinishedParts(ctx, f.part.Model, []*request.Filling{&f.text},
				s.p.Opt.Results.Score, func(_ int, p request.Parts) { f.parts = p }); err != nil {
				return err
			}
		}
		f.score = s.p.Opt.Results.Score.Of(f.parts) + f.cheap + costly[i]
		f.rank = f.score
		if s.p.PerToken {
			f.rank /= float64(len(w.state))
		}
		if math.IsNaN(f.score) || math.IsInf(f.score, 0) {
			s.bad++
			f.work = nil
			continue
		}
		f.text.Score, f.text.Parts = f.score, f.parts
		f.text.ScorePerToken = f.score / float64(len(w.state))
		if err := s.take(ctx, f); err != nil {
			return err
		}
		if err := s.expand(ctx, f); err != nil {
			return err
		}
		f.work = nil
	}
	return nil
}

// termsOf are the terms of the scores of n tokens.
func (pt *seekPart) termsOf(n int, score request.Scoring) []target.ScoreTerm {
	if pt.terms[n] == nil {
		pt.terms[n] = target.ScoreTerms(n, score)
	}
	return pt.terms[n]
}

// lookedAt is Result.LookedAt. The chain rule sums to 1 over all tokens, to less over those that
// may go in. So shares are these at least.
func (s *Seeker) lookedAt() (sum float64) {
	p := s.p
	if p.Open != 1 || len(p.Template.Blanks) != 1 || p.PerToken || p.Choices[0].Target.Extra != nil {
		return 0
	}
	one := false
	for _, f := range s.found {
		switch logP := p.Choices[f.part.number].LogP; {
		case len(f.part.Coords) > 1:
			sum += math.Exp(logP + f.parts.Left)
		case !one:
			one = true
			sum += math.Exp(logP)
		}
	}
	return min(sum, 1)
}
