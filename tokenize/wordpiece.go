package tokenize

import (
	"unicode/utf8"

	sugarme "github.com/sugarme/tokenizer/model"
	"github.com/sugarme/tokenizer/model/wordpiece"
)

// A modelStage cuts one word of the text stage into pieces. Implementations
// are safe for concurrent use.
type modelStage interface {
	// pieces appends the pieces of w, which is valid UTF-8 and not empty.
	pieces(out []piece, w []byte) ([]piece, error)
}

// A piece is bytes lo to hi of a word.
type piece struct {
	id     int32
	lo, hi int32
}

// wordPiece is greedy longest-match-first WordPiece. The matching itself is
// done by github.com/sugarme/tokenizer; since it looks every candidate up as a
// new string, it sits behind two shortcuts that give the same answer: a word
// that is in the vocabulary is its own longest match, and other words are
// remembered.
type wordPiece struct {
	model    wordpiece.WordPiece
	vocab    sugarme.Vocab
	unknown  int32
	prefix   string // of the pieces inside a word
	maxChars int
	cache    *wordCache
}

func newWordPiece(vocab map[string]int, unknown, prefix string, maxChars int) *wordPiece {
	v := sugarme.Vocab(vocab)
	return &wordPiece{
		model: wordpiece.NewWordPieceBuilder().Vocab(&v).UnkToken(unknown).
			ContinuingSubwordPrefix(prefix).MaxInputCharsPerWord(maxChars).Build(),
		vocab:    v,
		unknown:  int32(vocab[unknown]),
		prefix:   prefix,
		maxChars: maxChars,
		cache:    newWordCache(cacheBytes),
	}
}

func (m *wordPiece) pieces(out []piece, w []byte) ([]piece, error) {
	if len(w) > m.maxChars && utf8.RuneCount(w) > m.maxChars {
		return append(out, piece{m.unknown, 0, int32(len(w))}), nil
	}
	if id, ok := m.vocab[string(w)]; ok {
		return append(out, piece{int32(id), 0, int32(len(w))}), nil
	}
	return m.cache.pieces(out, w, m.match)
}

// rest cuts w as the rest of a word whose beginning is not at hand, so that all
// its pieces go on with a word. It reports false if the vocabulary lacks one.
func (m *wordPiece) rest(out []piece, w []byte) ([]piece, bool) {
	if m.prefix == "" || len(w) > m.maxChars && utf8.RuneCount(w) > m.maxChars {
		return out, false
	}
	start := len(out)
	for at := 0; at < len(w); {
		end := len(w)
		for ; end > at; end-- {
			if id, ok := m.vocab[m.prefix+string(w[at:end])]; ok {
				out = append(out, piece{int32(id), int32(at), int32(end)})
				break
			}
		}
		if end == at {
			return out[:start], false
		}
		at = end
	}
	return out, true
}

// match asks the WordPiece model. Its offsets count characters.
func (m *wordPiece) match(w []byte) ([]piece, error) {
	tokens, err := m.model.Tokenize(string(w))
	if err != nil {
		return nil, problem(errMissingToken, "%v", err)
	}
	out := make([]piece, 0, len(tokens))
	char, at := 0, 0
	advance := func(to int) int32 {
		for char < to && at < len(w) {
			_, size := utf8.DecodeRune(w[at:])
			at += size
			char++
		}
		return int32(at)
	}
	for _, t := range tokens {
		lo := advance(t.Offsets[0])
		out = append(out, piece{int32(t.Id), lo, advance(t.Offsets[1])})
	}
	return out, nil
}
