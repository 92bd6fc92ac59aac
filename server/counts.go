package server

import (
	"cmp"
	"context"
	"math"
	"slices"

	"infill/infill"
	"infill/infill/text"
	"infill/mlm"
	"infill/tokenize"
)

// counts counts the words of every blank.
type counts struct {
	tok    *tokenize.Tokenizer
	burnin int
	kept   int // states that were counted
	blanks []map[string]int
}

// add counts the states of a step after the burn-in and makes an event of the step.
func (c *counts) add(st infill.Step) *stepEvent {
	f := &stepEvent{Step: st.Step, Moved: make([]bool, len(st.Energy))}
	copy(f.Moved, st.Accepted)
	for k, proposed := range st.Proposed {
		if proposed {
			f.proposed++
		}
		if st.Accepted[k] {
			f.accepted++
		}
	}
	for k, u := range st.Energy {
		if math.IsNaN(u) || math.IsInf(u, 0) {
			f.Energy = append(f.Energy, nil)
		} else {
			f.Energy = append(f.Energy, &u)
		}
		words := c.spelt(st.Tokens(k), st.Starts(k))
		f.Tokens = append(f.Tokens, words)
		if st.Step <= c.burnin && st.Step > 0 || st.Step == 0 && c.burnin > 0 {
			continue
		}
		c.kept++
		for b, word := range words {
			for len(c.blanks) <= b {
				c.blanks = append(c.blanks, map[string]int{})
			}
			c.blanks[b][word]++
		}
	}
	return f
}

// spelt are the words of every blank.
func (c *counts) spelt(ids []int32, starts []int) []string {
	out := make([]string, len(starts))
	for b, from := range starts {
		to := len(ids)
		if b+1 < len(starts) {
			to = starts[b+1]
		}
		out[b] = text.Word(c.tok, ids[from:to])
	}
	return out
}

// words are the most frequent words of every blank.
func (c *counts) words() [][]countedWord {
	out := make([][]countedWord, len(c.blanks))
	for b, words := range c.blanks {
		for token, n := range words {
			out[b] = append(out[b], countedWord{token, n, float64(n) / float64(c.kept)})
		}
		slices.SortFunc(out[b], func(x, y countedWord) int {
			return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Token, y.Token))
		})
		out[b] = out[b][:min(len(out[b]), countedWords)]
	}
	return out
}

// alone are the likeliest words of every blank when all blanks are masked, one token each.
func alone(ctx context.Context, m *mlm.Model, t *text.Template) ([][]aloneWord, error) {
	probs, err := independent(ctx, m, t)
	if err != nil {
		return nil, err
	}
	tok := m.Tokenizer()
	out := make([][]aloneWord, len(probs))
	for b := range probs {
		for _, id := range likeliest(probs[b], aloneWords) {
			word, p := text.Word(tok, []int32{id}), math.Exp(float64(probs[b][id]))
			same := func(a aloneWord) bool { return a.Token == word }
			if i := slices.IndexFunc(out[b], same); i >= 0 { // with another mark
				out[b][i].P += p
			} else {
				out[b] = append(out[b], aloneWord{word, p})
			}
		}
	}
	return out, nil
}
