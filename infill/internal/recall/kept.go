package recall

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sync"
)

// kept are the tokens that may fill the blanks of a target. Of what the model says the memo
// remembers these values only: nothing else is ever read. nil stands for the whole vocabulary.
type kept struct {
	name string  // is part of the keys of what is remembered
	ids  []int32 // ascending
	at   []int32 // by token: its place in ids, or −1
	same *int32  // first element of the set that is ids; or nil
}

// keptBytes is the length of a name.
const keptBytes = 16

// keptWorth is the share of a vocabulary from which on all of it is kept: picking values takes
// longer than copying them.
const keptWorth = 7. / 8

// newKept is the union of some sets of tokens, or nil.
func newKept(sets [][]int32, vocab int) *kept {
	k := &kept{at: make([]int32, vocab)}
	for _, ids := range sets {
		for _, id := range ids {
			k.at[id] = 1
		}
	}
	var name []byte
	for id := range k.at {
		if k.at[id] == 0 {
			k.at[id] = -1
			continue
		}
		k.at[id] = int32(len(k.ids))
		k.ids = append(k.ids, int32(id))
		name = binary.LittleEndian.AppendUint32(name, uint32(id))
	}
	if float64(len(k.ids)) > keptWorth*float64(vocab) {
		return nil
	}
	sum := sha256.Sum256(name)
	k.name = string(sum[:keptBytes])
	for _, ids := range sets {
		if len(ids) > 0 && slices.Equal(ids, k.ids) {
			k.same = &ids[0]
		}
	}
	return k
}

// width is the number of values of a row.
func (k *kept) width(vocab int) int {
	if k == nil {
		return vocab
	}
	return len(k.ids)
}

// value returns a token's value in a row.
func (k *kept) value(row []float32, id int32) float32 {
	if k == nil {
		return row[id]
	}
	return row[k.at[id]]
}

// pick fills a row from the values of the whole vocabulary.
func (k *kept) pick(row, all []float32) {
	for j, id := range k.ids {
		row[j] = all[id]
	}
}

// spread puts a row's values where they stand in the vocabulary, and nothing elsewhere.
func (k *kept) spread(dst, row []float32) {
	if k == nil {
		copy(dst, row)
		return
	}
	for j, id := range k.ids {
		dst[id] = row[j]
	}
}

// spreadAll spreads n rows that stand one after the other.
func (k *kept) spreadAll(dst, rows []float32, n int) {
	v, w := len(dst)/n, len(rows)/n
	for i := range n {
		k.spread(dst[i*v:(i+1)*v], rows[i*w:(i+1)*w])
	}
}

// covers reports whether all tokens of the states are kept.
func (k *kept) covers(states [][]int32) bool {
	return k == nil || !slices.ContainsFunc(states, func(state []int32) bool {
		return slices.ContainsFunc(state, func(id int32) bool { return k.at[id] < 0 })
	})
}

// wholeRows are buffers for the values of whole vocabularies, until those that are kept are picked.
var wholeRows sync.Pool

// whole returns n buffers of a width, and a function that takes them back.
func whole(n, width int) (out [][]float32, done func()) {
	for range n {
		b, _ := wholeRows.Get().(*[]float32)
		if b == nil || cap(*b) < width {
			fresh := make([]float32, width)
			b = &fresh
		}
		out = append(out, (*b)[:width])
	}
	return out, func() {
		for i := range out {
			wholeRows.Put(&out[i])
		}
	}
}

// rowsOf makes n rows of the given width.
func rowsOf(n, width int) [][]float32 {
	out := make([][]float32, n)
	for i := range out {
		out[i] = make([]float32, width)
	}
	return out
}
