package infill

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"infill/infill/text"
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

// errUnmixed is a warning about estimated probabilities: Marginals.Warning says why.
var errUnmixed = errors.New("probabilities or their standard errors may be wrong")

// Marginals are probabilities under π: of the words of each blank, whatever the other blanks have,
// and of whole texts. They are shares of all states of all chains after the burn-in, or exact.
//
// Where a template leaves numbers of tokens open, π is the mixture of its distributions given the
// lengths, with equal weights, and each of them is estimated from the chains of its lengths.
//
// Records have them as this JSON. What is not known is nil, and not there.
type Marginals struct {
	Blanks   []Marginal `json:"blanks"`   // in the order of the text; tied ones have the same words
	Fillings Marginal   `json:"fillings"` // whole texts
	// Draws is the number of states that count, of all chains together. Chains together keep at most
	// about 65,536 of them: of longer ones every second, fourth, … state. 0 if Result.Exact.
	Draws int `json:"draws"`
	// ESS is the effective number of states (Vehtari et al. 2021) for the mean of U, the least over
	// the lengths. RHat is the split R-hat of U, the greatest over the lengths. They are not known
	// where Result.Exact, for fewer than 8 states of a chain, or where the sampler knows no energies.
	ESS  *float64 `json:"ess,omitempty"`
	RHat *float64 `json:"r_hat,omitempty"`
	// Warning says why the probabilities and their errors may be wrong, "" for no reason to think so.
	// Result.Warnings has each reason too, as a warning of its own.
	Warning string `json:"warning,omitempty"`

	ratio float64 // RHat as it is
}

// A Marginal is a distribution over texts.
type Marginal struct {
	// Likeliest are the likeliest texts, Options.Results.Top of them at most, and never more than
	// maxMarginals. Texts that no chain saw are not among them.
	Likeliest []Estimate `json:"likeliest"`
	// Distinct is the number of different texts among the states that count, or of all that fit.
	Distinct int     `json:"distinct"`
	Rest     float64 `json:"rest"` // the probability of the texts that are not listed, in [0,1]
}

// An Estimate is the probability of a text under π.
type Estimate struct {
	Text        string  `json:"text"`
	Probability float64 `json:"probability"` // in [0,1]
	// Error is the standard error of Probability: the root of p(1−p)/ESS. It is 0 where π was
	// computed, and not known for fewer than 8 states of a chain, or where all states had the text.
	Error *float64 `json:"standard_error,omitempty"`
	// ESS is the effective number of states. RHat is the split R-hat of having the text, the greatest
	// over the lengths, and not known where no chain ever changes between having it and not.
	ESS  *float64 `json:"ess,omitempty"`
	RHat *float64 `json:"r_hat,omitempty"`

	ratio float64 // RHat as it is, +Inf where no chain changes
}

