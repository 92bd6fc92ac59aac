package tokenize

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// charPairs is byte-pair encoding of characters with byte fallback, which Gemma's
// vocabularies have and mmBERT's with them: the smallest pieces of a word are its
// characters, and a character without a piece is its bytes, pieces <0x00> to <0xFF>. A
// word here is a whole stretch of text, its spaces written as marks.
type charPairs struct {
	pairModel
	vocab map[string]int
	bytes [256]int32 // pieces of bytes
}

func newCharPairs(vocab map[string]int, merges [][2]string, ignoreMerges bool) (*charPairs, error) {
	pairs, err := newPairModel(vocab, merges, ignoreMerges,
		func(piece string) (string, bool) { return piece, true })
	if err != nil {
		return nil, err
	}
	m := &charPairs{pairModel: pairs, vocab: vocab}
	m.singles = m.characters
	for b := range m.bytes {
		name := bytePiece(byte(b))
		id, ok := vocab[name]
		if !ok {
			return nil, problem(errUnsupported, "byte fallback without the piece %s; a vocabulary with "+
				"the pieces of all bytes can be read", name)
		}
		m.bytes[b] = int32(id)
	}
	return m, nil
}

// bytePiece is the spelling of a byte in vocabularies with byte fallback.
func bytePiece(b byte) string { return fmt.Sprintf("<0x%02X>", b) }

func (m *charPairs) characters(w []byte) []piece {
	out := make([]piece, 0, len(w))
	for i := 0; i < len(w); {
		_, size := utf8.DecodeRune(w[i:])
		if id, ok := m.vocab[string(w[i:i+size])]; ok {
			out = append(out, piece{int32(id), int32(i), int32(i + size)})
		} else {
			for k := i; k < i+size; k++ {
				out = append(out, piece{m.bytes[w[k]], int32(k), int32(k + 1)})
			}
		}
		i += size
	}
	return out
}

// byteOf is the byte that a piece of byte fallback stands for.
func (t *Tokenizer) byteOf(id int32) (b byte, ok bool) {
	if len(t.Token(id)) != len("<0x00>") {
		return 0, false
	}
	var all []int32
	switch m := t.model.(type) {
	case *unigram:
		all = m.bytes[:]
	case *charPairs:
		all = m.bytes[:]
	}
	at := slices.Index(all, id)
	return byte(max(at, 0)), at >= 0
}

// decodeFallback joins pieces of a vocabulary with byte fallback: marks become spaces, and
// neighbouring bytes characters. Bytes that are not UTF-8 are a U+FFFD each.
func (t *Tokenizer) decodeFallback(ids []int32) string {
	var b strings.Builder
	var run []byte
	flush := func() {
		if utf8.Valid(run) {
			b.Write(run)
		} else {
			b.WriteString(strings.Repeat("\ufffd", len(run)))
		}
		run = run[:0]
	}
	for _, id := range ids {
		if c, ok := t.byteOf(id); ok {
			run = append(run, c)
			continue
		}
		flush()
		b.WriteString(strings.ReplaceAll(t.Token(id), t.mark, " "))
	}
	flush()
	if t.startSpaced {
		return strings.TrimPrefix(b.String(), " ")
	}
	return b.String()
}
