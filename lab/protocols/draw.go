package protocols

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"infill/infill"
)

// drawn is the run with as many states as count: of several chains all, of one chain as many as
// equal steps leave after the burn-in. With equal evaluations a sampler whose steps cost less makes
// more of them, and the best of more states are better. So its states are drawn
// without replacement, the same ones each time.
func (r record) drawn() record {
	opt := infill.Options{Sampling: infill.SamplingOptions{Steps: r.Steps}}
	if protocol(r.Protocol, &opt) != nil || opt.Results.Collect != infill.CollectChain {
		return r
	}
	left := 0
	for _, s := range r.States {
		left += s.Count
	}
	want := r.Steps - opt.Burnin()
	if left <= want {
		return r
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(r.Sampler + "\x00" + r.Sentence))
	rng := rand.New(rand.NewPCG(r.Seed, h.Sum64()))
	states := slices.Clone(r.States)
	for i := range states {
		n := 0
		for range states[i].Count { // each is drawn with the share that is still wanted
			if rng.IntN(left) < want {
				n++
				want--
			}
			left--
		}
		states[i].Count = n
	}
	r.States = slices.DeleteFunc(states, func(s state) bool { return s.Count == 0 })
	return r
}
