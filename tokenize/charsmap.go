package tokenize

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// charsmap is the normalisation of SentencePiece (Kudo and Richardson 2018,
// section 3.2): a map of strings to strings, compiled to a double-array trie
// (the one of the Darts library) and a list of replacements. A unit of the
// trie is 32 bits: a label or a value, whether a key ends here, and how far the
// next unit is.
type charsmap struct {
	units    []uint32
	replaced []byte // strings that end with a NUL
}

func newCharsmap(data []byte) (*charsmap, error) {
	if len(data) < 4 {
		return nil, problem(ErrFormat, "the character map has %d bytes", len(data))
	}
	size := uint64(binary.LittleEndian.Uint32(data))
	if data = data[4:]; size%4 != 0 || size == 0 || size > uint64(len(data)) {
		return nil, problem(ErrFormat, "the character map has a trie of %d bytes in %d", size, len(data))
	}
	m := &charsmap{units: make([]uint32, size/4), replaced: data[size:]}
	for i := range m.units {
		m.units[i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	if !utf8.Valid(m.replaced) {
		return nil, problem(ErrInvalidUTF8, "the character map's replacements")
	}
	return m, nil
}

// lookup returns what the shortest key that s begins with is replaced by.
func (m *charsmap) lookup(s []byte) (string, bool) {
	offset := func(unit uint32) uint32 { return unit >> 10 << (unit & (1 << 9) >> 6) }
	at := offset(m.units[0])
	for _, c := range s {
		if c == 0 {
			break
		}
		at ^= uint32(c)
		if uint64(at) >= uint64(len(m.units)) {
			return "", false
		}
		unit := m.units[at]
		if unit&(1<<31|0xFF) != uint32(c) {
			return "", false
		}
		at ^= offset(unit)
		if unit>>8&1 == 0 {
			continue
		}
		if uint64(at) >= uint64(len(m.units)) {
			return "", false
		}
		value := m.units[at] & (1<<31 - 1)
		if uint64(value) >= uint64(len(m.replaced)) {
			return "", false
		}
		rest := m.replaced[value:min(len(m.replaced), int(value)+maxPieceBytes)]
		if i := bytes.IndexByte(rest, 0); i >= 0 {
			rest = rest[:i]
		}
		return string(rest), utf8.Valid(rest) // a replacement may begin inside a character
	}
	return "", false
}

// longestLookup bounds, in bytes, the clusters that are looked up as one.
const longestLookup = 6

// run replaces, as Hugging Face does, clusters of characters of less than 6
// bytes (by what their shortest beginning is mapped to), and of others every
// character.
func (m *charsmap) run(chars []char, start int32) ([]char, error) {
	changes := make([]change, 0, len(chars))
	skip, changed := 0, false
	put := func(n int, s string) {
		changed = true
		first := len(changes)
		for _, r := range s {
			changes = append(changes, change{r, 0})
		}
		switch added := len(changes) - first; {
		case added > n:
			for i := len(changes) - (added - n); i < len(changes); i++ {
				changes[i].n = 1
			}
		case len(changes) > 0:
			changes[len(changes)-1].n -= n - added
		default: // nothing before it
			skip += n - added
		}
	}
	all := make([]byte, 0, 2*len(chars))
	for _, c := range chars {
		all = utf8.AppendRune(all, c.r)
	}
	for i := 0; i < len(chars); {
		if grown(len(chars), len(changes)) {
			return nil, errGrowth
		}
		n, size := cluster(chars[i:], all)
		if size < longestLookup {
			if s, ok := m.lookup(all[:size]); ok {
				put(n, s)
				i, all = i+n, all[size:]
				continue
			}
		}
		for _, c := range chars[i : i+n] {
			size := utf8.RuneLen(c.r)
			if s, ok := m.lookup(all[:size]); ok {
				put(1, s)
			} else {
				changes = append(changes, change{c.r, 0})
			}
			all = all[size:]
		}
		i += n
	}
	if !changed {
		return chars, nil
	}
	out := transform(chars, changes, skip, start)
	if skip > 0 && start == 0 && len(out) > 0 {
		out[0].made = true // it counts as the first of the text, see metaspace
	}
	return out, nil
}

// cluster is the length, in characters and in bytes, of the first grapheme
// cluster of chars, whose bytes are all. Below firstMark no two characters make
// one, but for a line's end.
func cluster(chars []char, all []byte) (n, size int) {
	if len(chars) == 1 || chars[0].r < firstMark && chars[1].r < firstMark {
		if len(chars) > 1 && chars[0].r == '\r' && chars[1].r == '\n' {
			return 2, 2
		}
		return 1, utf8.RuneLen(chars[0].r)
	}
	first, _, _, _ := uniseg.FirstGraphemeCluster(all, -1)
	return utf8.RuneCount(first), len(first)
}
