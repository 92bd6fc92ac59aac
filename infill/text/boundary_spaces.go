package text

import (
	"strings"
	"sync"
	"unicode/utf8"

	"infill/tokenize"
)

// spaceMarks is the boundary of vocabularies that mark the pieces after a
// space. A piece without the mark may begin a word, after a symbol, or go on
// with one.
type spaceMarks struct {
	tok  *tokenize.Tokenizer
	once sync.Once
	key  []int32 // by id: the first token that looks the same
}

// Sort leaves out what fills no blank by itself: white space, and parts of a character.
func (m *spaceMarks) Sort() Lists {
	var l Lists
	for id := range int32(m.tok.VocabSize()) {
		text, space := m.tok.Surface(id)
		if m.tok.IsSpecial(id) || m.tok.IsUnused(id) || text == "" || !utf8.ValidString(text) ||
			strings.TrimSpace(text) != text {
			continue
		}
		l.later(id, text)
		if space {
			l.apart(id, tokenize.AfterSpace, text)
			continue
		}
		l.apart(id, tokenize.AfterSymbol, text)
		l.inside(id, text, true)
	}
	l.words(m.tok.WholeWords(), m.tok.BareWords())
	return l
}

// Forms: tied blanks have one token, with the mark unless none of them asks for
// one. A blank that must have none then fits no tie.
func (m *spaceMarks) Forms(places []Place) ([]tokenize.Place, int) {
	out := make([]tokenize.Place, len(places))
	marked := false
	for _, p := range places {
		marked = marked || !p.bare
	}
	for i, p := range places {
		switch {
		case marked && p.bare && !p.movable:
			return nil, i
		case marked:
			out[i] = tokenize.AfterSpace
		case p.Glued:
			out[i] = tokenize.AfterLetter
		default:
			out[i] = tokenize.AfterSymbol
		}
	}
	return out, -1
}

func (m *spaceMarks) bare(before string, touches bool) bool {
	return touches || !m.tok.FollowsSpace(before)
}

func (m *spaceMarks) joins(rune) bool { return false }

func (m *spaceMarks) Begins(f []int32, i int, glued bool) bool {
	text, space := m.tok.Surface(f[i])
	if !space && (i > 0 || glued) {
		return false
	}
	return isLetterOrDigit(firstRune(text))
}

func (m *spaceMarks) GoesOn(f []int32, i int) bool {
	_, space := m.tok.Surface(f[i])
	return !space
}

// sameWord is GoesOn, except that punctuation belongs to no word.
func (m *spaceMarks) sameWord(f []int32, i int) bool {
	return m.GoesOn(f, i) && isWordRune(lastRune(surface(m.tok, f[i-1]))) &&
		isWordRune(firstRune(surface(m.tok, f[i])))
}

func (m *spaceMarks) Alike(a, b int32) bool {
	m.once.Do(func() {
		first := map[string]int32{}
		m.key = make([]int32, m.tok.VocabSize())
		for id := range m.key {
			text := surface(m.tok, int32(id))
			if _, ok := first[text]; !ok {
				first[text] = int32(id)
			}
			m.key[id] = first[text]
		}
	})
	return a == b || m.key[a] == m.key[b]
}

// Units: a filling is judged as a whole.
func (m *spaceMarks) Units(f []int32, form tokenize.Place,
	yield func([]int32, tokenize.Place) bool) bool {
	return len(f) == 0 || yield(f, form)
}

func (m *spaceMarks) Words(f []int32, _ tokenize.Place, yield func([]int32) bool) bool {
	for i := 0; i < len(f); {
		end := i + 1
		for end < len(f) && m.sameWord(f, end) {
			end++
		}
		if !yield(f[i:end]) {
			return false
		}
		i = end
	}
	return true
}

// Join: the pieces say it all. The space before the first stands outside the blank.
func (m *spaceMarks) Join(ids []int32) string {
	var b strings.Builder
	for i, id := range ids {
		s, space := m.tok.Surface(id)
		if space && i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(s)
	}
	return b.String()
}

func (m *spaceMarks) Spell(text string, at tokenize.Place) (Phrase, error) {
	return spellPhrase(m.tok, text, at)
}

// Spellings are those with a space before the phrase and without.
func (m *spaceMarks) Spellings(p Phrase) [][]int32 {
	out := [][]int32{p.IDs}
	if bare, err := m.Spell(p.Text, tokenize.AfterSymbol); err == nil {
		out = append(out, bare.IDs)
	}
	return out
}
