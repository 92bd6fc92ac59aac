package recall

import (
	"context"
	"sync"

	"infill/internal/gate"
	"infill/mlm"
)

// A Source has the rows of one search. It asks for each once, and counts them (Recall.Counting).
type Source struct {
	model   *Recall
	context int // pieces that a row sees at most, special tokens included; 0: all
	rows    map[string]Row
	seen    map[string]bool // rows that were asked for
	windows map[windowKey]*window
	cut     bool // a row saw a part of its text
	Most    int  // rows to hold
}

// keptRows bounds the rows that a search holds, at about 120 kB each. What was dropped is asked for
// again, mostly from the memo, and not counted again.
const keptRows = 512

// Source is the rows of one search, each of at most context pieces, 0 for all.
func (r *Recall) Source(context int) *Source {
	return &Source{model: r, context: context, Most: keptRows, rows: map[string]Row{},
		seen: map[string]bool{}, windows: map[windowKey]*window{}}
}

// Asked is the number of different rows that were asked for.
func (s *Source) Asked() int { return len(s.seen) }

// An Ask is a question for the row of a place.
type Ask struct {
	key   string
	win   *window
	state []int32 // tokens of the window's masks
	at    int     // the one that is asked about
	model *Recall // with the tokens that are kept
}

// A window is the part of a sequence around a place that its row sees.
type window struct {
	s        *mlm.Sentence
	from, to int // of the masks of the sequence, those in the window
}

type windowKey struct {
	s  *mlm.Sentence
	at int
}

// Ask makes the question for the row of mask number at, in a state of a sequence.
func (s *Source) Ask(sentence *mlm.Sentence, state []int32, at int, m *Recall) *Ask {
	w := s.window(sentence, at)
	a := &Ask{win: w, state: state[w.from:w.to], at: at - w.from, model: m}
	a.key = string(contextKey(nil, m.name(), w.s, a.state, a.at, m.mask))
	return a
}

// window is what the row of a mask sees.
func (s *Source) window(sentence *mlm.Sentence, at int) *window {
	key := windowKey{sentence, at}
	w := s.windows[key]
	if w == nil {
		w = cutWindow(sentence, at, s.context)
		s.windows[key] = w
	}
	s.cut = s.cut || len(w.s.IDs) < len(sentence.IDs)
	return w
}

// Around is the part of a sequence that a row of at most limit pieces sees around some of its
// masks, those from number first on. The second result is the number of the first among the part's.
func Around(s *mlm.Sentence, first, masks, limit int) (*mlm.Sentence, int) {
	w := cutWindow(s, first+masks/2, limit)
	return w.s, first - w.from
}

// cutWindow is the part of a sequence of at most limit pieces around a mask, the special tokens at
// both ends included.
func cutWindow(s *mlm.Sentence, at, limit int) *window {
	n := len(s.IDs)
	if limit <= 0 || n <= limit {
		return &window{s: s, to: len(s.Blanks)}
	}
	width := limit - 2
	a := min(max(1, s.Blanks[at]-width/2), n-1-width)
	w := &window{s: &mlm.Sentence{}}
	w.s.IDs = append(w.s.IDs, s.IDs[0])
	w.s.IDs = append(w.s.IDs, s.IDs[a:a+width]...)
	w.s.IDs = append(w.s.IDs, s.IDs[n-1])
	for i, p := range s.Blanks {
		switch {
		case p < a:
			w.from = i + 1
		case p < a+width:
			w.s.Blanks = append(w.s.Blanks, p-a+1)
		}
	}
	w.to = w.from + len(w.s.Blanks)
	return w
}

// Row is one that was fetched. held is false where it is not held any more.
func (s *Source) Row(a *Ask) (row Row, held bool) {
	row, held = s.rows[a.key]
	return row, held
}

// Narrowed reports whether a row saw a part of its text.
func (s *Source) Narrowed() bool { return s.cut }

// Known reports whether a row was asked for before.
func (s *Source) Known(a *Ask) bool { return s.seen[a.key] }

// Fetch has the rows of questions evaluated, as far as they are not there.
func (s *Source) Fetch(ctx context.Context, asks []*Ask) error {
	if len(s.rows) > s.Most {
		clear(s.rows)
	}
	type group struct {
		win  *window
		asks []*Ask
	}
	var groups []*group
	at := map[*window]*group{}
	mine := map[string]bool{}
	for _, a := range asks {
		if _, held := s.rows[a.key]; held || mine[a.key] {
			continue
		}
		mine[a.key] = true
		s.seen[a.key] = true
		g := at[a.win]
		if g == nil {
			g = &group{win: a.win}
			at[a.win] = g
			groups = append(groups, g)
		}
		g.asks = append(g.asks, a)
	}
	var mu sync.Mutex
	return gate.Each(ctx, len(groups), func(ctx context.Context, i int) error {
		g := groups[i]
		states, places := make([][]int32, len(g.asks)), make([]int, len(g.asks))
		for j, a := range g.asks {
			states[j], places[j] = a.state, a.at
		}
		return g.asks[0].model.Counting().RowsAt(ctx, g.win.s, states, places, func(j int, row Row) {
			mu.Lock()
			defer mu.Unlock()
			s.rows[g.asks[j].key] = row
		})
	})
}
