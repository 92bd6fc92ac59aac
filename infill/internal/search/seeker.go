package search

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"slices"

	"infill/infill/internal/choosing"
	"infill/infill/internal/recall"
	"infill/infill/internal/space"
	"infill/infill/internal/target"
	"infill/infill/request"
	"infill/infill/text"
	"infill/mlm"
)

// A reach is what an effort stands for.
type reach struct {
	beam   int     // partial fillings that a beam keeps
	wider  int     // times as many first pieces of a gap, in a round for the best that was found
	slack  float64 // nats below its best at which a beam drops one
	starts int     // ends of beams that are scored
	orders int     // of filling blank after blank: from the left, from the right, the surest first
	top    int     // words of a blank that replace the one of a scored filling
	margin float64 // nats below the worst of the best ones at which a guess is given up
	uneven int     // best ones to find at least where guesses are worse, see uneven
	share  float64 // how likely open lengths must be, beside the likeliest, to be begun
}

// A Seeker searches the fillings with the best scores.
//
// A row has what the model says of a place for all tokens at once. So a filling whose score is
// known tells of each filling that differs from it in one token what the terms at this place are,
// and its score can be guessed: the other terms stay. The best guess is evaluated next, term by
// term, and given up when the terms that are known leave it no way to be among the best: no term is
// above 0. docs/reference/search.md derives it.
//
// What it does depends on the answers of the model alone, not on what a memo holds.
type Seeker struct {
	p     *choosing.Chooser
	reach reach
	want  int // how many fillings the search is to find
	parts []*seekPart
	Rows  *recall.Source
	queue guesses
	found []*filled // scored, in the order in which they were found
	twice []*filled // scored and refused, see choosing.Chooser.Twice
	best  []*filled // of these the best that count, best first, at most want
	seen  map[string]float64
	texts map[string]*filled
	whole float64 // what costly parts of the energy can add at most; +Inf if nobody knows
	wide  bool    // this is the wide round, see beam
	ended request.Ending
	bad   int // fillings whose score is not a number
	// GaveUp is told of the states that are given up, if a test asks; else nil.
	GaveUp func(of *target.Target, x []int32, text string)
}

// A seekPart is the search among the fillings of one choice of lengths.
//
// Beams, and guesses for whole words, decide what is looked at. They are of the model in float32,
// so that another rounding, on another device, hardly leads elsewhere.
type seekPart struct {
	*target.Target
	exact  *target.Target // in float32; target itself for lists and ties
	number int
	terms  map[int][]target.ScoreTerm // by the number of tokens
	cuts   map[string]*mlm.Sentence
	// beam, starts and orders are its own part of the reach.
	beam, starts, orders int
	expanded             bool // all values of the one coordinate are among the guesses
	widened              bool // a beam has kept more than usual
}

// share gives a part its effort: by how likely its lengths are beside the likeliest. Each further
// gap makes more parts, which get less.
func (pt *seekPart) share(of float64, gaps int, r *reach) {
	of = math.Pow(of, float64(gaps)/2)
	pt.beam = max(leastBeam, int(math.Round(of*float64(r.beam))))
	pt.starts = max(leastStarts, int(math.Round(of*float64(r.starts)/2)))
}

// What every part gets. A name of two pieces may begin with one that is unlikely by itself.
const (
	leastBeam   = 4
	leastStarts = 3
)

// filled holds a filling of one part, on its way to a score or with one.
type filled struct {
	part  *seekPart
	x     []int32
	key   string
	rank  float64 // what fillings are ordered by: the score, or the score per token
	guess float64 // of rank
	cheap float64 // parts of the energy that were computed first
	score float64
	parts request.Parts
	near  int  // the place that was changed, a number of a mask; −1: none in particular
	kept  bool // it is not given up: its neighbours may be good
	text  request.Filling
	work  *work // nil when done
}

// work is what is left to do for a score.
type work struct {
	lay   *space.Layout
	state []int32
	terms []target.ScoreTerm
	ask   []*recall.Ask
	value []float64
	known []bool
	order []int // in which the terms are asked for
	next  int   // number in order of the first that may be open
	// finished: the terms are asked for in the finished text. other: its blanks hold other pieces than
	// the state, so that its score is computed once these terms are known.
	finished, other bool
}

// mustEnd reports whether the search has to end, which it does not before something is found.
func (s *Seeker) mustEnd() bool {
	if len(s.found)+len(s.twice) == 0 || !s.over() {
		return false
	}
	s.ended = request.EndedRows
	if s.p.Opt.Stopped() {
		s.ended = request.EndedStopped
	}
	return true
}

// over reports whether the search was stopped, or took its rows.
func (s *Seeker) over() bool {
	return s.p.Opt.Stopped() || s.Rows.Asked() >= s.p.Opt.Search.Rows
}

// Threshold is the rank that a filling must reach to be among the best.
func (s *Seeker) Threshold() float64 {
	if len(s.best) < s.want {
		return math.Inf(-1)
	}
	return s.best[len(s.best)-1].rank
}

// take enters a scored filling. One whose text is known, or that the filter refuses, does not
// count.
func (s *Seeker) take(ctx context.Context, f *filled) error {
	if o := s.texts[f.text.Text]; o != nil {
		if o.rank < f.rank { // another state of the text
			o.x, o.part, o.rank, o.score, o.parts, o.text = f.x, f.part, f.rank, f.score, f.parts, f.text
			slices.SortStableFunc(s.best, byRank)
		}
		return nil
	}
	s.texts[f.text.Text] = f
	passed, err := s.p.Sieve.Pass(ctx, []request.Filling{f.text})
	if err != nil || len(passed) == 0 {
		return err
	}
	if f.text = passed[0]; s.p.Twice(&f.text) {
		s.twice = append(s.twice, f)
		return nil
	}
	s.found = append(s.found, f)
	at, _ := slices.BinarySearchFunc(s.best, f, byRank)
	if at < s.want {
		s.best = slices.Insert(s.best, at, f)
		s.best = s.best[:min(len(s.best), s.want)]
	}
	return nil
}

// byRank orders fillings, best first, and equal ones by what they are.
func byRank(a, b *filled) int {
	return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(a.key, b.key))
}

// watch tells of the progress.
func (s *Seeker) watch() error {
	if s.p.Opt.Watch.Progress == nil {
		return nil
	}
	n := len(s.best)
	if !s.p.Opt.Results.All {
		n = min(n, s.p.Opt.Results.Top)
	}
	pr := request.Progress{Rows: s.Rows.Asked(), Best: make([]request.Filling, n)}
	for i := range pr.Best {
		pr.Best[i] = s.best[i].text
	}
	return s.p.Opt.Watch.Progress(pr)
}

// keyOf names a filling among all parts.
func (pt *seekPart) keyOf(x []int32) string {
	return string(binary.AppendUvarint(nil, uint64(pt.number))) + text.IDsKey(x)
}

// guesses is a heap of fillings with the best guess on top, and of equal ones the first by their
// keys.
type guesses []*filled

func (g guesses) Len() int { return len(g) }

func (g guesses) Swap(a, b int) { g[a], g[b] = g[b], g[a] }

func (g *guesses) Push(f any) { *g = append(*g, f.(*filled)) }

func (g guesses) Less(a, b int) bool {
	return g[a].guess > g[b].guess || g[a].guess == g[b].guess && g[a].key < g[b].key
}

// Pop implements heap.Interface.
func (g *guesses) Pop() any {
	f := (*g)[len(*g)-1]
	*g = (*g)[:len(*g)-1]
	return f
}
