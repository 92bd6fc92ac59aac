package bleu

// pairMatcher compares one hypothesis with its own references. It numbers the
// n-grams of the hypothesis and looks those of the references up. Its memory is
// that of the longest hypothesis.
type pairMatcher struct {
	ids  map[uint64]uint32
	hyp  []uint32 // number of the n-gram at each position of the hypothesis
	ref  [][]uint32
	own  []int32 // by number: count in the hypothesis
	best []int32 // by number: largest count in one reference
	cur  []int32
	next uint32
}

// number gives the (n−1)-gram pair (a,b) a number at this order, or with look only
// looks it up; 0 is "not in the hypothesis".
func (p *pairMatcher) number(a, b uint32, look bool) uint32 {
	if look && (a == 0 || b == 0) {
		return 0
	}
	key := uint64(a)<<32 | uint64(b)
	id, ok := p.ids[key]
	if !ok && !look {
		p.next++
		id = p.next
		p.ids[key] = id
	}
	return id
}

// match adds the clipped matches of hyp against refs, which must not be empty, to
// clipped, one order per element, and returns the closest reference length.
func (p *pairMatcher) match(hyp []uint32, refs [][]uint32, clipped []int32) (closest int) {
	closest = len(refs[0])
	for _, r := range refs[1:] {
		d, best := abs(len(r)-len(hyp)), abs(closest-len(hyp))
		if d < best || d == best && len(r) < closest {
			closest = len(r)
		}
	}
	p.hyp = p.hyp[:0]
	p.ref = p.ref[:0]
	for _, t := range hyp {
		p.hyp = append(p.hyp, t+1)
	}
	for _, r := range refs {
		ids := make([]uint32, len(r))
		for i, t := range r {
			ids[i] = t + 1
		}
		p.ref = append(p.ref, ids)
	}
	for n := 1; n <= min(len(clipped), len(hyp)); n++ {
		p.ids, p.next = map[uint64]uint32{}, 0
		p.step(&p.hyp, n, false)
		p.own = counts(p.own, p.hyp, p.next)
		p.best = zeros(p.best, p.next)
		for k := range p.ref {
			p.step(&p.ref[k], n, true)
			p.cur = counts(p.cur, p.ref[k], p.next)
			for id := range p.best {
				p.best[id] = max(p.best[id], p.cur[id])
			}
		}
		for id := 1; id <= int(p.next); id++ {
			clipped[n-1] += min(p.own[id], p.best[id])
		}
	}
	return closest
}

// step moves a sentence's numbers from order n−1 to order n.
func (p *pairMatcher) step(ids *[]uint32, n int, look bool) {
	s := *ids
	if n == 1 {
		for i, t := range s {
			s[i] = p.number(t, 1, look)
		}
		return
	}
	if len(s) == 0 {
		return
	}
	for i := range s[:len(s)-1] {
		s[i] = p.number(s[i], s[i+1], look)
	}
	*ids = s[:len(s)-1]
}

// counts counts numbers 0 to top into dst; 0 stands for unknown n-grams.
func counts(dst []int32, ids []uint32, top uint32) []int32 {
	dst = zeros(dst, top)
	for _, id := range ids {
		dst[id]++
	}
	return dst
}

func zeros(dst []int32, top uint32) []int32 {
	if cap(dst) < int(top)+1 {
		return make([]int32, top+1)
	}
	dst = dst[:top+1]
	clear(dst)
	return dst
}

func abs(x int) int {
	if x < 0 {
		return -x
	}
	return x
}
