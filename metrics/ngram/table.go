package ngram

// table maps the 64-bit key of an n-gram to a dense number, 1 upwards. It is an
// open-addressing hash table with linear probing, at most half full, written for
// one purpose: tens of millions of insertions with no other work per entry.
type table struct {
	slots []slot
	n     uint32 // numbers given out
	shift uint8  // 64 − log2(len(slots))
}

// slot is empty while id is 0.
type slot struct {
	key uint64
	id  uint32
}

const minTableBits = 10

func newTable() table {
	return table{slots: make([]slot, 1<<minTableBits), shift: 64 - minTableBits}
}

// pair is the key of the n-gram made of the (n−1)-grams a and b that start at
// neighbouring positions. The pair determines the n-gram because they overlap.
func pair(a, b uint32) uint64 { return uint64(a)<<32 | uint64(b) }

// home is Fibonacci hashing after mixing the halves: the golden ratio's bits
// spread consecutive numbers over the table.
func (t *table) home(key uint64) uint64 {
	key ^= key >> 29
	return (key * 0x9e3779b97f4a7c15) >> t.shift
}

// put returns the number of key and whether this call gave it out.
func (t *table) put(key uint64) (id uint32, fresh bool) {
	mask := uint64(len(t.slots) - 1)
	for i := t.home(key); ; i = (i + 1) & mask {
		s := &t.slots[i&mask]
		if s.id == 0 {
			t.n++
			*s = slot{key, t.n}
			if int(t.n)*2 > len(t.slots) {
				t.grow()
			}
			return t.n, true
		}
		if s.key == key {
			return s.id, false
		}
	}
}

// get returns the number of key, 0 when it has none.
func (t *table) get(key uint64) uint32 {
	mask := uint64(len(t.slots) - 1)
	for i := t.home(key); ; i = (i + 1) & mask {
		s := &t.slots[i&mask]
		if s.id == 0 || s.key == key {
			return s.id
		}
	}
}

// grow doubles the table. Old slots are visited in hash order, so the new ones
// are written in two sequential streams, not at random.
func (t *table) grow() {
	old := t.slots
	t.slots = make([]slot, 2*len(old))
	t.shift--
	mask := uint64(len(t.slots) - 1)
	for _, s := range old {
		if s.id == 0 {
			continue
		}
		i := t.home(s.key)
		for t.slots[i&mask].id != 0 {
			i++
		}
		t.slots[i&mask] = s
	}
}

// reset empties the table and keeps its memory for the next order, which needs
// about as much: clearing is a fraction of what fresh pages cost.
func (t *table) reset() {
	clear(t.slots)
	t.n = 0
}
