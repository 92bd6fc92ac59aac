package tokenize

import (
	"container/heap"
	"strings"
)

// pair are two neighbouring pieces.
type pair struct{ a, b int32 }

// merge is what a pair becomes, and how early.
type merge struct{ rank, id int32 }

// mergeTable joins neighbouring pieces, pair by pair: the pair that was learnt first before
// all others, and of equal pairs the leftmost (Sennrich et al. 2016).
type mergeTable map[pair]merge

// newMerges resolves the merges, which are pairs of spellings in the order in which they
// were learnt.
func newMerges(vocab map[string]int, merges [][2]string) (mergeTable, error) {
	out := make(mergeTable, len(merges))
	for rank, p := range merges {
		a, okA := vocab[p[0]]
		b, okB := vocab[p[1]]
		id, ok := vocab[p[0]+p[1]]
		if !okA || !okB || !ok {
			return nil, problem(ErrFormat, "merge %d joins %q and %q, but %q is not in the vocabulary",
				rank, p[0], p[1], firstMissing(vocab, p[0], p[1], p[0]+p[1]))
		}
		out[pair{int32(a), int32(b)}] = merge{int32(rank), int32(id)}
	}
	return out, nil
}

func firstMissing(vocab map[string]int, pieces ...string) string {
	for _, p := range pieces {
		if _, ok := vocab[p]; !ok {
			return p
		}
	}
	return ""
}

// pairModel is byte-pair encoding of a word's smallest pieces.
type pairModel struct {
	singles func(w []byte) []piece // the smallest pieces
	merges  mergeTable
	whole   map[string]int32 // words that are pieces without further ado; nil if none
	cache   *wordCache
}

// bytePairs is byte-level byte-pair encoding (Radford et al. 2019): the smallest pieces of
// a word are its bytes.
type bytePairs struct {
	pairModel
	start [256]int32 // pieces of single bytes; −1: none
}

// newPairModel makes the parts that both kinds share. With ignoreMerges a word that is a piece is
// not cut. raw is the word that a piece is.
func newPairModel(vocab map[string]int, merges [][2]string, ignoreMerges bool,
	raw func(piece string) (word string, ok bool)) (m pairModel, err error) {
	m.cache = newWordCache(cacheBytes)
	if m.merges, err = newMerges(vocab, merges); err != nil || !ignoreMerges {
		return m, err
	}
	m.whole = make(map[string]int32, len(vocab))
	for piece, id := range vocab {
		if word, ok := raw(piece); ok {
			m.whole[word] = int32(id)
		}
	}
	return m, nil
}

// newBytePairs makes the model. A byte without a piece becomes unknown; if that is
// negative, it is left out, as Hugging Face does.
func newBytePairs(vocab map[string]int, merges [][2]string, unknown int32,
	ignoreMerges bool) (*bytePairs, error) {
	pairs, err := newPairModel(vocab, merges, ignoreMerges, rawPiece)
	if err != nil {
		return nil, err
	}
	m := &bytePairs{pairModel: pairs}
	m.singles = m.bytes
	for b := range m.start {
		m.start[b] = unknown
		if id, ok := vocab[string(runeOf[b])]; ok {
			m.start[b] = int32(id)
		}
	}
	return m, nil
}

func (m *bytePairs) bytes(w []byte) []piece {
	out := make([]piece, 0, len(w))
	for i, b := range w {
		if id := m.start[b]; id >= 0 {
			out = append(out, piece{id, int32(i), int32(i + 1)})
		}
	}
	return out
}

func (m *pairModel) pieces(out []piece, w []byte) ([]piece, error) {
	if id, ok := m.whole[string(w)]; ok {
		return append(out, piece{id, 0, int32(len(w))}), nil
	}
	return m.cache.pieces(out, w, func(w []byte) ([]piece, error) {
		return m.merges.join(m.singles(w)), nil
	})
}

// link is a piece of a word on its way: a list in both directions, by index.
type link struct {
	piece
	before, after int32
	gone          bool
}

// candidate is a merge that may be made: of the link at and the one after it.
type candidate struct {
	merge
	at int32
}

type candidates []candidate

func (c candidates) Len() int { return len(c) }
func (c candidates) Less(i, j int) bool {
	return c[i].rank < c[j].rank || c[i].rank == c[j].rank && c[i].at < c[j].at
}
func (c candidates) Swap(i, j int) { c[i], c[j] = c[j], c[i] }

// Push and Pop are for package heap.
func (c *candidates) Push(x any) { *c = append(*c, x.(candidate)) }
func (c *candidates) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

// join makes all merges of in, which are the smallest pieces in order. It keeps the pairs that can
// be merged in a heap.
func (t mergeTable) join(in []piece) []piece {
	if len(in) == 0 {
		return nil
	}
	links := make([]link, len(in))
	for i, p := range in {
		links[i] = link{piece: p, before: int32(i - 1), after: int32(i + 1)}
	}
	links[len(links)-1].after = -1
	var queue candidates
	consider := func(at int32) {
		if at < 0 || links[at].after < 0 {
			return
		}
		if g, ok := t[pair{links[at].id, links[links[at].after].id}]; ok {
			heap.Push(&queue, candidate{g, at})
		}
	}
	for i := range links {
		consider(int32(i))
	}
	for len(queue) > 0 {
		c := heap.Pop(&queue).(candidate)
		l := &links[c.at]
		if l.gone || l.after < 0 {
			continue
		}
		next := &links[l.after]
		if g, ok := t[pair{l.id, next.id}]; !ok || g.id != c.id {
			continue // one of the two has changed since
		}
		l.id, l.hi, l.after = c.id, next.hi, next.after
		next.gone = true
		if l.after >= 0 {
			links[l.after].before = c.at
		}
		consider(l.before)
		consider(c.at)
	}
	out := make([]piece, 0, 8)
	for i := int32(0); i >= 0; i = links[i].after {
		out = append(out, links[i].piece)
	}
	return out
}

// parseMerges reads a merges.txt: two spellings a line, the earliest merge
// first. Lines that begin with #version are comments.
func parseMerges(data []byte, name string) ([][2]string, error) {
	var out [][2]string
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if line == "" || strings.HasPrefix(line, "#version") {
			continue
		}
		m, ok := cutMerge(line)
		if !ok {
			return nil, &FileError{File: name, Line: number,
				Err: problem(ErrFormat, "want two pieces with one space between them")}
		}
		if len(out) == maxVocabulary {
			return nil, &FileError{File: name, Line: number,
				Err: problem(ErrTooLarge, "more than %d merges", maxVocabulary)}
		}
		out = append(out, m)
	}
	return out, nil
}

func cutMerge(line string) ([2]string, bool) {
	a, b, ok := strings.Cut(line, " ")
	return [2]string{a, b}, ok && a != "" && b != "" && !strings.Contains(b,
		" ") && len(line) <= 2*maxPieceBytes
}
