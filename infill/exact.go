package infill

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"infill/infill/internal/recall"
	"infill/infill/text"
	"infill/mlm"
)

// maxExactRows bounds the rows of the model that computing π may take. All single tokens of a
// blank take one row together, a phrase of n tokens takes n. Of tied blanks each takes a row for
// every token of every filling. Terms take Term.Rows of every filling. What would take more is
// searched or sampled: 25 chains of 20 steps take about as many rows of their own.
const maxExactRows = 2048

// only is the target of a template whose states are the values of one coordinate, few enough to
// evaluate all of them. Otherwise it is nil.
func (p *plan) only() *target {
	t := p.parts[0].tgt
	if p.opt.Method == MethodSample || len(p.gaps) > 0 || len(t.Coords) != 1 ||
		t.exactRows(p.opt.Results.Score)+t.Coords[0].K()*t.extra.rows() > maxExactRows {
		return nil
	}
	return t
}

// way is the method that fills the template.
func (p *plan) way() Method {
	switch {
	case p.only() != nil:
		return MethodExact
	case p.opt.Method == MethodSearch:
		return MethodSearch
	}
	return MethodSample
}

// exactRows is at most how many rows the scores of all states of the one coordinate take. A single
// token's score is an entry of what the model says of the blank, for all tokens at once. Tied
// blanks see each other filled, so there every token needs rows of its own.
func (t *target) exactRows(score Scoring) int {
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
func (p *plan) weigh(ctx context.Context, t *target, u []float64, parts []Parts) (*Result, error) {
	best, refused, err := t.bestOf(u)
	if err != nil {
		return nil, err
	}
	texts := t.texts(u, best, p.opt.Results.AsModel)
	res := p.newResult()
	res.Exact, res.Distinct = true, len(texts)
	res.Method = MethodExact
	res.Stats.NonFinite = refused
	if res.Fillings, err = p.likeliest(ctx, t, texts, u, parts); err != nil {
		return nil, err
	}
	if len(res.Fillings) == 0 {
		return nil, p.sieve.err()
	}
	if res.Ranks, err = t.ranks(texts, p.opt.Results.Rank); err != nil {
		return nil, err
	}
	if p.opt.Results.Marginals {
		// They are of all states, as those of chains are, also of what a filter or Top leaves out.
		first := make([]Filling, min(p.opt.listed(), len(texts)))
		for i := range first {
			first[i] = t.spell([]int32{int32(texts[i].v)}, p.opt.Results.AsModel)
			first[i].Probability = texts[i].share
		}
		res.Marginals = exactMarginals(len(t.Template.Blanks), first, res.Distinct)
	}
	p.choose(res, func(f []Filling) {
		sort.SliceStable(f, func(a, b int) bool {
			if f[a].Probability != f[b].Probability {
				return f[a].Probability > f[b].Probability
			}
			return f[a].Score > f[b].Score
		})
	})
	res.refused(refused, "fillings")
	return res, nil
}

// ranks are the places of words among the texts. A word that differs in case only counts where none
// is spelt so.
func (t *target) ranks(texts []weighted, words []string) ([]WordRank, error) {
	var out []WordRank
	for _, word := range words {
		at := -1
		for i, w := range texts {
			is := t.Word([]int32{int32(w.v)}, 0)
			if is == word {
				at = i
				break
			}
			if at < 0 && strings.EqualFold(is, word) {
				at = i
			}
		}
		if at < 0 {
			return nil, fmt.Errorf("%w: the rank of %q: it is not among the %d words that the blank may "+
				"take, each of one piece unless they are listed", text.ErrOption, word, len(texts))
		}
		out = append(out, WordRank{word, at + 1, len(texts), texts[at].share})
	}
	return out, nil
}

// bestOf sets scores that are not numbers to −∞. It returns the best score and how many these are.
func (t *target) bestOf(u []float64) (best float64, refused int, err error) {
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
		err = t.extra.blame(fmt.Errorf("blank %d: %w: no filling has a finite score", blank+1,
			mlm.ErrNotFinite))
	default:
		err = t.Template.Unfillable(blank,
			"no filling that the blank may take meets all constraints")
	}
	return best, refused, err
}

