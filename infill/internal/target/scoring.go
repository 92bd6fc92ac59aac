package target

import (
	"context"
	"slices"

	"infill/infill/internal/recall"
	"infill/infill/request"
	"infill/infill/text"
	"infill/mlm"
)

// A ScoreTerm is weight · log f(token at | the others, with those from … to−1 masked). Places are
// numbers of a layout's masks.
type ScoreTerm struct {
	At, From, To int
	U, l, r      float64 // 1 in each of the sums that it belongs to
}

// Weight is the part that a term has in a score.
func (t *ScoreTerm) Weight(s request.Scoring) float64 {
	return s.Of(request.Parts{PLL: t.U, Left: t.l, Right: t.r})
}

// ScoreTerms lists the terms of the scores of n tokens. Terms with the same context are one: the
// last of the chain from the left is the last of U, and that from the right ends with the first.
func ScoreTerms(n int, s request.Scoring) []ScoreTerm {
	var out []ScoreTerm
	for i := range n {
		out = append(out, ScoreTerm{At: i, From: i, To: i + 1, U: 1})
	}
	if s != request.ScoreBlended || n == 0 {
		return out
	}
	out[n-1].l, out[0].r = 1, 1
	for i := range n {
		if i < n-1 {
			out = append(out, ScoreTerm{At: i, From: i, To: n, l: 1})
		}
		if i > 0 {
			out = append(out, ScoreTerm{At: i, From: 0, To: i + 1, r: 1})
		}
	}
	return out
}

// Masked is a state with the tokens of a term's context masked, all but the one that is asked
// about, which whoever asks masks.
func (t *ScoreTerm) Masked(state []int32, mask int32) []int32 {
	out := slices.Clone(state)
	for i := t.From; i < t.To; i++ {
		if i != t.At {
			out[i] = mask
		}
	}
	return out
}

// Add adds the value of the term to sums.
func (t *ScoreTerm) Add(p *request.Parts, v float64) {
	p.PLL += t.U * v
	p.Left += t.l * v
	p.Right += t.r * v
}

// A TokenAsker says what a model says of single tokens, see [mlm.Model.TokenLogProb].
type TokenAsker interface {
	TokenLogProb(ctx context.Context, s *mlm.Sentence, states [][]int32, i []int,
		logProb []float32) error
}

// TermValues are the values of the terms of one state.
func TermValues(ctx context.Context, m TokenAsker, mask int32, s *mlm.Sentence, state []int32,
	terms []ScoreTerm) ([]float64, error) {
	asked, at := make([][]int32, len(terms)), make([]int, len(terms))
	for i := range terms {
		asked[i], at[i] = terms[i].Masked(state, mask), terms[i].At
	}
	lp, out := make([]float32, len(terms)), make([]float64, len(terms))
	err := m.TokenLogProb(ctx, s, asked, at, lp)
	for i, v := range lp {
		out[i] = float64(v)
	}
	return out, err
}

// partsOf computes the parts of the scores of states of one layout: those that the score needs, the
// others are 0. Every different question is asked once. n is the number of rows that this takes.
func partsOf(ctx context.Context, m TokenAsker, mask int32, s *mlm.Sentence, states [][]int32,
	score request.Scoring) (parts []request.Parts, n int, err error) {
	terms := ScoreTerms(len(s.Blanks), score)
	var asked [][]int32
	var at []int
	number, rows := map[string]int{}, map[string]bool{}
	which := make([]int, 0, len(states)*len(terms))
	for _, x := range states {
		for i := range terms {
			t := &terms[i]
			state := t.Masked(x, mask)
			key := text.IDsKey(append(slices.Clone(state), int32(t.At)))
			n, seen := number[key]
			if !seen {
				n = len(asked)
				number[key] = n
				asked, at = append(asked, state), append(at, t.At)
				hidden := append(slices.Clone(state), int32(t.At))
				hidden[t.At] = mask
				rows[text.IDsKey(hidden)] = true
			}
			which = append(which, n)
		}
	}
	lp := make([]float32, len(asked))
	if err := m.TokenLogProb(ctx, s, asked, at, lp); err != nil {
		return nil, 0, err
	}
	out := make([]request.Parts, len(states))
	for k := range states {
		for i := range terms {
			terms[i].Add(&out[k], float64(lp[which[k*len(terms)+i]]))
		}
	}
	return out, len(rows), nil
}

// groups are states of several sentences, in the order in which the sentences came.
type groups struct {
	at   map[any]*group
	list []*group
}

// A group are states of one sentence, and their numbers.
type group struct {
	s      *mlm.Sentence
	who    []int
	states [][]int32
}

// add adds state number i of a sentence, which a key names.
func (g *groups) add(key any, s *mlm.Sentence, i int, state []int32) {
	of := g.at[key]
	if of == nil {
		if g.at == nil {
			g.at = map[any]*group{}
		}
		of = &group{s: s}
		g.at[key], g.list = of, append(g.list, of)
	}
	of.who, of.states = append(of.who, i), append(of.states, state)
}

// partsOf hands take the parts of the scores of grouped states.
func (t *Target) partsOf(ctx context.Context, m *recall.Recall, all *groups, by request.Scoring,
	take func(i int, p request.Parts)) (rows int, err error) {
	for _, g := range all.list {
		ps, n, err := partsOf(ctx, m, t.Tokenizer().MaskID(), g.s, g.states, by)
		if err != nil {
			return 0, err
		}
		rows += n
		for j, i := range g.who {
			take(i, ps[j])
		}
	}
	return rows, nil
}

// Parts computes the parts of the scores of states, in nats. rows is the number of rows that they
// take.
func (t *Target) Parts(ctx context.Context, m *recall.Recall, x [][]int32, score request.Scoring) (
	out []request.Parts, rows int, err error) {
	var all groups
	for k := range x {
		l := t.LayoutOf(x[k], nil)
		all.add(l, l.Sentence, k, t.Tokens(nil, l, x[k], -1, -1))
	}
	out = make([]request.Parts, len(x))
	rows, err = t.partsOf(ctx, m, &all, score, func(i int, p request.Parts) {
		out[i], out[i].Length = p, t.LengthPart(t.LayoutOf(x[i], nil).Lengths)
	})
	return out, rows, err
}
