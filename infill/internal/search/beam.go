package search

import (
	"cmp"
	"context"
	"math"
	"slices"

	"infill/infill/internal/recall"
	"infill/infill/internal/space"
	"infill/infill/request"
	"infill/infill/text"
)

// A partial is a filling some of whose coordinates are filled.
type partial struct {
	x     []int32
	open  []bool // coordinates that are not
	value float64
	key   string
}

// starts are the fillings that a part's search begins with: the ends of beams that fill blank after
// blank, each from what the model says with the others filled or masked. Of the wide round they are
// ends that were not begun before.
func (s *Seeker) starts(ctx context.Context, part *seekPart) ([]*filled, error) {
	if s.wide && slices.Max(part.Counts) < 2 {
		return nil, nil
	}
	pt := &seekPart{Target: part.exact, number: part.number, beam: part.beam, starts: part.starts,
		orders: part.orders}
	orders, err := s.orders(ctx, pt)
	if err != nil {
		return nil, err
	}
	ends := map[string]*partial{}
	for _, order := range orders {
		beam, err := s.beam(ctx, pt, order)
		if err != nil {
			return nil, err
		}
		for _, b := range beam {
			if o := ends[b.key]; o == nil || o.value < b.value {
				ends[b.key] = b
			}
		}
		if len(ends) > 0 && s.over() {
			break
		}
	}
	if s.wide && !pt.widened {
		return nil, nil
	}
	if len(ends) == 0 { // rules that concern several blanks forbid them all
		alone, err := s.alone(ctx, pt)
		if err != nil {
			return nil, err
		}
		x := make([]int32, len(pt.Coords))
		if err := pt.Find(nil, alone, x); err != nil {
			return nil, err
		}
		ends[""] = &partial{x: x}
	}
	list := make([]*partial, 0, len(ends))
	for _, b := range ends {
		list = append(list, b)
	}
	slices.SortFunc(list, byValue)
	var out []*filled
	for _, b := range list {
		f := &filled{part: part, x: b.x, key: pt.keyOf(b.x), near: -1}
		if len(out) < pt.starts && !math.IsInf(s.seen[f.key], 1) {
			out = append(out, f)
		}
	}
	if s.wide {
		return out, nil
	}
	marked, err := s.marked(ctx, part, out[0])
	return append(out, marked...), err
}

func byValue(a, b *partial) int {
	return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.key, b.key))
}

// empty is the filling without any word: a list stands for its shortest phrase.
func (pt *seekPart) empty() *partial {
	e := &partial{x: slices.Clone(pt.Shortest()[0]), open: make([]bool, len(pt.Coords))}
	for i := range e.open {
		e.open[i] = true
	}
	return e
}

// alone is what the model says of each coordinate with all masked.
func (s *Seeker) alone(ctx context.Context, pt *seekPart) ([][]float64, error) {
	all := pt.inOrder()
	out, err := s.beside(ctx, pt, slices.Repeat([]*partial{pt.empty()}, len(all)), all)
	for i := range out {
		err = cmp.Or(err, pt.Finite(i, out[i]))
	}
	return out, err
}

// inOrder are the coordinates from the left.
func (pt *seekPart) inOrder() (left []int) {
	for i := range pt.Coords {
		left = append(left, i)
	}
	return left
}

// orders lists different orders of the coordinates: from the left, from the right, the surest
// first, for which the model is asked.
func (s *Seeker) orders(ctx context.Context, pt *seekPart) ([][]int, error) {
	right, surest := pt.inOrder(), pt.inOrder()
	slices.Reverse(right)
	if pt.orders > 2 {
		alone, err := s.alone(ctx, pt)
		if err != nil {
			return nil, err
		}
		slices.SortStableFunc(surest, func(a, b int) int {
			return cmp.Compare(slices.Max(alone[b]), slices.Max(alone[a]))
		})
	}
	var out [][]int
	for _, o := range [][]int{pt.inOrder(), right, surest}[:pt.orders] {
		if !slices.ContainsFunc(out, func(p []int) bool { return slices.Equal(o, p) }) {
			out = append(out, o)
		}
	}
	return out, nil
}

// laterPieces is how many nats a score mostly loses by the pieces of a gap after its first.
const laterPieces = 2

