package text

import (
	"unicode"

	"infill/tokenize"
)

// Words of letters are taken for foreign to a vocabulary that has some character of them only as
// the unknown token, or that spells them in short pieces. These are at most this many letters
// on average: of English BERT vocabularies in 10,000 English sentences one in a thousand has more
// than half of its letters in such words.
const (
	shortLatin = 3.0
	shortOther = 1.4 // letters one by one, or their bytes
)

// fewForeign is how many foreign words of Latin letters, or letters of other scripts, are enough to
// tell.
const fewForeign = 3

// syllabic are scripts whose characters are pieces of their own in vocabularies of their languages
// too. A vocabulary knows them if it has many.
var syllabic = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
}

// foreignScript is the script of a text, as package unicode calls it, most of whose letters are in
// words that are foreign to a vocabulary, blanks left out. It is "" for other texts.
func foreignScript(p *Plain) string {
	tok := p.tok
	enc, err := Encode(tok, p.Text, p.Blanks)
	if err != nil {
		return ""
	}
	letters, foreign, words := 0, 0, 0
	scripts := map[string]int{}
	piece := 0
	blanks := p.Blanks
	for _, w := range letterRuns(p.Text) {
		for len(blanks) > 0 && blanks[0].End <= w[0] {
			blanks = blanks[1:]
		}
		if len(blanks) > 0 && blanks[0].Start < w[1] {
			continue
		}
		n, pieces, unknown := 0, 0, false
		for _, r := range p.Text[w[0]:w[1]] {
			if unicode.IsLetter(r) { // some vocabularies leave marks out
				n++
			}
		}
		for piece < len(enc.IDs) && enc.Spans[piece][1] <= w[0] {
			piece++
		}
		for i := piece; i < len(enc.IDs) && enc.Spans[i][0] < w[1]; i++ {
			pieces++
			unknown = unknown || enc.IDs[i] == tok.UNKID()
		}
		letters += n
		if r := firstRune(p.Text[w[0]:]); unknown || short(tok, r, n, pieces) {
			foreign += n
			words++
			scripts[scriptOf(r)] += n
		}
	}
	most := ""
	for script, n := range scripts {
		if n > scripts[most] || n == scripts[most] && script < most {
			most = script
		}
	}
	if 2*foreign <= letters || most == "Latin" && words < fewForeign || foreign < fewForeign {
		return ""
	}
	return most
}

// short reports whether a word that begins with a letter, of n letters, is spelt in short
// pieces.
func short(tok *tokenize.Tokenizer, first rune, n, pieces int) bool {
	switch {
	case unicode.In(first, syllabic...):
		return pieces > n || !knowsSyllables(tok)
	case unicode.Is(unicode.Latin, first):
		return pieces > 1 && float64(n) <= shortLatin*float64(pieces)
	}
	return pieces > 1 && float64(n) <= shortOther*float64(pieces)
}

// knowsSyllables reports whether a vocabulary has many syllabic characters: one token in twenty or
// 3,000. English BERT vocabularies have one in forty, multilingual ones more than one in ten.
func knowsSyllables(tok *tokenize.Tokenizer) bool {
	n := 0
	for id := range int32(tok.VocabSize()) {
		if s, _ := tok.Surface(id); s != "" && unicode.In(firstRune(s), syllabic...) {
			if n++; n >= 3000 {
				return true
			}
		}
	}
	return 20*n >= tok.VocabSize()
}

// letterRuns are the byte spans of letters in a row, with their marks.
func letterRuns(s string) [][2]int {
	var out [][2]int
	in := false
	for i, r := range s {
		switch is := unicode.IsLetter(r) || in && unicode.IsMark(r); {
		case is && !in:
			out = append(out, [2]int{i, len(s)})
			in = true
		case !is && in:
			out[len(out)-1][1] = i
			in = false
		}
	}
	return out
}

// scriptOf names the script of a letter.
func scriptOf(r rune) string {
	for name, table := range unicode.Scripts {
		if unicode.Is(table, r) {
			return name
		}
	}
	return ""
}
