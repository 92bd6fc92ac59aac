package infill

import (
	"context"
	"fmt"
	"math"
	"sort"

	"infill/infill/text"
	"infill/mlm"
	"infill/samplers"
)

// diversityWeight is λ of ResultOptions.Diverse, in nats per token. The first filling
// is the best; each further one maximises
//
//	score / n − λ · (largest overlap with a filling already chosen)
//
// where n is the number of tokens of the best filling, or of each itself where fillings are ranked
// per token, and the overlap of two fillings is the number of tokens they share (with
// multiplicity) over the number of tokens of the longer one, from 0 to 1. This
// is maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998) with
// shared tokens for similarity: a filling that repeats all tokens of another
// has to be λ nats per token better than one that repeats none.
const diversityWeight = 2.0

// result ranks the states that were taken. Equal energies keep their order, so that the ranking is
// a function of the run.
func (p *plan) result(ctx context.Context, kept samplers.Stats, taken []*sighting) (*Result,
	error) {
	res := p.newResult()
	res.MoveShare, res.Acceptance, res.Stats = kept.MoveShare(), kept.Acceptance(), kept
	res.Shortlist = p.opt.Sampling.Shortlist
	for _, pt := range p.parts {
		res.Stats.Add(pt.burnt)
	}
	at := map[string]int{}
	var first []*sighting // of each filling
	for _, s := range taken {
		f := s.tgt.spell(s.x, p.opt.Results.AsModel)
		if i, ok := at[f.Text]; ok {
			first[i].join(s)
			continue
		}
		at[f.Text] = len(first)
		f.Score = s.score + s.tgt.length
		f.Parts.PLL, f.Parts.Length = s.score, s.tgt.length // less the terms, see energies
		f.ScorePerToken = f.Score / float64(len(f.ids))
		first = append(first, s)
		res.Fillings = append(res.Fillings, f)
	}
	for i, s := range first {
		f := &res.Fillings[i]
		f.Chain, f.Step, f.Count = s.chain, s.step, s.count
		if p.opt.Results.Collect == CollectVisited {
			f.Count = s.seenBy()
		}
	}
	res.Distinct = len(res.Fillings)
	if p.opt.Results.Collect == CollectVisited {
		res.Distinct = max(res.Distinct, p.seen.Total())
	}
	res.LeftOut = p.leftOut(len(taken))
	res.Method = MethodSample
	states := make([]placed, len(first))
	for i, s := range first {
		states[i] = placed{s.tgt, s.x}
	}
	stateOf := statesOf(res.Fillings, states)
	var err error
	if res.Fillings, err = p.sieve.pass(ctx, res.Fillings); err != nil {
		return nil, err
	}
	if err := p.rescore(ctx, res, stateOf, false); err != nil {
		return nil, err
	}
	if len(res.Fillings) == 0 {
		return nil, p.sieve.err()
	}
	p.choose(res, func(f []Filling) { rank(f, p.perToken) })
	res.Tuned = p.tuning()
	res.refused(res.Stats.NonFinite, "proposals or neighbours")
	return res, nil
}

// newResult is a result without fillings.
func (p *plan) newResult() *Result {
	res := &Result{MoveShare: math.NaN(), Acceptance: math.NaN(), perToken: p.perToken,
		Lengths: p.lengthsFrom}
	if p.sieve != nil {
		res.OriginalScore = p.sieve.score
	}
	if p.t.Window != [2]int{0, len(p.t.Text)} {
		w := p.t.Window
		res.Window = &w
	}
	return res
}

// choose keeps the fillings that Options.Results.Top and Options.Results.Diverse ask for, in the
// order of rank.
func (p *plan) choose(res *Result, rank func([]Filling)) {
	rank(res.Fillings)
	if n := p.opt.Results.Top; !p.opt.Results.All && len(res.Fillings) > n {
		if p.opt.Results.Diverse {
			res.Fillings = diverse(res.Fillings, n, p.perToken)
			rank(res.Fillings)
		}
		res.Fillings = res.Fillings[:n]
	}
	for i := range res.Fillings {
		res.Fillings[i].Recut = recut(p.whole, p.e.Tokenizer(), &res.Fillings[i])
	}
}

