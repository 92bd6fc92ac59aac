package chains

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"infill/infill/internal/choosing"
	"infill/infill/internal/recall"
	"infill/infill/internal/target"
	"infill/infill/request"
)

// A collector keeps the best states, whatever their order, with all that saw them.
func TestCollectorKeepsTheBest(t *testing.T) {
	t.Parallel()
	opt := request.Options{Sampling: request.SamplingOptions{Chains: 70, Temperature: 2}}.Complete()
	p := &run{Chooser: &choosing.Chooser{Task: taskOf(t, "the [MASK] saw the [MASK] .", &opt)},
		seen: new(recall.Tally)}
	pt := &part{tgt: p.Choices[0].Target}
	for k := range opt.Sampling.Chains {
		pt.chains = append(pt.chains, k)
	}
	c := newCollector(p.Task, pt.tgt, pt.chains, p.seen)
	c.most = 20
	type offer struct {
		x    []int32
		u    float64
		j    int
		step int
	}
	rng := rand.New(rand.NewPCG(1, 1))
	var offers []offer
	for i := range 300 {
		x := []int32{int32(i % 30), int32(i / 30)}
		u := -float64(rng.IntN(40)) // ties too
		for range 1 + rng.IntN(4) {
			offers = append(offers, offer{x: x, u: u, j: rng.IntN(70), step: rng.IntN(9)})
		}
	}
	rng.Shuffle(len(offers), func(a, b int) { offers[a], offers[b] = offers[b], offers[a] })
	for _, o := range offers {
		c.take(o.j, o.step, o.x, o.u)
	}
	if len(c.byKey) != 20 || len(c.heap) != 20 || p.seen.Total() != 300 {
		t.Fatalf("%d and %d kept of %d", len(c.byKey), len(c.heap), p.seen.Total())
	}
	for _, s := range c.byKey {
		better, chains, count := map[string]bool{}, map[int]bool{}, 0
		first := offer{step: 99}
		for _, o := range offers {
			switch {
			case 2*o.u > s.score:
				better[fmt.Sprint(o.x)] = true
			case slices.Equal(o.x, s.x):
				chains[o.j] = true
				count++
				if o.step < first.step || o.step == first.step && o.j < first.j {
					first = o
				}
			}
		}
		if len(better) >= 20 || s.seenBy() != len(chains) || s.count != count ||
			s.step != first.step || s.chain != first.j {
			t.Errorf("%v: %d better, by %d chains, want %d, first %d/%d, want %+v", s.x, len(better),
				s.seenBy(), len(chains), s.chain, s.step, first)
		}
	}
}

func TestLeftOut(t *testing.T) {
	t.Parallel()
	all := &request.Options{Results: request.ResultOptions{All: true}}
	p := &run{Chooser: &choosing.Chooser{Task: &target.Task{Opt: all}}, seen: &recall.Tally{Most: 1}}
	p.seen.Add([]byte("a state"), request.MaxKept+7)
	for kept, want := range map[int]int{request.MaxKept: 7, request.MaxKept - 1: 0} {
		if got := p.leftOut(kept); got != want {
			t.Errorf("%d left out with %d kept, want %d", got, kept, want)
		}
	}
	p.Opt = &request.Options{Results: request.ResultOptions{Top: 5}}
	if got := p.leftOut(roomOf(p.Opt)); got != 0 {
		t.Errorf("%d left out of the best", got)
	}
}
