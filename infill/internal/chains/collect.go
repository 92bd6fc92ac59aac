package chains

import (
	"cmp"
	"container/heap"
	"context"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"infill/infill/internal/recall"
	"infill/infill/internal/target"
	"infill/infill/request"
)

// roomOf is the number of states that CollectVisited keeps, the best. There are more than are
// returned: texts can have several states, and ResultOptions.Diverse chooses among them.
func roomOf(o *request.Options) int {
	if o.Results.All {
		return request.MaxKept
	}
	return 1024 + 2*o.Results.Top
}

// leftOut is how many states there was no room for, although all are asked for. kept is how many
// there was room for.
func (p *run) leftOut(kept int) int {
	if o := &p.Opt.Results; o.Collect != request.CollectVisited || !o.All || kept < roomOf(p.Opt) {
		return 0
	}
	return max(0, p.seen.Total()-kept)
}

// A sighting is a state that was taken, and where.
type sighting struct {
	key    string // its tokens
	tgt    *target.Target
	x      []int32
	score  float64 // U in nats, NaN where not known
	rank   float64 // what sightings are kept by: score and what its length adds, or score per token
	step   int     // the first at which it was seen
	chain  int     // the first chain that saw it then
	count  int     // how often it was taken along chains
	chains []uint64
}

// A collector takes the states of one part.
type collector struct {
	part *part
	// perToken: states are kept by their score per token
	perToken bool
	words    int // of a set of chains
	most     int // sightings to keep; 0 keeps all
	byKey    map[string]*sighting
	heap     sightings     // the worst first
	tally    *recall.Tally // of the different states, of all parts
}

func (p *run) newCollector(pt *part) *collector {
	c := &collector{part: pt, perToken: p.PerToken, words: (p.Opt.Sampling.Chains + 63) / 64,
		byKey: map[string]*sighting{}, tally: p.seen}
	if p.Opt.Results.Collect == request.CollectVisited {
		c.most = roomOf(p.Opt)
	}
	return c
}

// evaluated takes a state that the sampler evaluated for chain j of the part. u is tempered.
func (c *collector) evaluated(j int, x []int32, u float64) {
	if math.IsNaN(u) || math.IsInf(u, 0) {
		return
	}
	step := 0
	if c.part.run != nil { // the starts are evaluated before there is a run
		step = c.part.run.Done()
		if !c.part.ended {
			step++
		}
	}
	c.take(j, step, x, u)
}

// take enters a state of chain j of the part.
func (c *collector) take(j, step int, x []int32, u float64) {
	t := c.part.tgt
	l := t.LayoutOf(x, nil)
	ids := t.Tokens(nil, l, x, -1, -1)
	key := make([]byte, 0, 4*(len(ids)+len(l.Lengths)))
	for _, n := range l.Lengths {
		key = binary.AppendUvarint(key, uint64(n))
	}
	for _, id := range ids {
		key = binary.AppendUvarint(key, uint64(id))
	}
	c.tally.Add(key, 1)
	s := c.byKey[string(key)]
	if s == nil {
		s = &sighting{key: string(key), tgt: t, x: slices.Clone(x), score: u * t.Temp, step: step,
			chain: c.part.chains[j], chains: make([]uint64, c.words)}
		s.rank = s.score + t.Length
		if c.perToken {
			s.rank /= float64(len(ids))
		}
		if c.most > 0 && len(c.heap) == c.most {
			if compareSightings(s, c.heap[0]) > 0 {
				return
			}
			delete(c.byKey, c.heap[0].key)
			heap.Pop(&c.heap)
		}
		c.byKey[s.key] = s
		if c.most > 0 {
			heap.Push(&c.heap, s)
		}
	}
	s.see(step, c.part.chains[j], 1)
	s.chains[c.part.chains[j]/64] |= 1 << (c.part.chains[j] % 64)
}

