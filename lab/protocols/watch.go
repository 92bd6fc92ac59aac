package protocols

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"infill/infill"
	"infill/infill/text"
	"infill/lab/internal/chains"
	"infill/tokenize"
)

// A watcher follows the chains of a run from random words: whether they have arrived, and in which
// states they were on the way.
type watcher struct {
	trace chains.Trace
	tok   *tokenize.Tokenizer
	text  string // with [MASK] in its blanks. Each takes one token
}

// watch has the options tell a watcher of every step, with U.
func watch(tok *tokenize.Tokenizer, t *text.Template, opt *infill.Options) *watcher {
	w := &watcher{tok: tok, text: t.Text}
	opt.Watch.TraceEnergies = true
	opt.Watch.Trace = func(s infill.Step) error {
		w.trace.Add(s)
		return nil
	}
	return w
}

// rhat is the rank-normalised R-hat of U up to a step, without the first half of the steps.
func (w *watcher) rhat(step int) float64 {
	var u [][]float64
	for _, e := range w.trace.Energy {
		u = append(u, e[step/2+1:step+1])
	}
	return finite(chains.RankRHat(u))
}

// at is the run as it stood after a step.
func (w *watcher) at(whole *record, step int) *record {
	r := *whole
	r.Of, r.Steps, r.Made, r.RHat = whole.Steps, step, step, w.rhat(step)
	r.Seconds, r.Evals, r.Rows, r.Moves, r.States = 0, 0, 0, 0, nil // not known
	for k, tokens := range w.trace.Tokens {
		text, score := w.filled(tokens[step]), w.trace.Energy[k][step]
		i := slices.IndexFunc(r.States, func(s state) bool { return s.Text == text })
		if i < 0 {
			r.States = append(r.States, state{text, score, 1})
			continue
		}
		r.States[i].Count++
	}
	slices.SortStableFunc(r.States, func(a, b state) int { return cmp.Compare(b.Score, a.Score) })
	return &r
}

// filled puts tokens into the blanks.
func (w *watcher) filled(tokens []int32) string {
	text := w.text
	for _, id := range tokens {
		text = strings.Replace(text, w.tok.Token(w.tok.MaskID()), w.tok.Token(id), 1)
	}
	return text
}

// finite is v, or 0 in place of what JSON cannot write.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}
