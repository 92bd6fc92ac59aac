package infill

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"infill/infill/internal/chains"
	"infill/infill/internal/choosing"
	"infill/infill/internal/target"
	"infill/infill/text"
	"infill/mlm"
)

// maxExactRows bounds the rows of the model that computing π may take. All single tokens of a blank
// take one row together, a phrase of n tokens takes n. Of tied blanks each takes a row for every
// token of every filling. Terms take Term.Rows of every filling. A blank that would take more is
// searched or sampled: 25 chains of 20 steps take about as many rows of their own.
const maxExactRows = 2048

// onlyOf is the target of a template whose states are the values of one coordinate, few enough to
// evaluate all of them. Otherwise it is nil.
func onlyOf(p *target.Task) *target.Target {
	t := p.Choices[0].Target
	if p.Opt.Method == MethodSample || p.Open > 0 || len(t.Coords) != 1 ||
		exactRows(t, p.Opt.Results.Score)+t.Coords[0].K()*t.Extra.Rows() > maxExactRows {
		return nil
	}
	return t
}

// exact is a task whose states are the values of the one coordinate of a target.
type exact struct {
	*choosing.Chooser
	t *target.Target
}

// fill evaluates every state and takes the fillings from
// π(v) = exp(S(v)/T) / Σ exp(S/T), the sum over all states that the constraints allow, for their
// scores S. With ScorePLL that is the π of samplers.
func (p *exact) fill(ctx context.Context) (*Result, error) {
	t, err := p.Unrounded(ctx, p.t)
	if err != nil {
		return nil, err
	}
	p.t = t
	score, parts, rows, err := t.Scores(ctx, t.Model.Counting(), p.Opt.Results.Score)
	if err != nil {
		return nil, err
	}
	res, err := p.weigh(ctx, score, parts)
	if err != nil {
		return nil, err
	}
	res.Rows, res.Fresh = rows, p.Asked.FreshOf(rows)
	if err := p.Energies(ctx, res.Fillings); err != nil {
		return nil, err
	}
	res.Evaluated = p.Asked.Evaluated()
	return res, nil
}

// exactRows is at most how many rows the scores of all states of the one coordinate take. A single
// token's score is an entry of the blank's row, which has all tokens at once. Tied blanks see each
// other filled, so there every token needs rows of its own.
func exactRows(t *target.Target, score Scoring) int {
	c, tied := &t.Coords[0], len(t.Groups[0].Blanks)
	perState := func(tokens int) int { // what no other state shares
		if n := tokens * tied; score == ScorePLL || n < 2 {
			return n
		} else {
			return n + 2*(n-2)
		}
	}
	ends := func(tokens int) int { // the first of each chain rule, which all states share
		if score == ScorePLL || tokens*tied < 2 {
			return 0
		}
		return 2
	}
	if c.Slot >= 0 && tied > 1 {
		return len(c.IDs)*perState(1) + ends(1)
	}
	n, single := 0, c.Slot >= 0
	for _, p := range c.Phrases {
		if len(p.IDs) == 1 && tied == 1 {
			single = true
			continue
		}
		n += perState(len(p.IDs))
	}
	for _, l := range c.Lengths {
		n += ends(l)
	}
	if single {
		n++
	}
	return n
}

// weigh makes the result of the scores of all states, in nats, and of their parts.
func (p *exact) weigh(ctx context.Context, u []float64, parts []Parts) (*Result, error) {
	t := p.t
	best, refused, err := bestOf(t, u)
	if err != nil {
		return nil, err
	}
	texts := textsOf(t, u, best, p.Opt.Results.AsModel)
	res := p.NewResult()
	res.Exact, res.Distinct = true, len(texts)
	res.Method = MethodExact
	res.Stats.NonFinite = refused
	if res.Fillings, err = p.likeliest(ctx, texts, u, parts); err != nil {
		return nil, err
	}
	if len(res.Fillings) == 0 {
		return nil, p.Sieve.Err()
	}
	if res.Ranks, err = ranksOf(t, texts, p.Opt.Results.Rank); err != nil {
		return nil, err
	}
	if p.Opt.Results.Marginals {
		// They are of all states, as in chains, also of fillings that a filter or Top leaves out.
		first := make([]Filling, min(chains.Listed(p.Opt), len(texts)))
		for i := range first {
			first[i] = t.Spell([]int32{int32(texts[i].v)}, p.Opt.Results.AsModel)
			first[i].Probability = texts[i].share
		}
		res.Marginals = chains.ExactMarginals(len(t.Template.Blanks), first, res.Distinct)
	}
	p.Choose(res, func(f []Filling) {
		slices.SortStableFunc(f, func(a, b Filling) int {
			return cmp.Or(cmp.Compare(b.Probability, a.Probability), cmp.Compare(b.Score, a.Score))
		})
	})
	choosing.WarnRefused(res, refused, "fillings")
	return res, nil
}

