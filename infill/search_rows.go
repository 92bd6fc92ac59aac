package infill

import (
	"context"
	"sync"

	"infill/internal/gate"
	"infill/mlm"
)

// A rowSource has the rows of one search. It asks for each once, and counts them.
type rowSource struct {
	model   *recall
	context int // pieces that a row sees at most, special tokens included; 0: all
	rows    map[string]*searchRow
	seen    map[string]bool // rows that were asked for
	windows map[windowKey]*rowWindow
	cut     bool // a row saw a part of its text
	most    int  // rows to hold
}

// keptRows bounds the rows that a search holds, at about 120 kB each. What was dropped is asked for
// again, mostly from the memo, and not counted again.
const keptRows = 512

func newRowSource(m *recall, context int) *rowSource {
	return &rowSource{model: m, context: context, most: keptRows, rows: map[string]*searchRow{},
		seen: map[string]bool{}, windows: map[windowKey]*rowWindow{}}
}

// asked is the number of different rows that were asked for.
func (s *rowSource) asked() int { return len(s.seen) }

// A searchRow is what the model says of a masked place.
type searchRow struct {
	wide []float32
	kept *kept
}

func (r *searchRow) value(id int32) float64 { return float64(r.kept.value(r.wide, id)) }

// A rowAsk asks for the row of a place.
type rowAsk struct {
	key   string
	win   *rowWindow
	state []int32 // tokens of the window's masks
	at    int     // the one that is asked about
	model *recall // with the tokens that are kept
}

// A rowWindow is the part of a sequence around a place that its row sees.
type rowWindow struct {
	s        *mlm.Sentence
	from, to int // of the masks of the sequence, those in the window
}

type windowKey struct {
	s  *mlm.Sentence
	at int
}

// ask makes the question for the row of mask number at, in a state of a sequence.
func (s *rowSource) ask(sentence *mlm.Sentence, state []int32, at int, m *recall) *rowAsk {
	w := s.window(sentence, at)
	a := &rowAsk{win: w, state: state[w.from:w.to], at: at - w.from, model: m}
	a.key = string(contextKey(nil, m.name(), w.s, a.state, a.at, m.Tokenizer().MaskID()))
	return a
}

// window is what the row of a mask sees.
func (s *rowSource) window(sentence *mlm.Sentence, at int) *rowWindow {
	key := windowKey{sentence, at}
	w := s.windows[key]
	if w == nil {
		w = cutWindow(sentence, at, s.context)
		s.windows[key] = w
	}
	s.cut = s.cut || len(w.s.IDs) < len(sentence.IDs)
	return w
}

// cutWindow is the part of a sequence of at most limit pieces around a mask, the special tokens at
// both ends included.
func cutWindow(s *mlm.Sentence, at, limit int) *rowWindow {
	n := len(s.IDs)
	if limit <= 0 || n <= limit {
		return &rowWindow{s: s, to: len(s.Blanks)}
	}
	width := limit - 2
	a := min(max(1, s.Blanks[at]-width/2), n-1-width)
	w := &rowWindow{s: &mlm.Sentence{}}
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

// row is one that was fetched.
func (s *rowSource) row(a *rowAsk) *searchRow { return s.rows[a.key] }

// known reports whether a row was asked for before.
func (s *rowSource) known(a *rowAsk) bool { return s.seen[a.key] }

// fetch has the rows of questions evaluated, as far as they are not there.
func (s *rowSource) fetch(ctx context.Context, asks []*rowAsk) error {
	if len(s.rows) > s.most {
		clear(s.rows)
	}
	type group struct {
		win  *rowWindow
		asks []*rowAsk
	}
	var groups []*group
	at := map[*rowWindow]*group{}
	mine := map[string]bool{}
	for _, a := range asks {
		if s.rows[a.key] != nil || mine[a.key] {
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
		return g.asks[0].model.RowsAt(ctx, g.win.s, states, places, func(j int, row modelRow) {
			mu.Lock()
			defer mu.Unlock()
			s.rows[g.asks[j].key] = &searchRow{row.wide, row.kept}
		})
	})
}
