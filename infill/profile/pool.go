package profile

import (
	"maps"
	"math"
	"slices"

	"infill/infill"
	"infill/samplers"
)

// A Pool gathers what a sampler adapted to single texts. The zero value is empty.
type Pool struct {
	byNumber map[int]*pooled
}

type pooled struct {
	texts, chains int
	logs          map[string]float64 // sums over the texts
	stats         samplers.Stats
}

// Add adds what was found in one text. Each text counts alike, whatever its number of chains.
func (p *Pool) Add(found []infill.Tuning) {
	if p.byNumber == nil {
		p.byNumber = map[int]*pooled{}
	}
	for _, t := range found {
		one := p.byNumber[t.Coordinates]
		if one == nil {
			one = &pooled{logs: map[string]float64{}}
			p.byNumber[t.Coordinates] = one
		}
		one.texts++
		one.chains += t.Chains
		one.stats.Add(t.Stats)
		for name, v := range t.Values {
			one.logs[name] += math.Log(v)
		}
	}
}

// Entries are the values for each number of coordinates: geometric means over the texts.
func (p *Pool) Entries() []Entry {
	var out []Entry
	for _, n := range slices.Sorted(maps.Keys(p.byNumber)) {
		one := p.byNumber[n]
		e := Entry{Coordinates: n, Texts: one.texts, Chains: one.chains, Values: map[string]float64{},
			MoveShare: finite(one.stats.MoveShare()), Acceptance: finite(one.stats.Acceptance())}
		for name, sum := range one.logs {
			e.Values[name] = math.Exp(sum / float64(one.texts))
		}
		out = append(out, e)
	}
	return out
}

func finite(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}
