package infill

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"math"
	"slices"

	"infill/infill/internal/space"
	"infill/infill/internal/text"
	"infill/internal/gate"
)

// Alone fills every blank by itself, as a fill-mask pipeline does: each gets the token that is
// likeliest with all blanks masked. The fillings are the Options.Results.Top best by the product of
// these probabilities, of those that the constraints allow. Filling.Score is the logarithm of the
// product, in nats. It is what other ways to fill are compared with.
//
// Errors are those of Fill, and ErrOption for a blank of an open number of tokens and for options
// that judge finished fillings: Terms, Filter, Marginals and Normalize, and for AllFillings. Those
// of sampling are passed over.
func (e *Engine) Alone(ctx context.Context, t *Template, opt Options) (*Result, error) {
	return e.plainly(ctx, t, opt, (*target).alone)
}

// Greedy fills blank after blank from the left. Each gets the token that is likeliest given those
// before, the later ones masked. That is the first filling. The others are the best of a beam of
// Options.Results.Top fillings, made in the same order. Where constraints leave nothing for a later
// blank, the beam has the first filling too, or else a search. Filling.Score is the sum of the
// logarithms of these conditionals, in nats: the log-probability by the chain rule. Errors and
// options are those of Alone.
func (e *Engine) Greedy(ctx context.Context, t *Template, opt Options) (*Result, error) {
	return e.plainly(ctx, t, opt, (*target).greedy)
}

// A scored is a state and what it was chosen by: a sum of tempered logarithms.
type scored struct {
	x   []int32
	sum float64
}

// plainly fills a template without chains, by a function that lists states, the best first. It is
// given the number of texts that are wanted, and calls done with each state until it says true.
func (e *Engine) plainly(ctx context.Context, t *Template, opt Options,
	states func(t *target, ctx context.Context, n int, done func(scored) bool) error) (*Result,
	error) {
	if err := e.usable(ctx, t, &opt); err != nil {
		return nil, err
	}
	if err := opt.fill(); err != nil {
		return nil, err
	}
	switch {
	case len(opt.Words.Terms) > 0 || opt.Words.Filter.on() || opt.Results.Marginals ||
		opt.Results.Normalize:
		return nil, fmt.Errorf("%w: blanks that are filled alone or in turn are judged by the model's "+
			"conditionals only; leave out other parts of the energy, filters and probabilities",
			text.ErrOption)
	case opt.Results.Top == 0: // AllFillings
		return nil, fmt.Errorf("%w: all fillings, and blanks that are filled alone or in turn have a "+
			"number of them", text.ErrOption)
	}
	var res *Result
	err := gate.Compute(ctx, e.model, func(ctx context.Context) error {
		p, err := e.plan(&t.in, &opt)
		if err != nil {
			return err
		}
		if p.open {
			return fmt.Errorf("%w: blanks that are filled alone or in turn have a number of tokens, and "+
				"one of these leaves it open", text.ErrOption)
		}
		res, err = p.plainly(ctx, states)
		return err
	})
	return res, err
}

func (p *plan) plainly(ctx context.Context,
	states func(t *target, ctx context.Context, n int, done func(scored) bool) error) (*Result,
	error) {
	t, n := p.parts[0].tgt, p.opt.Results.Top
	res := p.newResult()
	seen := map[string]bool{}
	err := states(t, ctx, n, func(s scored) bool {
		f := t.spell(s.x, p.opt.Results.Case)
		if seen[f.Text] {
			return false
		}
		seen[f.Text] = true
		f.Score = s.sum * t.temp
		f.ScorePerToken = f.Score / float64(len(f.ids))
		res.Fillings = append(res.Fillings, f)
		return len(res.Fillings) == n
	})
	if err != nil {
		return nil, err
	}
	p.choose(res, func([]Filling) {}) // they are ranked
	res.Distinct, res.Rows = len(res.Fillings), t.rows
	res.Repeated = max(0, t.rows-p.model.Different())
	res.Fresh, res.Evaluated = p.model.FreshOf(t.rows), p.model.Evaluated()
	return res, nil
}

