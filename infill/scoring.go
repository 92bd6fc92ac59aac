package infill

import (
	"context"
	"slices"

	"infill/infill/internal/recall"
	"infill/infill/internal/space"
	"infill/infill/text"
	"infill/mlm"
)

// Scoring names the score that ranks fillings. Scores are sums of log f(token | a context) over the
// tokens of all blanks, in nats. They differ in what the context shows of the other filled tokens.
type Scoring int

const (
	// ScoreBlended is ½U + ¼L + ¼R. U is the pseudo-log-likelihood. L is the chain rule from the
	// left, where a token sees the filled ones before it and masks in place of those after it, and R
	// is that from the right. U alone likes words that only support each other, and gives the later
	// pieces of a word for nothing (Kauf and Ivanova, "A better way to do masked language model
	// scoring", ACL 2023). Blanks of open lengths add Parts.Length to it.
	ScoreBlended Scoring = iota
	// ScorePLL is U, the pseudo-log-likelihood (Salazar et al., "Masked language model scoring", ACL
	// 2020): a token sees all others.
	ScorePLL
	// ScoreWithinWord is U with the later pieces of the same word masked too: PLL-word-l2r of Kauf
	// and Ivanova. It is for whole texts, see [Engine.ScoreText].
	ScoreWithinWord

	numScorings
)

// Names lists the words for the values of Scoring, in their order.
func (Scoring) Names() []string { return slices.Clone(scoringNames) }

var scoringNames = []string{"blended", "pll", "within-word"}

// String returns the word of Names.
func (s Scoring) String() string { return nameOf(scoringNames, "scoring", s) }

// The weights of ScoreBlended.
const (
	blendU    = 0.5
	blendSide = 0.25
)

// Parts are the sums that a score is made of, in nats.
type Parts struct {
	PLL   float64 `json:"pll"`   // U
	Left  float64 `json:"left"`  // L, the chain rule from the left
	Right float64 `json:"right"` // R, the chain rule from the right
	// Length is, where a blank's number of pieces n is open, log P(n | text) + ¾·n, summed over the
	// blanks. Otherwise it is 0.
	Length float64 `json:"length,omitempty"`

	finished bool // of the finished text, as the tokenizer cuts it
}

// A scoreTerm is weight · log f(token at | the others, with those from … to−1 masked). Places are
// numbers of a layout's masks.
type scoreTerm struct {
	at, from, to int
	u, l, r      float64 // 1 in each of the sums that it belongs to
}

// weight is the part that a term has in a score.
func (t *scoreTerm) weight(s Scoring) float64 {
	if s != ScoreBlended {
		return t.u
	}
	return blendU*t.u + blendSide*(t.l+t.r)
}

// scoreTerms lists the terms of the scores of n tokens. Terms with the same context are one: the
// last of the chain from the left is the last of U, and that from the right ends with the first.
func scoreTerms(n int, s Scoring) []scoreTerm {
	var out []scoreTerm
	for i := range n {
		out = append(out, scoreTerm{at: i, from: i, to: i + 1, u: 1})
	}
	if s != ScoreBlended || n == 0 {
		return out
	}
	out[n-1].l, out[0].r = 1, 1
	for i := range n {
		if i < n-1 {
			out = append(out, scoreTerm{at: i, from: i, to: n, l: 1})
		}
		if i > 0 {
			out = append(out, scoreTerm{at: i, from: 0, to: i + 1, r: 1})
		}
	}
	return out
}

// masked is a state with the tokens of a term's context masked, all but the one that is asked
// about, which whoever asks masks.
func (t *scoreTerm) masked(state []int32, mask int32) []int32 {
	out := slices.Clone(state)
	for i := t.from; i < t.to; i++ {
		if i != t.at {
			out[i] = mask
		}
	}
	return out
}

// add adds the value of a term to the sums.
func (p *Parts) add(t *scoreTerm, v float64) {
	p.PLL += t.u * v
	p.Left += t.l * v
	p.Right += t.r * v
}

// A tokenAsker says what a model says of single tokens, see [mlm.Model.TokenLogProb].
type tokenAsker interface {
	TokenLogProb(ctx context.Context, s *mlm.Sentence, states [][]int32, i []int,
		logProb []float32) error
}

// termValues are the values of the terms of one state.
func termValues(ctx context.Context, m tokenAsker, mask int32, s *mlm.Sentence, state []int32,
	terms []scoreTerm) ([]float64, error) {
	asked, at := make([][]int32, len(terms)), make([]int, len(terms))
	for i := range terms {
		asked[i], at[i] = terms[i].masked(state, mask), terms[i].at
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
func partsOf(ctx context.Context, m tokenAsker, mask int32, s *mlm.Sentence, states [][]int32,
	score Scoring) (parts []Parts, n int, err error) {
	terms := scoreTerms(len(s.Blanks), score)
	var asked [][]int32
	var at []int
	number, rows := map[string]int{}, map[string]bool{}
	which := make([]int, 0, len(states)*len(terms))
	for _, x := range states {
		for i := range terms {
			t := &terms[i]
			state := t.masked(x, mask)
			key := text.IDsKey(append(slices.Clone(state), int32(t.at)))
			n, seen := number[key]
			if !seen {
				n = len(asked)
				number[key] = n
				asked, at = append(asked, state), append(at, t.at)
				hidden := append(slices.Clone(state), int32(t.at))
				hidden[t.at] = mask
				rows[text.IDsKey(hidden)] = true
			}
			which = append(which, n)
		}
	}
	lp := make([]float32, len(asked))
	if err := m.TokenLogProb(ctx, s, asked, at, lp); err != nil {
		return nil, 0, err
	}
	out := make([]Parts, len(states))
	for k := range states {
		for i := range terms {
			out[k].add(&terms[i], float64(lp[which[k*len(terms)+i]]))
		}
	}
	return out, len(rows), nil
}

// parts computes the parts of the scores of states, in nats. rows is the number of rows that they
// take.
func (t *target) parts(ctx context.Context, m *recall.Recall, x [][]int32, score Scoring) (
	out []Parts, rows int, err error) {
	byLayout := map[*space.Layout][]int{}
	var order []*space.Layout
	for k := range x {
		l := t.LayoutOf(x[k], nil)
		if byLayout[l] == nil {
			order = append(order, l)
		}
		byLayout[l] = append(byLayout[l], k)
	}
	out = make([]Parts, len(x))
	for _, l := range order {
		states := make([][]int32, len(byLayout[l]))
		for j, k := range byLayout[l] {
			states[j] = t.Tokens(nil, l, x[k], -1, -1)
		}
		ps, n, err := partsOf(ctx, m, t.Tokenizer().MaskID(), l.Sentence, states, score)
		if err != nil {
			return nil, 0, err
		}
		rows += n
		for j, k := range byLayout[l] {
			out[k] = ps[j]
			out[k].Length = t.length
		}
	}
	return out, rows, nil
}

// of is the score of parts.
func (s Scoring) of(p Parts) float64 {
	if s == ScoreBlended {
		return blendU*p.PLL + blendSide*(p.Left+p.Right) + p.Length
	}
	return p.PLL
}
