package protocols

import (
	"math"
	"testing"
)

// Of one chain 25 states count, whatever the number of steps that it made. Each is drawn as often as
// any other: the counts are multivariate hypergeometric.
func TestDrawn(t *testing.T) {
	r := record{key: key{Protocol: "C", Steps: 50, Sampler: "dula", Sentence: "a:1"},
		States: []state{{"a", -1, 20}, {"b", -2, 1}, {"c", -3, 79}}}
	const total, want, seeds = 100, 25, 4000
	sum, square := make(map[string]float64), make(map[string]float64)
	for seed := range uint64(seeds) {
		r.Seed = seed
		n := 0
		for _, s := range r.drawn().States {
			if s.Count == 0 {
				t.Fatal("a state that was not drawn is there")
			}
			n += s.Count
			sum[s.Text] += float64(s.Count) / seeds
			square[s.Text] += float64(s.Count*s.Count) / seeds
		}
		if n != want {
			t.Fatalf("seed %d: %d states count, want %d", seed, n, want)
		}
	}
	for _, s := range r.States {
		p := float64(s.Count) / total
		variance := want * p * (1 - p) * (total - want) / (total - 1)
		near(t, "mean of "+s.Text, sum[s.Text], want*p, 5*math.Sqrt(variance/seeds))
		near(t, "variance of "+s.Text, square[s.Text]-sum[s.Text]*sum[s.Text], variance,
			.15*variance)
	}
	if a, b := r.drawn(), r.drawn(); len(a.States) != len(b.States) || a.States[0] != b.States[0] {
		t.Errorf("drawn twice: %v, %v", a.States, b.States)
	}
	if r.States[0].Count != 20 {
		t.Error("the run itself changed")
	}
}

// Runs of equal steps, and the last states of several chains, count whole.
func TestDrawnOfAll(t *testing.T) {
	for _, r := range []record{
		{key: key{Protocol: "C", Steps: 50}, States: []state{{"a", -1, 20}, {"b", -2, 5}}},
		{key: key{Protocol: "A", Steps: 10}, States: []state{{"a", -1, 20}, {"b", -2, 5}}},
	} {
		if got := r.drawn().States; len(got) != 2 || got[0].Count != 20 || got[1].Count != 5 {
			t.Errorf("protocol %s: %v of %v count", r.Protocol, got, r.States)
		}
	}
}
