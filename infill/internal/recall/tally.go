package recall

import (
	"cmp"
	"hash/fnv"
	"sync"
)

// A Tally counts the rows behind different keys. Up to Most keys it is exact. Of more it keeps
// those whose hashes end in enough zeros and estimates from them (Wegman's adaptive sampling;
// Flajolet, "On adaptive sampling", Computing 43, 1990), to about 0.3 %. Either way the count is a
// function of the set of keys, whatever their order. It is safe for concurrent use, and its zero
// value is ready.
type Tally struct {
	Most int // keys to keep at most; 0: tallyMost

	mu   sync.Mutex
	rows map[uint64]int // by the hash of the key
	zero int            // zeros that a hash must end in to be kept
}

// tallyMost bounds what a tally keeps to some MB.
const tallyMost = 1 << 17

// Add counts the rows of a key, once for equal keys.
func (t *Tally) Add(key []byte, rows int) {
	f := fnv.New64a()
	_, _ = f.Write(key)
	h := scrambled(f.Sum64())
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.keeps(h) {
		return
	}
	if t.rows == nil {
		t.rows = map[uint64]int{}
	}
	t.rows[h] = rows
	for len(t.rows) > cmp.Or(t.Most, tallyMost) {
		t.zero++
		for h := range t.rows {
			if !t.keeps(h) {
				delete(t.rows, h)
			}
		}
	}
}

func (t *Tally) keeps(h uint64) bool { return h&(1<<t.zero-1) == 0 }

// Total is the number of rows behind all keys.
func (t *Tally) Total() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for _, rows := range t.rows {
		n += rows
	}
	return n << t.zero
}

// scrambled spreads the bits of h: the finaliser of SplitMix64 (Steele, Lea and Flood 2014).
func scrambled(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
