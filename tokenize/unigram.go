package tokenize

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// A scored is a piece of a Unigram vocabulary with its log-probability.
type scored struct {
	piece string
	score float64
}

// unigram cuts a word into the pieces whose scores have the highest sum
// (Kudo 2018, section 3.2), by Viterbi's algorithm. A character that no piece
// begins and ends at costs 10 more than the worst piece; runs of such become
// one piece.
type unigram struct {
	scores  []float64
	ids     map[string]int32 // of equal pieces the last
	trie    trie
	unknown int32 // −1: none
	penalty float64
	bytes   [256]int32 // pieces <0x00> to <0xFF> for unknown characters; −1: none
	cache   *wordCache
}

const unknownPenalty = 10.0

func newUnigram(vocab []scored, unknown int, byteFallback bool) (*unigram, error) {
	m := &unigram{scores: make([]float64, len(vocab)), ids: make(map[string]int32, len(vocab)),
		unknown: int32(unknown), cache: newWordCache(cacheBytes)}
	worst := math.Inf(1)
	for id, v := range vocab {
		if math.IsNaN(v.score) || math.IsInf(v.score, 0) {
			return nil, problem(ErrFormat, "piece %q has the score %v", v.piece, v.score)
		}
		m.scores[id] = v.score
		worst = min(worst, v.score)
		if v.piece != "" {
			m.ids[v.piece] = int32(id)
		}
	}
	m.penalty = worst - unknownPenalty
	for b := range m.bytes {
		m.bytes[b] = -1
		if id, ok := m.ids[bytePiece(byte(b))]; ok && byteFallback {
			m.bytes[b] = id
		}
	}
	pieces := make([]trieEntry, 0, len(m.ids))
	for p, id := range m.ids {
		pieces = append(pieces, trieEntry{p, id})
	}
	m.trie = newTrie(pieces)
	return m, nil
}

func (m *unigram) pieces(out []piece, w []byte) ([]piece, error) {
	return m.cache.pieces(out, w, m.best)
}

// step is the best way to a place in a word: its score, and the last piece.
type step struct {
	score float64
	from  int32 // −1: no way yet
	id    int32
}

// best is the best segmentation of w.
func (m *unigram) best(w []byte) (out []piece, err error) {
	steps := make([]step, len(w)+1)
	for i := range steps {
		steps[i].from = -1
	}
	for at := 0; at < len(w); {
		_, size := utf8.DecodeRune(w[at:])
		here := steps[at].score
		single := false
		node := int32(0)
		for end := at; end < len(w); {
			if node = m.trie.next(node, w[end]); node < 0 {
				break
			}
			end++
			id := m.trie.nodes[node].id
			if id < 0 {
				continue
			}
			single = single || end-at == size
			if s := &steps[end]; s.from < 0 || here+m.scores[id] > s.score {
				*s = step{here + m.scores[id], int32(at), id}
			}
		}
		if !single {
			if s := &steps[at+size]; s.from < 0 || here+m.penalty > s.score {
				*s = step{here + m.penalty, int32(at), m.unknown}
			}
		}
		at += size
	}
	for end := int32(len(w)); end > 0; {
		s := steps[end]
		for s.id == m.unknown && s.from > 0 && steps[s.from].id == m.unknown {
			s.from = steps[s.from].from
		}
		if out, err = m.emit(out, w, piece{s.id, s.from, end}); err != nil {
			return nil, err
		}
		end = s.from
	}
	slices.Reverse(out)
	return out, nil
}

// emit appends a piece, or the pieces of the bytes of an unknown one, last first.
func (m *unigram) emit(out []piece, w []byte, p piece) ([]piece, error) {
	if p.id != m.unknown {
		return append(out, p), nil
	}
	if id, ok := m.ids[string(w[p.lo:p.hi])]; ok { // unknown characters that are a piece together
		p.id = id
		return append(out, p), nil
	}
	all := true
	for _, b := range w[p.lo:p.hi] {
		all = all && m.bytes[b] >= 0
	}
	if all {
		for i := p.hi - 1; i >= p.lo; i-- {
			out = append(out, piece{m.bytes[w[i]], p.lo, p.hi})
		}
		return out, nil
	}
	if p.id < 0 {
		return out, problem(errMissingToken, "the vocabulary has no unknown token (unk_id) and no "+
			"piece for %q", strings.ToValidUTF8(string(w[p.lo:p.hi]), "\ufffd"))
	}
	return append(out, p), nil
}

// trie finds the pieces that a text begins with. The branches of a node lie
// next to each other, sorted.
type trie struct {
	nodes []trieNode
	root  [256]int32
}

type trieNode struct {
	id     int32 // of the piece that ends here; −1: none
	first  int32 // node of the first branch
	labels string
}

type trieEntry struct {
	piece string
	id    int32
}

// newTrie builds the trie of different, non-empty pieces.
func newTrie(pieces []trieEntry) trie {
	slices.SortFunc(pieces, func(a, b trieEntry) int { return strings.Compare(a.piece, b.piece) })
	t := trie{nodes: []trieNode{{id: -1}}}
	type task struct {
		node, lo, hi int32
		depth        int32
	}
	queue := []task{{0, 0, int32(len(pieces)), 0}}
	var labels []byte
	for len(queue) > 0 {
		k := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		labels = labels[:0]
		first := int32(len(t.nodes))
		for i := k.lo; i < k.hi; {
			label := pieces[i].piece[k.depth]
			child := task{int32(len(t.nodes)), i, i, k.depth + 1}
			for child.hi < k.hi && pieces[child.hi].piece[k.depth] == label {
				child.hi++
			}
			i = child.hi
			n := trieNode{id: -1}
			if len(pieces[child.lo].piece) == int(child.depth) {
				n.id = pieces[child.lo].id
				child.lo++
			}
			t.nodes = append(t.nodes, n)
			labels = append(labels, label)
			if child.lo < child.hi {
				queue = append(queue, child)
			}
		}
		t.nodes[k.node].first, t.nodes[k.node].labels = first, string(labels)
	}
	for b := range t.root {
		t.root[b] = t.branch(0, byte(b))
	}
	return t
}

// next follows a branch; −1 if there is none.
func (t *trie) next(node int32, label byte) int32 {
	if node == 0 {
		return t.root[label]
	}
	return t.branch(node, label)
}

func (t *trie) branch(node int32, label byte) int32 {
	n := &t.nodes[node]
	if i := strings.IndexByte(n.labels, label); i >= 0 {
		return n.first + int32(i)
	}
	return -1
}
