package ngram

import (
	"maps"
	"slices"

	"infill/metrics/corpus"
)

// Index holds the n-grams of a reference set for orders 1 to Order: which occur, how often at most
// in one sentence (BLEU's clip), and the sentence lengths. Sentences are added one by one and not
// kept, so references of any size stream through. Memory grows with the number of distinct n-grams.
//
// Adding is not safe for concurrent use. Reading through a [matcher] of one's own
// is, once adding has ended.
type Index struct {
	order     int
	vocab     *corpus.Vocab
	levels    []level
	lengths   map[int]int
	sorted    []int // lengths, ascending. Nil while stale
	sentences int
	scratch   []uint32

	// Cleaning is the name of the sentences' cleaning, for signatures.
	Cleaning string
}

// level is one order. At order 1 the number of a token is its vocabulary number
// plus one. Above that the table numbers pairs of the order below.
type level struct {
	tab  table
	most []uint32 // by number: largest count in one sentence, most[0] unused
	last []uint32 // by number: sentence (from 1) that was counting last
	cur  []uint32 // by number: count in that sentence
}

// NewIndex returns an empty index of orders 1 to order over the numbering vocab,
// which the corpora compared with it must share. A nil vocab makes a new one, see Vocab. The
// error is errOption for an order that is not from 1 to MaxOrder.
func NewIndex(order int, vocab *corpus.Vocab) (*Index, error) {
	if err := checkOrder(order); err != nil {
		return nil, err
	}
	if vocab == nil {
		vocab = &corpus.Vocab{}
	}
	x := &Index{order: order, vocab: vocab, levels: make([]level, order), lengths: map[int]int{}}
	for i := range x.levels {
		x.levels[i].most = make([]uint32, 1)
		x.levels[i].last = make([]uint32, 1)
		x.levels[i].cur = make([]uint32, 1)
		if i > 0 {
			x.levels[i].tab = newTable()
		}
	}
	return x, nil
}

// Order returns the highest order held.
func (x *Index) Order() int { return x.order }

// Sentences returns how many sentences were added.
func (x *Index) Sentences() int { return x.sentences }

// Vocab returns the numbering the index was made with.
func (x *Index) Vocab() *corpus.Vocab { return x.vocab }

// Add adds one reference sentence, given as token numbers of the vocabulary.
func (x *Index) Add(tokens []uint32) {
	x.sentences++
	x.lengths[len(tokens)]++
	x.sorted = nil
	ids := append(x.scratch[:0], tokens...)
	for p := range ids {
		ids[p]++
	}
	x.scratch = ids
	s := uint32(x.sentences)
	x.levels[0].count(ids, s)
	for n := 2; n <= x.order && n <= len(tokens); n++ {
		l := &x.levels[n-1]
		for p := 0; p+n <= len(tokens); p++ {
			ids[p], _ = l.tab.put(pair(ids[p], ids[p+1]))
		}
		ids = ids[:len(tokens)-n+1]
		l.count(ids, s)
	}
}

// count raises the counts of the n-grams of sentence s.
func (l *level) count(ids []uint32, s uint32) {
	for _, id := range ids {
		if need := int(id) + 1; need > len(l.most) {
			l.most = extend(l.most, need)
			l.last = extend(l.last, need)
			l.cur = extend(l.cur, need)
		}
		if l.last[id] != s {
			l.last[id], l.cur[id] = s, 0
		}
		l.cur[id]++
		if l.cur[id] > l.most[id] {
			l.most[id] = l.cur[id]
		}
	}
}

func extend(s []uint32, n int) []uint32 { return append(s, make([]uint32, n-len(s))...) }

// ClosestLength is the reference length nearest to n, as [Closest] has it.
func (x *Index) ClosestLength(n int) int {
	if x.sorted == nil {
		x.sorted = slices.Sorted(maps.Keys(x.lengths))
	}
	return Closest(x.sorted, n)
}

// Closest is the length nearest to n among ascending ones, the shorter of two equally near ones,
// and 0 for none.
func Closest(sorted []int, n int) int {
	i, found := slices.BinarySearch(sorted, n)
	switch {
	case len(sorted) == 0:
		return 0
	case found:
		return n
	case i == len(sorted) || i > 0 && n-sorted[i-1] <= sorted[i]-n:
		return sorted[i-1]
	}
	return sorted[i]
}

// Matcher compares sentences with an [Index]. It holds the scratch space of one goroutine.
type Matcher struct {
	x     *Index
	ids   []uint32
	epoch uint32
	last  [][]uint32
	cur   [][]uint32
}

// NewMatcher returns a matcher for the index as it stands. Sentences added to the
// index later are not seen reliably.
func (x *Index) NewMatcher() *Matcher {
	m := &Matcher{x: x, last: make([][]uint32, x.order), cur: make([][]uint32, x.order)}
	for i := range x.levels {
		m.last[i] = make([]uint32, len(x.levels[i].most))
		m.cur[i] = make([]uint32, len(x.levels[i].most))
	}
	x.ClosestLength(0) // sort once, so that concurrent matchers only read
	return m
}

// Match adds to clipped[n−1], for n = 1 to min(len(clipped), Order), the number of
// n-grams of the sentence that the references hold, each at most as often as in
// the reference sentence that has it most often.
func (m *Matcher) Match(tokens []uint32, clipped []int32) {
	m.epoch++
	if m.epoch == 0 { // wrapped after 2³² sentences
		for i := range m.last {
			clear(m.last[i])
		}
		m.epoch = 1
	}
	for n := 1; n <= min(len(clipped), m.x.order, len(tokens)); n++ {
		ids := m.step(tokens, n)
		most, last, cur := m.x.levels[n-1].most, m.last[n-1], m.cur[n-1]
		hits := int32(0)
		for _, id := range ids {
			if id == 0 {
				continue
			}
			if last[id] != m.epoch {
				last[id], cur[id] = m.epoch, 0
			}
			if cur[id] < most[id] {
				cur[id]++
				hits++
			}
		}
		clipped[n-1] += hits
		if hits == 0 {
			return // no n-gram known, so no longer one
		}
	}
}

// step turns the numbers of order n−1 in m.ids into those of order n; 0 stands
// for an n-gram that no reference has.
func (m *Matcher) step(tokens []uint32, n int) []uint32 {
	if n == 1 {
		m.ids = append(m.ids[:0], tokens...)
		most := m.x.levels[0].most
		for p, t := range m.ids {
			if int(t)+1 < len(most) && most[t+1] > 0 {
				m.ids[p] = t + 1
			} else {
				m.ids[p] = 0
			}
		}
		return m.ids
	}
	l := &m.x.levels[n-1]
	k := len(tokens) - n + 1
	for p := 0; p < k; p++ {
		a, b := m.ids[p], m.ids[p+1]
		if a == 0 || b == 0 {
			m.ids[p] = 0
			continue
		}
		m.ids[p] = l.tab.get(pair(a, b))
	}
	m.ids = m.ids[:k]
	return m.ids
}

// Known writes to known[p] whether the n-gram starting at token p of the sentence
// occurs in the references, for p = 0 to len(tokens)−n, and returns that slice
// (nil when the sentence is shorter than n). n must be 1 to Order.
func (m *Matcher) Known(tokens []uint32, n int, known []bool) []bool {
	if n < 1 || n > m.x.order || len(tokens) < n {
		return nil
	}
	var ids []uint32
	for k := 1; k <= n; k++ {
		ids = m.step(tokens, k)
	}
	known = known[:0]
	for _, id := range ids {
		known = append(known, id != 0)
	}
	return known
}