// likeliest spells the fillings that the filter lets pass, in the order of the texts, and no more
// than are wanted.
func (p *plan) likeliest(ctx context.Context, t *target, texts []weighted, u []float64,
	parts []Parts) ([]Filling, error) {
	var out []Filling
	for some := range slices.Chunk(texts, p.sieve.atOnce()) {
		spelt := make([]Filling, len(some))
		for i, w := range some {
			f := t.spell([]int32{int32(w.v)}, p.opt.Results.AsModel)
			f.Score, f.Parts, f.Probability = u[w.v], parts[w.v], w.share
			f.ScorePerToken = f.Score / float64(len(f.ids))
			spelt[i] = f
		}
		passed, err := p.sieve.pass(ctx, spelt)
		if err != nil {
			return nil, err
		}
		out = append(out, p.sieve.undropped(passed)...)
		r := &p.opt.Results
		if n := r.Top; !r.All && n <= len(out) && !r.Diverse {
			return out[:n], nil // the others need not be spelt
		}
	}
	return out, nil
}

// scores returns the score of every state of the one coordinate, in nats, its parts, and the number
// of rows that they take.
func (t *target) scores(ctx context.Context, m *recall.Recall, by Scoring) (u []float64,
	parts []Parts, rows int, err error) {
	c := &t.Coords[0]
	x := make([][]int32, c.K())
	u, parts = make([]float64, c.K()), make([]Parts, c.K())
	for v := range x {
		x[v] = []int32{int32(v)}
	}
	if c.Slot >= 0 && len(t.Groups[0].Blanks) == 1 {
		// All parts are what the model says of the blank.
		if err := t.masked(ctx, m, [][]int32{{0}}, []int{0}, [][]float64{u}, nil); err != nil {
			return nil, nil, 0, err
		}
		for v := range u {
			u[v] *= t.temp // which is in what masked says
			parts[v] = Parts{PLL: u[v], Left: u[v], Right: u[v]}
		}
		t.Forbid([]int32{0}, 0, u)
		rows, err := t.finish(ctx, m, x, u, parts, by)
		if err != nil {
			return nil, nil, 0, err
		}
		return u, parts, 1 + rows, t.addTerms(ctx, x, u, 1)
	}
	var valid []int
	var some [][]int32
	for v := range x {
		if u[v] = math.Inf(-1); t.Valid(x[v]) {
			valid, some = append(valid, v), append(some, x[v])
		}
	}
	ps, rows, err := t.parts(ctx, m, some, by)
	if err != nil {
		return nil, nil, 0, err
	}
	for j, v := range valid {
		u[v], parts[v] = by.of(ps[j]), ps[j]
	}
	more, err := t.finish(ctx, m, x, u, parts, by)
	if err != nil {
		return nil, nil, 0, err
	}
	return u, parts, rows + more, t.addTerms(ctx, x, u, 1)
}

// finish replaces scores by those of the finished texts, where fillings decide how the letters
// around them are cut.
func (t *target) finish(ctx context.Context, m *recall.Recall, x [][]int32, u []float64,
	parts []Parts, by Scoring) (rows int, err error) {
	if !t.touches() {
		return 0, nil
	}
	var spelt []*Filling
	var of []int
	for v := range x {
		if !math.IsInf(u[v], -1) && (t.Coords[0].Slot < 0 || isMark(t.Word(x[v], 0))) {
			f := t.spell(x[v], t.asModel)
			spelt, of = append(spelt, &f), append(of, v)
		}
	}
	return t.finishedParts(ctx, m, spelt, by, func(i int, p Parts) {
		u[of[i]], parts[of[i]] = by.of(p), p
	})
}

// weighted is a text by the likeliest state that makes it, and the share of all states that do.
type weighted struct {
	v     int
	share float64
}

// texts returns the different texts of the states, the likeliest first. best is the largest U.
// Almost all states make a text of their own. Only those are spelt whose words are alike
// but for their case.
func (t *target) texts(u []float64, best float64, asModel bool) []weighted {
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
			key = "\x00" + t.spell([]int32{int32(v)}, asModel).Text
		}
		w := math.Exp((u[v] - best) / t.temp)
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
	sort.SliceStable(out, func(a, b int) bool {
		if out[a].share != out[b].share {
			return out[a].share > out[b].share
		}
		return u[out[a].v] > u[out[b].v] // T is very low or very high
	})
	return out
}
