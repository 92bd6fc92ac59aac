package search

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"infill/infill/internal/choosing"
	"infill/infill/internal/recall"
	"infill/infill/internal/target"
	"infill/infill/request"
	"infill/infill/text"
	"infill/mlm"
)

var reaches = map[request.Effort]reach{
	request.EffortQuick: {beam: 5, wider: 1, slack: 2, starts: 5, orders: 2, top: 12, margin: 0,
		uneven: request.DefaultTop, share: 0.3},
	request.EffortNormal: {beam: 10, wider: 3, slack: 3, starts: 12, orders: 2, top: 12, margin: 0.25,
		uneven: 20, share: 0.15},
	request.EffortThorough: {beam: 16, wider: 3, slack: math.Inf(1), starts: 40, orders: 3, top: 40,
		margin: 3, uneven: 20, share: 0.02},
}

// LeastShare is how likely open lengths must be, beside the likeliest, for a search to begin them.
func LeastShare(e request.Effort) float64 { return reaches[e].share }

// searchWidth is how many fillings are evaluated side by side: a row among eight costs half of a
// row alone. It decides which rows are evaluated, so that it does not depend on the machine.
const searchWidth = 8

// Run looks for the best fillings of a task.
func Run(ctx context.Context, p *choosing.Chooser) (*request.Result, error) {
	s, err := New(ctx, p)
	if err != nil {
		return nil, err
	}
	if err := s.Run(ctx); err != nil {
		return nil, p.Choices[0].Target.Extra.Blame(err)
	}
	return s.Result(ctx)
}

func New(ctx context.Context, p *choosing.Chooser) (*Seeker, error) {
	o := p.Opt
	s := &Seeker{p: p, reach: reaches[o.Search.Effort], want: choosing.LeastBest(o),
		seen:  map[string]float64{},
		texts: map[string]*filled{}}
	if o.Results.Diverse {
		s.want = max(choosing.DiversePool, 2*s.want)
	}
	if uneven(p.Task) {
		s.want = max(s.want, s.reach.uneven)
	}
	s.whole = p.Choices[0].Target.Extra.Most()
	s.Rows = p.Asked.Source(o.Search.Context)
	for i, pt := range p.Choices {
		exact, err := p.Unrounded(ctx, pt.Target)
		if err != nil {
			return nil, err
		}
		of := &seekPart{Target: pt.Target, exact: exact, number: i, terms: map[int][]target.ScoreTerm{},
			cuts: map[string]*mlm.Sentence{}, beam: s.reach.beam, starts: s.reach.starts,
			orders: s.reach.orders}
		if tiedOrListed(p.Task) {
			of.Target = exact
		}
		if len(p.Choices) > 1 {
			of.share(math.Exp(pt.LogP-p.Choices[0].LogP), p.Open, &s.reach)
		}
		s.parts = append(s.parts, of)
	}
	return s, nil
}

// uneven reports whether a template has lists, ties or open lengths, where neighbours are guessed
// from rows with whole words masked, and from few beams.
func uneven(p *target.Task) bool { return p.Open > 0 || tiedOrListed(p) }

func tiedOrListed(p *target.Task) bool {
	return slices.ContainsFunc(p.Template.Groups, func(g text.Group) bool {
		return len(g.Blanks) > 1 || g.Words != nil
	})
}

// Run searches, and once more with more first pieces, while these may begin a better filling than
// the best one.
func (s *Seeker) Run(ctx context.Context) error {
	for range min(2, s.reach.wider) {
		if err := s.round(ctx); err != nil || s.ended != request.EndedItself || len(s.best) == 0 {
			return err
		}
		s.wide = true
	}
	return nil
}

func (s *Seeker) round(ctx context.Context) error {
	var starts []*filled
	var impossible error
	for _, pt := range s.parts {
		of, err := s.starts(ctx, pt)
		if errors.Is(err, text.ErrEmptySupport) {
			impossible = cmp.Or(impossible, err)
			continue // other lengths may have fillings
		}
		if err != nil {
			return err
		}
		starts = append(starts, of...)
		if len(starts) > 0 && s.over() {
			break // these are enough to find something
		}
	}
	if len(starts) == 0 && !s.wide {
		return impossible
	}
	var active []*filled
	for {
		for len(active) < searchWidth {
			f := s.next(&starts)
			if f == nil {
				break
			}
			if err := s.begin(ctx, f); err != nil {
				return err
			}
			active = append(active, f)
		}
		if len(active) == 0 {
			return nil
		}
		if s.mustEnd() {
			return nil
		}
		var asks []*recall.Ask
		for _, f := range active {
			asks = append(asks, f.work.wanted(s.Rows)...)
		}
		if err := s.Rows.Fetch(ctx, asks); err != nil {
			return err
		}
		var err error
		if active, err = s.sift(ctx, active); err != nil {
			return err
		}
	}
}

// next takes what is to be evaluated next: the starts, then the best guess. nil says that nothing
// comes near enough.
func (s *Seeker) next(starts *[]*filled) *filled {
	if len(*starts) > 0 {
		f := (*starts)[0]
		*starts = (*starts)[1:]
		return f
	}
	for len(s.queue) > 0 {
		f := s.queue[0]
		if f.guess < s.Threshold()-s.reach.margin {
			return nil
		}
		heap.Pop(&s.queue)
		if s.seen[f.key] == f.guess { // no better guess of it came, and it was not begun
			return f
		}
	}
	return nil
}

// Result ranks what was found.
func (s *Seeker) Result(ctx context.Context) (*request.Result, error) {
	p := s.p
	res := p.NewResult()
	res.Method, res.Ended, res.Rows = request.MethodSearch, s.ended, s.Rows.Asked()
	res.Fresh = p.Asked.FreshOf(res.Rows)
	res.Distinct, res.LookedAt = len(s.texts), s.lookedAt()
	res.Stats.NonFinite = s.bad
	if len(s.texts) == 0 {
		return nil, p.Choices[0].Target.Extra.Blame(fmt.Errorf("%w: no filling has a finite score",
			mlm.ErrNotFinite))
	}
	if len(s.found) == 0 && len(s.twice) > 0 {
		s.found = s.twice
		choosing.WarnTwice(res)
	}
	if len(s.found) == 0 {
		return nil, p.Sieve.Err()
	}
	slices.SortStableFunc(s.found, byRank)
	states := map[string]choosing.Placed{}
	for _, f := range s.found {
		res.Fillings = append(res.Fillings, f.text)
		states[f.text.Text] = choosing.Placed{Target: p.Choices[f.part.number].Target, State: f.x}
	}
	err := p.Finish(ctx, res, states, s.Rows.Narrowed(), s.bad, "fillings")
	if err != nil {
		return nil, err
	}
	return res, nil
}
