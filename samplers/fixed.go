package samplers

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
)

// Fixed returns the parameters, as New takes them, of a sampler that adapts nothing and has the
// given values in place of what it would adapt. tuned has them under the names that Tuned gives
// them. params are the other parameters and stay as they are.
//
// Values go into parameters of the same name, counts rounded. Of ACS, FixedBeta makes its exponent
// go linearly with the step size between the two values that are given, in place of the schedule
// that was tuned between them. Of Rows, LangevinIfPays goes: the share is as given in every chain.
// Errors are those of New, and an *UnknownError for a value without a
// parameter.
func Fixed(name string, params map[string]string, tuned map[string]float64) (map[string]string,
	error) {
	info, err := Lookup(name)
	if err != nil {
		return nil, err
	}
	out := maps.Clone(params)
	if out == nil {
		out = map[string]string{}
	}
	if info.Name == rowsInfo.Name {
		delete(out, langevinIfPays)
	}
	put := func(name string, v float64) { out[name] = strconv.FormatFloat(v, 'g', -1, 64) }
	for _, n := range slices.Sorted(maps.Keys(tuned)) {
		v := tuned[n]
		if info.Name == acsInfo.Name && (n == "beta-first" || n == "beta-last") {
			continue
		}
		p, err := info.Param(n)
		switch {
		case err != nil:
			return nil, err
		case !p.Auto:
			return nil, &ParamError{name, n, fmt.Sprint(v), "a parameter that can be auto"}
		case p.Integer:
			v = math.Round(v)
		}
		put(n, v)
	}
	first, ok := tuned["beta-first"]
	if last, both := tuned["beta-last"]; info.Name == acsInfo.Name && ok && both {
		s, err := New(name, out)
		if err != nil {
			return nil, err
		}
		put("beta-max", first)
		put("beta-min", s.(*ACS).betaMin(first, last))
		out["fixed-beta"] = "yes"
	}
	s, err := New(name, out)
	if a, ok := s.(*ACS); ok && err == nil {
		_, err = a.config() // which New leaves to Attach
	}
	return out, err
}

// betaMin is the BetaMin with which a linear exponent is first at the largest step and last at the
// last of a cycle.
func (s *ACS) betaMin(first, last float64) float64 {
	cfg := *s
	if cfg.Cycle == 0 {
		cfg.Cycle = acsCycle
	}
	if cfg.Power == 0 {
		cfg.Power = 1
	}
	t := acsTune{cfg: cfg, alphaMax: cfg.AlphaMax, alphaMin: cfg.AlphaMin}
	f := t.cosine(cfg.Cycle-1) / cfg.AlphaMax
	if !(f < 1) {
		return first
	}
	return math.Max(math.SmallestNonzeroFloat64, math.Min(first, (last-f*first)/(1-f)))
}
