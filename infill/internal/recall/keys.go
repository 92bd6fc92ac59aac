package recall

import (
	"encoding/binary"

	"infill/mlm"
)

// kinds of keys.
const (
	rowKey      = 'r' // log f of the vocabulary at a masked blank
	gradientKey = 'g' // log f and ∇U of a state
)

// contextKey appends the key of the row that masks blank i in a state: what is kept of it, the
// masked text, and the place asked about. What else is a blank of the sentence does not matter.
func contextKey(dst []byte, name string, s *mlm.Sentence, state []int32, i int, mask int32) []byte {
	dst = binary.AppendUvarint(keyOf(dst, rowKey, name), uint64(s.Blanks[i]))
	return textKey(dst, s, state, i, mask)
}

// keyOf begins a key. The length of a name comes before it.
func keyOf(dst []byte, kind byte, name string) []byte {
	return append(append(dst, kind, byte(len(name))), name...)
}

// stateKey appends the key of a state's gradient: what is kept of it, the filled text and the
// places of its blanks.
func stateKey(dst []byte, name string, s *mlm.Sentence, state []int32) []byte {
	dst = binary.AppendUvarint(keyOf(dst, gradientKey, name), uint64(len(s.Blanks)))
	for _, p := range s.Blanks {
		dst = binary.AppendUvarint(dst, uint64(p))
	}
	return textKey(dst, s, state, -1, 0)
}

// textKey appends the text of a state, with blank i masked.
func textKey(dst []byte, s *mlm.Sentence, state []int32, i int, mask int32) []byte {
	b := 0
	for p, id := range s.IDs {
		if b < len(s.Blanks) && s.Blanks[b] == p {
			if id = state[b]; b == i {
				id = mask
			}
			b++
		}
		dst = binary.AppendUvarint(dst, uint64(uint32(id)))
	}
	return dst
}
