package chains

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"infill/infill/request"
)

// maxMarginals bounds the words of a blank, and the whole texts, whose probabilities are given.
const maxMarginals = 100

// warnRHat is the split R-hat from which probabilities come with a warning. By R̂² ≈ 1 + M/ESS
// (Vats and Knudson 2021) M half chains then have fewer than five independent states each, so
// that they may still remember where they started.
const warnRHat = 1.1

// warnFrom is the least probability whose R-hat a warning looks at. That of a word which one chain
// saw now and then says little.
const warnFrom = 0.05

// ErrUnmixed is a warning about estimated probabilities: Marginals.Warning says why.
var ErrUnmixed = errors.New("probabilities or their standard errors may be wrong")

// known is a number, nil for one that is not finite.
func known(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// restOf is the probability of all texts that are not among the likeliest.
func restOf(m *request.Marginal) float64 {
	if len(m.Likeliest) == m.Distinct {
		return 0 // and not what rounding leaves
	}
	rest := 1.0
	for i := range m.Likeliest {
		rest -= m.Likeliest[i].Probability
	}
	return math.Max(0, rest)
}

// Listed is how many texts of a distribution are given.
func Listed(o *request.Options) int {
	return min(cmp.Or(o.Results.Top, maxMarginals), maxMarginals)
}

// marginals estimates the probabilities from what the parts have recorded.
func (p *run) marginals(res *request.Result) {
	stride, kept := 1, math.MaxInt
	for _, pt := range p.parts {
		stride = max(stride, pt.record.stride)
	}
	for _, pt := range p.parts {
		pt.record.thin(stride)
		kept = min(kept, pt.record.len())
	}
	m := &request.Marginals{Draws: kept * p.Opt.Sampling.Chains}
	res.Marginals = m
	if kept == 0 {
		doubt(res, "no step was made after the burn-in, so that there are no probabilities; "+
			"more steps make some")
		return
	}
	var words lexicon
	var texts lexicon
	byLengths, order := map[string]*history{}, []*history(nil)
	for _, pt := range p.parts {
		h := byLengths[pt.id]
		if h == nil {
			h = &history{blanks: make([][][]int32, len(p.Template.Blanks))}
			byLengths[pt.id], order = h, append(order, h)
		}
		pt.recall(h, kept, p.Opt.Results.AsModel, &words, &texts)
	}
	n := Listed(p.Opt)
	var d doubts
	m.Blanks = make([]request.Marginal, len(p.Template.Blanks))
	for b := range m.Blanks {
		m.Blanks[b] = estimates(&words, order, n,
			func(h *history) [][]int32 { return h.blanks[b] },
			d.about(fmt.Sprintf("%%q in blank %d", b+1)))
	}
	m.Fillings = estimates(&texts, order, n, func(h *history) [][]int32 { return h.whole },
		d.about("%q"))
	d.look(mixing(m, order), "the energies")
	if p.Combined > len(order) {
		doubt(res, fmt.Sprintf("%d of %d combinations of lengths have a chain, and the probabilities "+
			"cover only these; more chains reach more", len(order), p.Combined))
	}
	if why := d.why(m.ESS != nil); why != "" {
		doubt(res, why)
	}
}

// mixing notes the worst of all combinations of lengths, NaN where one of them has NaN. It returns
// the R-hat as it is.
func mixing(m *request.Marginals, order []*history) float64 {
	ess, ratio := math.Inf(1), math.Inf(-1)
	for _, h := range order {
		ess, ratio = min(ess, essMean(h.u)), max(ratio, splitRHat(h.u))
	}
	m.ESS, m.RHat = known(ess), known(ratio)
	return ratio
}

// doubt notes why the probabilities may be wrong. There may be several reasons.
func doubt(res *request.Result, why string) {
	m := res.Marginals
	if m.Warning != "" {
		m.Warning += "; and "
	}
	m.Warning += why
	res.Warnings = append(res.Warnings, fmt.Errorf("%w: %s", ErrUnmixed, why))
}

// estimates are the likeliest n texts and their probabilities. look is told of the R-hat of each.
func estimates(l *lexicon, all []*history, n int, of func(*history) [][]int32,
	look func(*request.Estimate, float64)) request.Marginal {
	share := map[int32]float64{}
	for _, h := range all {
		chains := of(h)
		count := map[int32]int{}
		for _, c := range chains {
			for _, v := range c {
				count[v]++
			}
		}
		for v, times := range count {
			share[v] += float64(times) / float64(len(chains)*len(chains[0])*len(all))
		}
	}
	m := request.Marginal{Distinct: len(share)}
	for v, p := range share {
		m.Likeliest = append(m.Likeliest, request.Estimate{Text: l.texts[v], Probability: p})
	}
	slices.SortFunc(m.Likeliest, func(a, b request.Estimate) int {
		if a.Probability != b.Probability {
			return cmp.Compare(b.Probability, a.Probability)
		}
		return strings.Compare(a.Text, b.Text)
	})
	m.Likeliest = slices.Clip(m.Likeliest[:min(n, len(m.Likeliest))])
	m.Rest = restOf(&m)
	for i := range m.Likeliest {
		e := &m.Likeliest[i]
		look(e, judge(e, l.number[e.Text], all, of))
	}
	return m
}

// judge says how far an estimate can be trusted: the text is number v. It returns the R-hat as it
// is, +Inf where no chain changes.
func judge(e *request.Estimate, v int32, all []*history, of func(*history) [][]int32) float64 {
	ratio := math.NaN()
	variance, some := 0.0, false
	for _, h := range all {
		var traces [][]float64
		n, sum := 0.0, 0.0
		for _, c := range of(h) {
			trace := make([]float64, len(c))
			for i := range c {
				if c[i] == v {
					trace[i] = 1
					sum++
				}
			}
			n += float64(len(c))
			traces = append(traces, trace)
		}
		p := sum / n
		if p == 0 || p == 1 {
			continue // as where another length has no such text
		}
		some = true
		variance += p * (1 - p) / essMean(traces) / float64(len(all)*len(all))
		if r := splitRHat(traces); math.IsNaN(ratio) || r > ratio {
			ratio = r
		}
	}
	if some {
		e.Error = known(math.Sqrt(variance))
		e.ESS, e.RHat = known(e.Probability*(1-e.Probability)/variance), known(ratio)
	}
	return ratio
}

// doubts has the greatest split R-hat, and of what it is.
type doubts struct {
	worst float64
	of    string
}

func (d *doubts) look(ratio float64, of string) {
	if ratio > d.worst {
		d.worst, d.of = ratio, of
	}
}

// about looks at the estimates of texts, which are called by a format.
func (d *doubts) about(format string) func(*request.Estimate, float64) {
	return func(e *request.Estimate, ratio float64) {
		if e.Probability >= warnFrom {
			d.look(ratio, fmt.Sprintf(format, e.Text))
		}
	}
}

// why says where chains disagree, "" for nowhere. known says that there are standard errors.
func (d *doubts) why(known bool) string {
	switch {
	case math.IsInf(d.worst, 1):
		return fmt.Sprintf("chains disagree about %s, and none of them ever changed there; more "+
			"steps let them move",
			d.of)
	case d.worst > warnRHat:
		return fmt.Sprintf("chains disagree, with a split R-hat of %.2f for %s, above %.2g; "+
			"more steps make it smaller", d.worst, d.of, warnRHat)
	case !known:
		return "there are too few steps after the burn-in for standard errors; more steps give some"
	}
	return ""
}

// ExactMarginals are the marginals of the likeliest fillings of one coordinate: each text has a
// word of its own.
func ExactMarginals(blanks int, fillings []request.Filling, distinct int) *request.Marginals {
	m := &request.Marginals{Blanks: make([]request.Marginal, blanks)}
	m.Fillings.Distinct = distinct
	for b := range m.Blanks {
		m.Blanks[b].Distinct = distinct
	}
	add := func(m *request.Marginal, text string, p float64) {
		m.Likeliest = append(m.Likeliest,
			request.Estimate{Text: text, Probability: p, Error: new(float64)})
		m.Rest = restOf(m)
	}
	for i := range fillings {
		f := &fillings[i]
		add(&m.Fillings, f.Text, f.Probability)
		for b := range m.Blanks {
			add(&m.Blanks[b], f.Text[f.Spans[b][0]:f.Spans[b][1]], f.Probability)
		}
	}
	return m
}

// recall adds what a part has recorded to the history of its lengths.
func (pt *part) recall(h *history, kept int, asModel bool, words, texts *lexicon) {
	type spelt struct {
		whole  int32
		blanks []int32
	}
	known := map[string]spelt{}
	uncased := pt.tgt.Tokenizer().Lowercase()
	for k := range pt.record.x {
		whole := make([]int32, kept)
		blanks := make([][]int32, len(h.blanks))
		for b := range blanks {
			blanks[b] = make([]int32, kept)
		}
		for i := range kept {
			x := pt.record.state(k, i)
			key := fmt.Sprint(x)
			s, ok := known[key]
			if !ok {
				f := pt.tgt.Spell(x, asModel)
				s.whole = texts.of(f.Text)
				for _, span := range f.Spans {
					s.blanks = append(s.blanks, words.word(f.Text[span[0]:span[1]], uncased))
				}
				known[key] = s
			}
			whole[i] = s.whole
			for b := range blanks {
				blanks[b][i] = s.blanks[b]
			}
		}
		h.whole = append(h.whole, whole)
		for b := range blanks {
			h.blanks[b] = append(h.blanks[b], blanks[b])
		}
		h.u = append(h.u, pt.record.u[k][:kept])
	}
}