// refused warns of n things whose energy or gradient is not a number.
func (r *Result) refused(n int, what string) {
	if n > 0 {
		r.Warnings = append(r.Warnings, fmt.Errorf("%d %s were refused: %w", n, what, mlm.ErrNotFinite))
	}
}

// rank sorts fillings, best first.
func rank(f []Filling, perToken bool) {
	sort.SliceStable(f, func(a, b int) bool {
		if perToken {
			return f[a].ScorePerToken > f[b].ScorePerToken
		}
		return f[a].Score > f[b].Score
	})
}

// Chosen are the fillings in the order in which they were chosen, diverse as ResultOptions.Diverse
// has them.
func (r *Result) Chosen(different bool) []Filling {
	if different {
		return diverse(r.Fillings, len(r.Fillings), r.perToken)
	}
	return r.Fillings
}

// diverse chooses n of the ranked fillings as DiversityWeight says; of equals
// the better ranked goes first.
func diverse(f []Filling, n int, perToken bool) []Filling {
	if n == 0 {
		return nil
	}
	overlap := make([]float64, len(f)) // largest with a chosen one
	used := make([]bool, len(f))
	var out []Filling
	length := float64(len(f[0].ids))
	value := func(f *Filling) float64 {
		if perToken {
			return f.ScorePerToken
		}
		return f.Score / length
	}
	for len(out) < n {
		best, bestV := -1, 0.0
		for i := range f {
			v := value(&f[i]) - diversityWeight*overlap[i]
			if !used[i] && (best < 0 || v > bestV) {
				best, bestV = i, v
			}
		}
		used[best] = true
		out = append(out, f[best])
		for i := range f {
			overlap[i] = max(overlap[i], shared(f[i].ids, f[best].ids))
		}
	}
	return out
}

// shared is the overlap of two bags of tokens.
func shared(a, b []int32) float64 {
	count := map[int32]int{}
	for _, id := range a {
		count[id]++
	}
	n := 0
	for _, id := range b {
		if count[id] > 0 {
			count[id]--
			n++
		}
	}
	return float64(n) / float64(max(len(a), len(b)))
}

// spell writes out a state: text, tokens and spans.
func (t *target) spell(x []int32, asModel bool) Filling {
	tok := t.Tokenizer()
	words := make([]string, len(t.Template.Blanks))
	f := Filling{Tokens: make([]string, len(words)), Pieces: make([]string, len(words))}
	var asGiven []int
	for g := range t.Groups {
		ids, word := t.Filling(g, x, nil), t.Word(x, g)
		for _, b := range t.Groups[g].Blanks {
			words[b], f.Tokens[b], f.Pieces[b] = word, text.Word(tok, ids), tok.Spelling(ids)
		}
		if t.Coords[t.First[g]].AsGiven {
			asGiven = append(asGiven, t.Groups[g].Blanks...)
		}
	}
	l := t.LayoutOf(x, nil)
	f.ids, f.lengths = t.Tokens(nil, l, x, -1, -1), l.Lengths
	if asModel {
		f.Text, f.Spans = t.Template.Write(words)
	} else {
		f.Text, f.Spans = t.Template.Splice(words, asGiven...)
	}
	return f
}

// tuning is what the sampler adapted, mean over all chains.
func (p *plan) tuning() map[string]float64 {
	var mean map[string]float64
	for _, pt := range p.parts {
		for k := range pt.run.X {
			for name, v := range pt.run.Tuning(k) {
				if mean == nil {
					mean = map[string]float64{}
				}
				mean[name] += v
			}
		}
	}
	for name, sum := range mean {
		if n := float64(p.opt.Sampling.Chains); math.IsInf(sum, 0) {
			mean[name] = p.tuned(name, n) // what is finite has a finite mean
		} else {
			mean[name] /= n
		}
	}
	return mean
}

// tuned is the mean of a value over n chains, whose sum overflows.
func (p *plan) tuned(name string, n float64) float64 {
	mean := 0.0
	for _, pt := range p.parts {
		for k := range pt.run.X {
			mean += pt.run.Tuning(k)[name] / n
		}
	}
	return mean
}
