package ngram

import "infill/metrics/corpus"

// Levels numbers the n-grams of a corpus for n = 1, 2, 3, … in turn. At each order every position
// has a dense number (equal n-grams have equal numbers), and an n-gram that can occur only once,
// because one of its halves does, gets [Single] without being looked up. In text most long n-grams
// are of that kind, which is what makes a million sentences fit into memory and time.
//
//	l := ngram.NewLevels(c)
//	for n := 1; n <= 4; n++ {
//		ids, distinct := l.Next()
//		…
//	}
type Levels struct {
	c     *corpus.Corpus
	order int
	ids   []uint32
	once  []uint64 // bit id: the n-gram of the current order occurs exactly once
	tab   table
}

// Single is the number at a position whose n-gram occurs nowhere else.
const Single = 0

// NewLevels returns the numbering of c before order 1. It keeps four bytes a token beside c.
func NewLevels(c *corpus.Corpus) *Levels { return &Levels{c: c, tab: newTable()} }

// Next moves to the next order n. ids[p] is the number of the n-gram that starts
// at token p of [corpus.Corpus.Tokens]: 1 to numbers, or [Single]. Positions
// whose n-gram would cross the end of their sentence hold no meaning and must not
// be read: sentence i has its n-grams at start ≤ p ≤ end−n of [corpus.Corpus.Bounds].
// The slice is valid until the next call. Numbers above 0 may occur once as well.
func (l *Levels) Next() (ids []uint32, numbers int) {
	l.order++
	if l.order == 1 {
		return l.first()
	}
	c, n := l.c, l.order
	prev, prevOnce := l.ids, l.once
	var once []uint64
	l.tab.reset()
	for i, sentences := 0, c.Len(); i < sentences; i++ {
		start, end := c.Bounds(i)
		for p := start; p <= end-n; p++ {
			a, b := prev[p], prev[p+1]
			if a == Single || b == Single || prevOnce[a>>6]>>(a&63)&1 == 1 || prevOnce[b>>6]>>(b&63)&1 == 1 {
				prev[p] = Single
				continue
			}
			id, fresh := l.tab.put(pair(a, b))
			w, bit := id>>6, uint64(1)<<(id&63)
			if fresh {
				if int(w) >= len(once) {
					once = append(once, 0)
				}
				once[w] |= bit
			} else {
				once[w] &^= bit
			}
			// prev[p] is read no more: position p+1 needs prev[p+1] and prev[p+2].
			prev[p] = id
		}
	}
	l.once = once
	return l.ids, int(l.tab.n)
}

// first numbers the single tokens: their number in the vocabulary plus one, made
// dense here because a shared vocabulary may be much larger than this corpus.
func (l *Levels) first() ([]uint32, int) {
	tokens := l.c.Tokens()
	dense := make([]uint32, l.c.Vocab().Len())
	seen := make([]uint8, l.c.Vocab().Len()+1)
	l.ids = make([]uint32, len(tokens))
	n := uint32(0)
	for p, t := range tokens {
		if dense[t] == 0 {
			n++
			dense[t] = n
		}
		id := dense[t]
		if seen[id] < 2 {
			seen[id]++
		}
		l.ids[p] = id
	}
	l.once = make([]uint64, n>>6+1)
	for id := uint32(1); id <= n; id++ {
		if seen[id] == 1 {
			l.once[id>>6] |= 1 << (id & 63)
		}
	}
	return l.ids, int(n)
}