// ranksOf are the places of words among the texts. A word that differs in case only counts where
// none is spelt so.
func ranksOf(t *target.Target, texts []weighted, words []string) ([]WordRank, error) {
	var out []WordRank
	for _, word := range words {
		at := -1
		for i, w := range texts {
			if is := t.Word([]int32{int32(w.v)}, 0); is == word {
				at = i
				break
			} else if at < 0 && strings.EqualFold(is, word) {
				at = i
			}
		}
		if at < 0 {
			return nil, fmt.Errorf("%w: the rank of %q: it is not among the %d words that the blank may "+
				"take, each of one piece unless they are listed", text.ErrOption, word, len(texts))
		}
		out = append(out, WordRank{Word: word, Rank: at + 1, Of: len(texts),
			Probability: texts[at].share})
	}
	return out, nil
}

// bestOf sets scores that are not numbers to −∞. It returns the best score and how many these are.
func bestOf(t *target.Target, u []float64) (best float64, refused int, err error) {
	best = math.Inf(-1)
	for v := range u {
		if math.IsNaN(u[v]) || math.IsInf(u[v], 1) {
			refused++
			u[v] = math.Inf(-1)
		}
		best = max(best, u[v])
	}
	blank := t.Groups[0].Blanks[0]
	switch {
	case !math.IsInf(best, -1):
	case refused > 0:
		err = t.Extra.Blame(fmt.Errorf("blank %d: %w: no filling has a finite score", blank+1,
			mlm.ErrNotFinite))
	default:
		err = t.Template.Unfillable(blank,
			"no filling that the blank may take meets all constraints")
	}
	return best, refused, err
}

// likeliest spells the fillings that the filter lets pass, in the order of the texts, and no more
// than are wanted.
func (p *exact) likeliest(ctx context.Context, texts []weighted, u []float64,
	parts []Parts) ([]Filling, error) {
	var out []Filling
	for some := range slices.Chunk(texts, p.Sieve.AtOnce()) {
		spelt := make([]Filling, len(some))
		for i, w := range some {
			f := p.t.Spell([]int32{int32(w.v)}, p.Opt.Results.AsModel)
			f.Score, f.Parts, f.Probability = u[w.v], parts[w.v], w.share
			f.ScorePerToken = f.Score / float64(len(f.IDs))
			spelt[i] = f
		}
		passed, err := p.Sieve.Pass(ctx, spelt)
		if err != nil {
			return nil, err
		}
		out = append(out, p.Sieve.Undropped(passed)...)
		r := &p.Opt.Results
		if n := r.Top; !r.All && n <= len(out) && !r.Diverse {
			return out[:n], nil // the others need not be spelt
		}
	}
	return out, nil
}

// weighted is a text by the likeliest state that makes it, and the share of all states that do.
type weighted struct {
	v     int
	share float64
}

// textsOf returns the different texts of the states, the likeliest first. best is the largest U.
// Almost all states make a text of their own. Only those are spelt whose words are alike
// but for their case.
func textsOf(t *target.Target, u []float64, best float64, asModel bool) []weighted {
	keys := make([]string, len(u))
	alike := map[string]int{}
	for v := range u {
		keys[v] = strings.ToLower(t.Word([]int32{int32(v)}, 0))
		alike[keys[v]]++
	}
	var out []weighted
	at := map[string]int{}
	sum := 0.0
	for v := range u {
		if math.IsInf(u[v], -1) {
			continue
		}
		key := keys[v]
		if alike[key] > 1 {
			key = "\x00" + t.Spell([]int32{int32(v)}, asModel).Text
		}
		w := math.Exp((u[v] - best) / t.Temp)
		sum += w
		i, seen := at[key]
		if !seen {
			at[key] = len(out)
			out = append(out, weighted{v, w})
			continue
		}
		out[i].share += w
		if u[v] > u[out[i].v] {
			out[i].v = v
		}
	}
	for i := range out {
		out[i].share /= sum
	}
	slices.SortStableFunc(out, func(a, b weighted) int { // by U, too: T is very low or very high
		return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(u[b.v], u[a.v]))
	})
	return out
}