// known is a number, nil for one that is not finite.
func known(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// rest is the probability of all texts that are not among the likeliest.
func (m *Marginal) rest() float64 {
	if len(m.Likeliest) == m.Distinct {
		return 0 // and not what rounding leaves
	}
	rest := 1.0
	for i := range m.Likeliest {
		rest -= m.Likeliest[i].Probability
	}
	return math.Max(0, rest)
}

// checkMarginals refuses samplers whose states do not come up as π says.
func (o *Options) checkMarginals() error {
	if o.Results.Marginals && !o.sampler().Exact {
		return fmt.Errorf("%w: probabilities need a sampler that leaves π invariant, and %s does not; "+
			"rows, gibbs-mh and dmala do", text.ErrOption, o.Sampling.Sampler.Info().Name)
	}
	return nil
}

// listed is how many texts of a distribution are given.
func (o *Options) listed() int {
	return min(cmp.Or(o.Results.Top, maxMarginals), maxMarginals)
}

// marginals estimates the probabilities from what the parts have recorded.
func (p *plan) marginals(res *Result) {
	stride, kept := 1, math.MaxInt
	for _, pt := range p.parts {
		stride = max(stride, pt.record.stride)
	}
	for _, pt := range p.parts {
		pt.record.thin(stride)
		kept = min(kept, pt.record.len())
	}
	m := &Marginals{Draws: kept * p.opt.Sampling.Chains}
	res.Marginals = m
	if kept == 0 {
		m.warn(res, "no step was made after the burn-in, so that there are no probabilities; "+
			"more steps make some")
		return
	}
	var words lexicon
	var texts lexicon
	byLengths, order := map[string]*history{}, []*history(nil)
	for _, pt := range p.parts {
		h := byLengths[pt.id]
		if h == nil {
			h = &history{blanks: make([][][]int32, len(p.t.Blanks))}
			byLengths[pt.id], order = h, append(order, h)
		}
		pt.recall(h, kept, p.opt.Results.AsModel, &words, &texts)
	}
	n := p.opt.listed()
	for b := range p.t.Blanks {
		m.Blanks = append(m.Blanks, estimates(&words, order, n,
			func(h *history) [][]int32 { return h.blanks[b] }))
	}
	m.Fillings = estimates(&texts, order, n, func(h *history) [][]int32 { return h.whole })
	m.mixing(order)
	if p.lengths > len(order) {
		m.warn(res, fmt.Sprintf("%d of %d combinations of lengths have a chain, and the probabilities "+
			"cover only these; more chains reach more", len(order), p.lengths))
	}
	if why := m.doubt(); why != "" {
		m.warn(res, why)
	}
}

// mixing is the worst of all combinations of lengths, NaN where one of them has NaN.
func (m *Marginals) mixing(order []*history) {
	ess, ratio := math.Inf(1), math.Inf(-1)
	for _, h := range order {
		ess, ratio = min(ess, essMean(h.u)), max(ratio, splitRHat(h.u))
	}
	m.ESS, m.RHat, m.ratio = known(ess), known(ratio), ratio
}

// warn notes why the probabilities may be wrong. There may be several reasons.
func (m *Marginals) warn(res *Result, why string) {
	if m.Warning != "" {
		m.Warning += "; and "
	}
	m.Warning += why
	res.Warnings = append(res.Warnings, fmt.Errorf("%w: %s", errUnmixed, why))
}

// estimates are the likeliest n texts and their probabilities.
func estimates(l *lexicon, all []*history, n int, of func(*history) [][]int32) Marginal {
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
	m := Marginal{Distinct: len(share)}
	for v, p := range share {
		m.Likeliest = append(m.Likeliest, Estimate{Text: l.texts[v], Probability: p})
	}
	slices.SortFunc(m.Likeliest, func(a, b Estimate) int {
		if a.Probability != b.Probability {
			return cmp.Compare(b.Probability, a.Probability)
		}
		return strings.Compare(a.Text, b.Text)
	})
	m.Likeliest = slices.Clip(m.Likeliest[:min(n, len(m.Likeliest))])
	m.Rest = m.rest()
	for i := range m.Likeliest {
		m.Likeliest[i].judge(l.number[m.Likeliest[i].Text], all, of)
	}
	return m
}

// judge says how far the estimate can be trusted: the text is number v.
func (e *Estimate) judge(v int32, all []*history, of func(*history) [][]int32) {
	e.ratio = math.NaN()
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
		if r := splitRHat(traces); math.IsNaN(e.ratio) || r > e.ratio {
			e.ratio = r
		}
	}
	if some {
		e.Error = known(math.Sqrt(variance))
		e.ESS, e.RHat = known(e.Probability*(1-e.Probability)/variance), known(e.ratio)
	}
}

// doubt says where chains disagree, "" for nowhere.
func (m *Marginals) doubt() string {
	worst, what := 0.0, ""
	look := func(r float64, name string) {
		if r > worst {
			worst, what = r, name
		}
	}
	for b := range m.Blanks {
		for _, e := range m.Blanks[b].Likeliest {
			if e.Probability >= warnFrom {
				look(e.ratio, fmt.Sprintf("%q in blank %d", e.Text, b+1))
			}
		}
	}
	for _, e := range m.Fillings.Likeliest {
		if e.Probability >= warnFrom {
			look(e.ratio, fmt.Sprintf("%q", e.Text))
		}
	}
	look(m.ratio, "the energies")
	switch {
	case math.IsInf(worst, 1):
		return fmt.Sprintf("chains disagree about %s, and none of them ever changed there; more "+
			"steps let them move",
			what)
	case worst > warnRHat:
		return fmt.Sprintf("chains disagree, with a split R-hat of %.2f for %s, above %.2g; "+
			"more steps make it smaller", worst, what, warnRHat)
	case m.ESS == nil:
		return "there are too few steps after the burn-in for standard errors; more steps give some"
	}
	return ""
}

// exactMarginals are the marginals of the likeliest fillings of one coordinate: each text has a
// word of its own.
func exactMarginals(blanks int, fillings []Filling, distinct int) *Marginals {
	m := &Marginals{Blanks: make([]Marginal, blanks)}
	m.Fillings.Distinct = distinct
	for b := range m.Blanks {
		m.Blanks[b].Distinct = distinct
	}
	add := func(m *Marginal, text string, p float64) {
		m.Likeliest = append(m.Likeliest, Estimate{Text: text, Probability: p, Error: new(float64)})
		m.Rest = m.rest()
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