// see enters that a chain saw the state, n times.
func (s *sighting) see(step, chain, n int) {
	if step < s.step || step == s.step && chain < s.chain {
		s.step, s.chain = step, chain
	}
	s.count += n
}

// join adds what other parts or states of the same text have seen.
func (s *sighting) join(o *sighting) {
	if o.step < s.step {
		// The score comes from the first step, whatever the parts are: at another temperature it would be
		// rounded otherwise.
		s.score, s.rank = o.score, o.rank
	}
	s.see(o.step, o.chain, o.count)
	for w := range s.chains {
		s.chains[w] |= o.chains[w]
	}
}

// seenBy is the number of chains that saw the state.
func (s *sighting) seenBy() int {
	n := 0
	for _, w := range s.chains {
		n += bits.OnesCount64(w)
	}
	return n
}

// compareSightings orders sightings, best first. It is a function of the states: which are kept
// does not depend on when they were seen.
func compareSightings(a, b *sighting) int {
	return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(a.key, b.key))
}

// sightings is a heap with the worst on top.
type sightings []*sighting

func (h sightings) Len() int { return len(h) }

func (h sightings) Less(a, b int) bool { return compareSightings(h[a], h[b]) > 0 }

func (h sightings) Swap(a, b int) { h[a], h[b] = h[b], h[a] }

func (h *sightings) Push(s any) { *h = append(*h, s.(*sighting)) }

func (h *sightings) Pop() any {
	s := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return s
}

// collected returns the states that were taken, without repetitions, in an order that is a function
// of the run. Energies that are not known are evaluated.
func (p *run) collected(ctx context.Context) ([]*sighting, error) {
	all := map[string]*sighting{}
	var out []*sighting
	for _, pt := range p.parts {
		for _, s := range pt.taken.byKey {
			if o := all[s.key]; o != nil {
				o.join(s)
				continue
			}
			all[s.key] = s
			out = append(out, s)
		}
	}
	if len(out) == 0 { // nothing evaluates energies, or no step came after the burn-in
		return p.last(), nil
	}
	if p.Opt.Results.Collect == request.CollectVisited {
		slices.SortFunc(out, compareSightings)
		return out[:min(len(out), roomOf(p.Opt))], nil
	}
	slices.SortFunc(out, func(a, b *sighting) int {
		return cmp.Or(cmp.Compare(a.step, b.step), cmp.Compare(a.chain, b.chain))
	})
	return out, p.evaluate(ctx, out)
}

// evaluate finds the energies of sightings that are not known.
func (p *run) evaluate(ctx context.Context, all []*sighting) error {
	byTarget := map[*target.Target][]*sighting{}
	for _, s := range all {
		if math.IsNaN(s.score) {
			byTarget[s.tgt] = append(byTarget[s.tgt], s)
		}
	}
	return p.each(ctx, func(ctx context.Context, pt *part) error {
		for some := range slices.Chunk(byTarget[pt.tgt], evaluateAtOnce) {
			x, u := make([][]int32, len(some)), make([]float64, len(some))
			for i, s := range some {
				x[i] = s.x
			}
			if err := pt.tgt.Evaluate(ctx, x, u); err != nil {
				return err
			}
			for i, s := range some {
				s.score = u[i] * pt.tgt.Temp
			}
		}
		return nil
	})
}

// evaluateAtOnce bounds the states of one call.
const evaluateAtOnce = 256

// last are the last states of all chains, in the order of the chains.
func (p *run) last() []*sighting {
	out := make([]*sighting, p.Opt.Sampling.Chains)
	for _, pt := range p.parts {
		for j, k := range pt.chains {
			out[k] = &sighting{tgt: pt.tgt, x: pt.run.X[j], score: pt.run.U[j] * pt.tgt.Temp,
				step: pt.run.Done(), chain: k, count: 1, chains: make([]uint64, (p.Opt.Sampling.Chains+63)/64)}
			out[k].chains[k/64] |= 1 << (k % 64)
		}
	}
	return out
}