// alone lists states by what the model says with all blanks masked.
func (t *target) alone(ctx context.Context, _ int, done func(scored) bool) error {
	logp, err := t.allMasked(ctx, t.model.Counting())
	if err != nil {
		return err
	}
	t.countMasked()
	order := make([]space.Likely, len(logp))
	for i, lp := range logp {
		if err := t.Finite(i, lp); err != nil {
			return err
		}
		order[i].LogP = lp
	}
	state := func(ranks []int) scored {
		s := scored{x: make([]int32, len(ranks))}
		for i, r := range ranks {
			s.x[i] = order[i].At(r)
			s.sum += logp[i][s.x[i]]
		}
		return s
	}
	found := false
	open := &frontier{{make([]int, len(logp)), state(make([]int, len(logp)))}}
	for left := space.MaxSearch; open.Len() > 0 && left > 0; left-- {
		r := heap.Pop(open).(ranked)
		if math.IsInf(r.sum, -1) {
			break
		}
		if t.Valid(r.x) {
			found = true
			if done(r.scored) {
				return nil
			}
		}
		// Every other combination is reached once: only coordinates from the last one that is not at
		// its best go on.
		last := len(r.ranks) - 1
		for last > 0 && r.ranks[last] == 0 {
			last--
		}
		for i := last; i < len(r.ranks); i++ {
			if r.ranks[i]+1 < len(logp[i]) {
				next := slices.Clone(r.ranks)
				next[i]++
				heap.Push(open, ranked{next, state(next)})
			}
		}
	}
	if found {
		return nil
	}
	s := scored{x: make([]int32, len(logp))}
	if err := t.Find(nil, logp, s.x); err != nil {
		return err
	}
	for i, v := range s.x {
		s.sum += logp[i][v]
	}
	done(s)
	return nil
}

// A ranked is a state by the places of its categories in their orders.
type ranked struct {
	ranks []int
	scored
}

// A frontier is a heap with the likeliest state on top.
type frontier []ranked

func (h frontier) Len() int { return len(h) }
func (h frontier) Less(a, b int) bool {
	if c := cmp.Compare(h[b].sum, h[a].sum); c != 0 {
		return c < 0
	}
	return slices.Compare(h[a].ranks, h[b].ranks) < 0
}
func (h frontier) Swap(a, b int) { h[a], h[b] = h[b], h[a] }
func (h *frontier) Push(s any)   { *h = append(*h, s.(ranked)) }
func (h *frontier) Pop() any {
	s := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return s
}

// greedy lists the state of the greedy choices, and then those of a beam.
func (t *target) greedy(ctx context.Context, n int, done func(scored) bool) error {
	first := scored{x: slices.Clone(t.Shortest()[0])}
	lead, beam := []scored{first}, []scored{first}
	for i := range t.Coords {
		all := beam
		if len(lead) > 0 {
			all = append([]scored{lead[0]}, beam...)
		}
		rows, err := t.following(ctx, all, i)
		if err != nil {
			return err
		}
		if len(lead) > 0 {
			lead = t.extend(all[:1], rows[:1], i, 1)
			all, rows = all[1:], rows[1:]
		}
		beam = t.extend(all, rows, i, n)
	}
	taken := 0
	for _, s := range append(lead, beam...) {
		if !t.Valid(s.x) {
			continue
		}
		taken++
		if done(s) {
			return nil
		}
	}
	if taken > 0 {
		return nil
	}
	// Constraints leave nothing after the words that were chosen first.
	logp, err := t.allMasked(ctx, t.model.Counting())
	if err != nil {
		return err
	}
	t.countMasked()
	s := scored{x: slices.Clone(first.x)}
	if err := t.Find(nil, logp, s.x); err != nil {
		return err
	}
	for i := range t.Coords {
		rows, err := t.following(ctx, []scored{s}, i)
		if err != nil {
			return err
		}
		s.sum += rows[0][s.x[i]]
	}
	done(s)
	return nil
}

// following is what the model says of coordinate i after those before it in each state, with the
// later ones masked: tempered log f of its categories.
func (t *target) following(ctx context.Context, from []scored, i int) ([][]float64, error) {
	x, at, rows := make([][]int32, len(from)), make([]int, len(from)), make([][]float64, len(from))
	for k, s := range from {
		x[k], at[k], rows[k] = s.x, i, make([]float64, t.Coords[i].K())
	}
	if err := t.masked(ctx, t.model.Counting(), x, at, rows, t.openFrom(i, len(x))); err != nil {
		return nil, err
	}
	t.countMasked()
	for k := range rows {
		if err := t.Finite(i, rows[k]); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// extend returns the n best states that have a further coordinate, i, of those that can become
// valid.
func (t *target) extend(from []scored, rows [][]float64, i, n int) []scored {
	var out []scored
	for k, s := range from {
		order := space.Likely{LogP: rows[k]}
		for r, taken := 0, 0; taken < n && r < len(rows[k]); r++ {
			v := order.At(r)
			if math.IsInf(rows[k][v], -1) {
				break
			}
			x := slices.Clone(s.x)
			x[i] = v
			if t.Possible(i, x) {
				out = append(out, scored{x, s.sum + rows[k][v]})
				taken++
			}
		}
	}
	slices.SortStableFunc(out, func(a, b scored) int { return cmp.Compare(b.sum, a.sum) })
	return out[:min(len(out), n)]
}
