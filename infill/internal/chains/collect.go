package chains

import (
	"cmp"
	"container/heap"
	"encoding/binary"
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

// A collector takes the states of the chains of one part.
type collector struct {
	tgt      *target.Target
	chains   []int // numbers of its chains
	perToken bool  // states are kept by their score per token
	words    int   // of a set of chains
	most     int   // sightings to keep; 0 keeps all
	byKey    map[string]*sighting
	heap     sightings     // the worst first
	tally    *recall.Tally // of the different states, of all parts
}

func newCollector(p *target.Task, t *target.Target, chains []int, tally *recall.Tally) *collector {
	c := &collector{tgt: t, chains: chains, perToken: p.PerToken,
		words: (p.Opt.Sampling.Chains + 63) / 64, byKey: map[string]*sighting{}, tally: tally}
	if p.Opt.Results.Collect == request.CollectVisited {
		c.most = roomOf(p.Opt)
	}
	return c
}

// take enters a state of chain j of the part.
func (c *collector) take(j, step int, x []int32, u float64) {
	t := c.tgt
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
			chain: c.chains[j], chains: make([]uint64, c.words)}
		s.rank = s.score + t.LengthPart(l.Lengths)
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
	s.see(step, c.chains[j], 1)
	s.chains[c.chains[j]/64] |= 1 << (c.chains[j] % 64)
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