// hopeless reports whether a partial filling is hardly the beginning of the best one.
func (s *Seeker) hopeless(pt *seekPart, b *partial) bool {
	most := request.Parts{Left: b.value, Length: pt.LengthPart(pt.LayoutOf(b.x, nil).Lengths)}
	return s.p.Opt.Results.Score.Of(most)-laterPieces < s.best[0].score
}

// beam fills the coordinates in an order and keeps the best sums of conditionals. The wide round
// keeps more first pieces of a gap: a name may begin with one that is unlikely by itself.
func (s *Seeker) beam(ctx context.Context, pt *seekPart, order []int) ([]*partial, error) {
	beam := []*partial{pt.empty()}
	ordered := slices.IsSorted(order)
	for n, i := range order {
		c, width := &pt.Coords[i], pt.beam
		wide := s.wide && pt.Counts[c.Group] > 1 && (n == 0 || pt.Coords[order[n-1]].Group != c.Group)
		if wide {
			width *= s.reach.wider
		}
		if s.over() { // one end is enough to find something
			width = 1
		}
		at := make([]int, len(beam))
		for k := range at {
			at[k] = i
		}
		rows, err := s.beside(ctx, pt, beam, at)
		if err != nil {
			return nil, err
		}
		var next []*partial
		for k, b := range beam {
			taken := 0
			for _, v := range mostLikely(rows[k], width*looks(pt.Tied())) {
				x := slices.Clone(b.x)
				x[i] = v
				if ordered && !pt.Possible(i, x) || n == len(order)-1 && !pt.Valid(x) {
					continue
				}
				o := slices.Clone(b.open)
				o[i] = false
				next = append(next, &partial{x, o, b.value + rows[k][v], text.IDsKey(x)})
				if taken++; taken == width {
					break
				}
			}
		}
		slices.SortFunc(next, byValue)
		beam = next[:min(len(next), width)]
		for len(beam) > 1 && beam[len(beam)-1].value < beam[0].value-s.reach.slack {
			beam = beam[:len(beam)-1]
		}
		for wide && len(beam) > pt.beam && s.hopeless(pt, beam[len(beam)-1]) {
			beam = beam[:len(beam)-1]
		}
		pt.widened = pt.widened || wide && len(beam) > pt.beam
		if len(beam) == 0 {
			break
		}
	}
	return beam, nil
}

// looks is how many times as many words are looked at where rules refuse some.
func looks(tied bool) int {
	if tied {
		return 8
	}
	return 1
}

// mostLikely lists the n likeliest categories of a row. One of probability 0 is never among them.
func mostLikely(row []float64, n int) []int32 {
	out := highest(row, min(n, len(row)))
	for len(out) > 0 && !(row[out[len(out)-1]] > math.Inf(-1)) { // nor one that is not a number
		out = out[:len(out)-1]
	}
	return out
}

// beside is, for every partial filling b[k] and coordinate at[k], what the model says of its
// categories, all tokens that it decides masked, in nats. Tied blanks have their mean, and a phrase
// has the sum of its tokens, and the part that its length has in a score. Its first token alone
// would be a guess that no single word can match.
func (s *Seeker) beside(ctx context.Context, pt *seekPart, b []*partial, at []int) ([][]float64,
	error) {
	type question struct{ k, slot, length int }
	var asked []question
	var asks []*recall.Ask
	out := make([][]float64, len(b))
	for k := range b {
		c := &pt.Coords[at[k]]
		pt.Hidden(b[k].x, at[k], b[k].open, func(l *space.Layout, state []int32, mask, slot, n int) {
			asked = append(asked, question{k, slot, n})
			asks = append(asks, s.Rows.Ask(l.Sentence, state, mask, pt.Model))
		})
		out[k] = make([]float64, c.K())
		for v, p := range c.Phrases {
			out[k][v] = pt.PartOf(c.Group, len(p.IDs))
		}
	}
	if err := s.Rows.Fetch(ctx, asks); err != nil {
		return nil, err
	}
	for i, q := range asked {
		c := &pt.Coords[at[q.k]]
		row, _ := s.Rows.Row(asks[i])
		share := 1 / float64(len(pt.Groups[c.Group].Blanks))
		c.AddRow(out[q.k], q.slot, q.length, func(id int32) float64 {
			return float64(row.Value(id)) * share
		})
	}
	return out, nil
}
