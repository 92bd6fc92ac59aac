package infill

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"infill/samplers"
)

// warnWeights is the number of effective chains below which log Z comes with a warning. The few
// weights that count say little about the weights that no chain has, and the standard error is
// then too small.
// It is looked at where no chains went the other way.
const warnWeights = 5

// warnNats is the standard error of log Z, in nats, above which it comes with a warning.
const warnNats = 1

// A Normalizer is log Z = log Σ exp(U(θ)/T), the sum over all fillings that the options allow, with
// the same numbers of tokens in the blanks. With a shortlist the sum is over its candidates.
//
// It is estimated by annealed importance sampling (Neal 2001), see [samplers.AIS], from draws of
// what the model says of each blank with all of them masked: with Options.Sampling.Steps rungs, and
// as many chains as the sampling has of these lengths. As many more go the other way, from the last
// states of the sampling, unless its sampler does not leave π invariant. Where π is computed, so is
// log Z.
//
// Records have it as this JSON. What is not known is nil, and not there.
type Normalizer struct {
	// Lengths are the tokens of every blank, in the order of the text, 0 for a blank whose list
	// decides. It is nil where the template leaves no length open.
	Lengths []int `json:"lengths,omitempty"`
	// LogZ is in nats. A warning explains why it could not be estimated.
	LogZ *float64 `json:"log_z,omitempty"`
	// Error is the standard error of LogZ, over independent chains: 0 where π was computed, nil where
	// the chains do not say it. ESS is the effective number of the chains from the draws. Chains go
	// each way; 0 where π was computed.
	Error  *float64 `json:"standard_error,omitempty"`
	ESS    *float64 `json:"ess,omitempty"`
	Chains int      `json:"chains,omitempty"`
	// Below and Above are log Z by the chains of one way alone. LogZ is between them on average. Above
	// is nil also where no chains went back.
	Below *float64 `json:"below,omitempty"`
	Above *float64 `json:"above,omitempty"`
}

// exactNormalizer is log Z of the energies of all states, in nats at temperature 1. Best is the
// largest of them.
func (t *target) exactNormalizer(u []float64, best float64) Normalizer {
	sum := 0.0
	for _, v := range u {
		sum += math.Exp((v - best) / t.temp)
	}
	return Normalizer{LogZ: known(best/t.temp + math.Log(sum)), Error: new(float64)}
}

// normalize estimates log Z of all lengths.
func (p *plan) normalize(ctx context.Context, res *Result) error {
	if p.opt.stopped() {
		res.Warnings = append(res.Warnings, fmt.Errorf("%w: log Z was not estimated, since the run was "+
			"stopped", errUnmixed))
		return nil
	}
	var first []*part              // of each combination of lengths
	last := map[string][][]int32{} // states of the sampling
	for _, pt := range p.parts {
		if last[pt.id] == nil {
			first = append(first, pt)
		}
		last[pt.id] = append(last[pt.id], pt.run.X...)
	}
	slices.SortFunc(first, func(a, b *part) int { return slices.Compare(a.tgt.Counts, b.tgt.Counts) })
	all := &plan{parts: first}
	out, warn := make([]Normalizer, len(first)), make([]error, len(first))
	if err := all.each(ctx, func(ctx context.Context, pt *part) (err error) {
		i := slices.Index(first, pt)
		out[i], warn[i], err = pt.tgt.normalizer(ctx, p.opt, pt.id, last[pt.id])
		for b := range pt.tgt.Template.Blanks {
			if len(p.gaps) > 0 {
				out[i].Lengths = append(out[i].Lengths, pt.tgt.Counts[p.t.Owner[b]])
			}
		}
		return err
	}); err != nil {
		return err
	}
	res.Normalizers = out
	for _, w := range warn {
		if w != nil {
			res.Warnings = append(res.Warnings, w)
		}
	}
	p.logProbabilities(res)
	return nil
}

// normalizer estimates log Z of the target from the last states of its chains. warn says why it may
// be wrong, or is not known.
func (t *target) normalizer(ctx context.Context, opt *Options, id string, last [][]int32) (
	n Normalizer, warn, err error) {
	logq, err := t.allMasked(ctx)
	if err != nil {
		return n, nil, err
	}
	chains := len(last)
	o := samplers.AISOptions{Chains: chains, Rungs: max(1, opt.Sampling.Steps), Seed: opt.Seed, ID: id}
	if opt.Sampling.Steps > 0 && opt.sampler().Exact {
		o.From = last
	}
	if t.Tied() {
		o.Support = t.Valid
	}
	r, err := samplers.AIS(ctx, t, logq, o)
	if errors.Is(err, samplers.ErrRare) {
		return Normalizer{Chains: chains}, fmt.Errorf("log Z is not known: %w; rules that tie blanks "+
			"together less strictly, or lists in their place, make it known", err), nil
	}
	if err != nil {
		return n, nil, err
	}
	n = Normalizer{LogZ: known(r.LogZ), Error: known(r.Error), ESS: known(r.ESS), Chains: chains,
		Below: known(r.Below), Above: known(r.Above)}
	switch {
	case o.From != nil && !(r.Error <= warnNats):
		warn = fmt.Errorf("%w: chains from draws say that log Z is %.2f, chains from the fillings %.2f; "+
			"more steps bring them together", errUnmixed, r.Below, r.Above)
	case o.From == nil && !(r.ESS >= warnWeights):
		warn = fmt.Errorf("%w: log Z rests on %.1f effective chains of %d, fewer than %d; "+
			"more steps or chains make them more", errUnmixed, r.ESS, chains, warnWeights)
	}
	return n, warn, nil
}

// logProbabilities fills in Filling.LogProbability.
func (p *plan) logProbabilities(res *Result) {
	for i := range res.Fillings {
		f := &res.Fillings[i]
		f.LogProbability = math.NaN()
		for j := range res.Normalizers {
			n := &res.Normalizers[j]
			if p.has(f, n.Lengths) {
				if n.LogZ != nil {
					f.LogProbability = f.Score/p.opt.Sampling.Temperature - *n.LogZ
				}
				break
			}
		}
	}
}

// has reports whether a filling has these lengths.
func (p *plan) has(f *Filling, lengths []int) bool {
	for b, n := range lengths {
		if n > 0 && f.lengths[p.t.Owner[b]] != n {
			return false
		}
	}
	return true
}
