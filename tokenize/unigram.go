package tokenize

import (
	"maps"
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
	lengths lengths          // of the pieces
	unknown int32            // −1: none
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
	m.lengths = lengthsOf(maps.Keys(m.ids))
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
		for _, n := range m.lengths[w[at]] {
			end := at + n
			if end > len(w) {
				continue
			}
			id, ok := m.ids[string(w[at:end])]
			if !ok {
				continue
			}
			single = single || n == size
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
