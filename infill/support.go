package infill

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"infill/tokenize"
)

// A Vocab names the tokens that may fill a blank.
type Vocab int

const (
	// VocabAll allows every token that can stand where the blank stands:
	// after white space or punctuation whatever begins a word, directly after
	// a letter or another blank whatever continues one. Special and unused
	// tokens never.
	VocabAll Vocab = iota
	// VocabWholeWords allows only whole words made of letters. Blanks with a
	// list of their own take it as it is.
	VocabWholeWords
)

// supports holds, for one tokenizer, the ascending token ids that may fill
// each kind of blank.
type supports struct {
	tok   *tokenize.Tokenizer
	begin []int32 // what may follow white space, punctuation, or the start of the text
	glued []int32 // what may follow a letter, a digit or another blank directly
	any   []int32 // both: what may follow the first token of a blank
	words []int32 // whole words
	bare  []int32 // whole words where no space is before them
	key   []int32 // if the vocabulary marks spaces, by id: the first token that looks the same

	mu        sync.Mutex
	filtered  map[filterKey][]int32
	canonical map[string]bool // whether pieces are how the tokenizer spells their word
}

// filterKey names a support that was worked out once.
type filterKey struct {
	base     *int32 // first element of the support it is taken from
	pattern  string
	ban      *WordList
	original string
	distance int
}

// Bounds of the caches, which are emptied when full: a filtered support may
// be as large as the vocabulary.
const (
	maxFiltered   = 256
	maxRemembered = 1 << 14
)

func newSupports(tok *tokenize.Tokenizer) *supports {
	s := &supports{tok: tok, words: tok.WholeWords(), bare: tok.BareWords(), filtered: map[filterKey][]int32{}, canonical: map[string]bool{}}
	if tok.MarksSpaces() {
		s.marked()
		return s
	}
	for id := int32(0); int(id) < tok.VocabSize(); id++ {
		if tok.IsSpecial(id) || tok.IsUnused(id) {
			continue
		}
		s.any = append(s.any, id)
		if tok.IsContinuation(id) {
			s.glued = append(s.glued, id)
			continue
		}
		s.begin = append(s.begin, id)
		// A whole word would have to stand apart; what can follow a letter
		// directly is punctuation, or a script written without spaces.
		if r, _ := utf8.DecodeRuneInString(tok.Token(id)); !isWordRune(r) {
			s.glued = append(s.glued, id)
		}
	}
	return s
}

// marked finds the supports in a vocabulary that marks spaces: the pieces with
// the mark, and those without it. Pieces that are white space only, or part of
// a character, fill no blank by themselves.
func (s *supports) marked() {
	first := map[string]int32{}
	s.key = make([]int32, s.tok.VocabSize())
	for id := range int32(len(s.key)) {
		text, space := s.tok.Surface(id)
		if _, ok := first[text]; !ok {
			first[text] = id
		}
		s.key[id] = first[text]
		if s.tok.IsSpecial(id) || s.tok.IsUnused(id) || text == "" || !utf8.ValidString(text) || strings.TrimSpace(text) != text {
			continue
		}
		s.any = append(s.any, id)
		if space {
			s.begin = append(s.begin, id)
		} else {
			s.glued = append(s.glued, id)
		}
	}
}

// emptySupport is the error of a blank that nothing may fill.
func emptySupport(t *Template, i int, why string) error {
	b := t.Blanks[i]
	return &TextError{b.Start, fmt.Sprintf("blank %d, %s: %s", i+1, spelt(t.Text[b.Start:b.End]), why), ErrEmptySupport}
}

// slot returns what may stand at token number pos of a group that has count
// tokens.
func (s *supports) slot(t *Template, g *group, pos, count int, opt *Options) ([]int32, error) {
	if err := s.checkTied(t, g); err != nil {
		return nil, err
	}
	var base []int32
	switch {
	case opt.Vocab == VocabWholeWords || g.Pattern != nil:
		base = s.words
		if pos == 0 && t.marks && t.inside(g) {
			base = s.bare
		}
	case pos > 0:
		base = s.any
	case t.marks:
		base = s.begin
		if t.inside(g) {
			base = s.glued
		}
	default:
		for k, b := range g.blanks {
			here := s.begin
			if t.glued(b) {
				here = s.glued
			}
			if k == 0 {
				base = here
			} else if len(base) > 0 && len(here) > 0 && &base[0] != &here[0] {
				base = both(base, here) // tied blanks, one of them inside a word
			}
		}
	}
	if len(base) == 0 {
		return nil, emptySupport(t, g.blanks[0], "the vocabulary holds nothing that fits there")
	}
	key := filterKey{base: &base[0]}
	if g.Pattern != nil {
		key.pattern = g.Pattern.String()
	}
	if count == 1 { // of several tokens, words are banned where they are whole
		key.ban = opt.Ban
	}
	if opt.MinDistance > 0 && g.blanks[0] < len(opt.Original) {
		key.original, key.distance = opt.Original[g.blanks[0]], opt.MinDistance
	}
	ids := s.filter(base, key, g.Pattern)
	if len(ids) == 0 {
		return nil, emptySupport(t, g.blanks[0], "no token of the vocabulary meets all constraints; loosen the expression, --ban, --vocab or --min-distance")
	}
	return ids, nil
}

func (s *supports) filter(base []int32, key filterKey, pattern *regexp.Regexp) []int32 {
	if key == (filterKey{base: key.base}) {
		return base
	}
	s.mu.Lock()
	ids, ok := s.filtered[key]
	s.mu.Unlock()
	if ok {
		return ids
	}
	for _, id := range base {
		word := surface(s.tok, id)
		if pattern != nil && !pattern.MatchString(word) ||
			key.ban.has([]int32{id}) ||
			key.distance > 0 && nearer(word, key.original, key.distance) {
			continue
		}
		ids = append(ids, id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.filtered) >= maxFiltered {
		clear(s.filtered)
	}
	s.filtered[key] = ids
	return ids
}

// phrases returns the fillings of a group with a list, of its own or from
// Options.Allow; nil, nil if it has none.
func (s *supports) phrases(t *Template, g *group, opt *Options) ([]phrase, error) {
	var list []phrase
	glued := t.inside(g)
	switch {
	case g.Words != nil:
		for _, w := range g.Words {
			p, err := newPhrase(s.tok, w)
			if err != nil && !glued { // "ing" need not be a word by itself
				return nil, &TextError{g.Start, err.Error(), ErrBlank}
			}
			p.text = strings.TrimSpace(w)
			list = append(list, p)
		}
	case opt.Allow != nil:
		list = opt.Allow.phrases
	default:
		return nil, nil
	}
	if err := s.checkTied(t, g); err != nil {
		return nil, err
	}
	for _, b := range g.blanks {
		if !t.marks && t.glued(b) != glued {
			return nil, emptySupport(t, b, "it is tied to a blank that stands apart, but goes on with a word")
		}
	}
	var out []phrase
	seen := map[string]bool{}
	for _, p := range list {
		if g.Words != nil && opt.Allow != nil && !opt.Allow.has(p.ids) ||
			g.Pattern != nil && !g.Pattern.MatchString(p.text) ||
			opt.Ban.has(p.ids) ||
			opt.MinDistance > 0 && g.blanks[0] < len(opt.Original) && nearer(p.text, opt.Original[g.blanks[0]], opt.MinDistance) {
			continue
		}
		if glued {
			var err error
			if p, err = continued(s.tok, p); err != nil {
				if g.Words != nil {
					return nil, &TextError{g.Start, err.Error(), ErrBlank}
				}
				continue // a list for all blanks need not fit into each
			}
		}
		if k := idsKey(p.ids); (!g.counted || len(p.ids) >= g.Min && len(p.ids) <= g.Max) && !seen[k] {
			seen[k] = true
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return nil, emptySupport(t, g.blanks[0], "no word of the list meets all constraints; loosen the count, the expression, --allow, --ban or --min-distance")
	}
	return out, nil
}

// checkTied refuses, where the vocabulary marks spaces, to tie a blank after a
// space to one directly after punctuation or a letter: no token fits both.
func (s *supports) checkTied(t *Template, g *group) error {
	if !t.marks || t.inside(g) {
		return nil
	}
	for _, b := range g.blanks {
		if t.bare[b] && !t.movable(b) {
			return emptySupport(t, b, "it is tied to a blank after a space, but directly follows other text; this model's tokens are for one or the other")
		}
	}
	return nil
}

// both is the intersection of two ascending lists.
func both(a, b []int32) []int32 {
	var out []int32
	for _, id := range a {
		if _, ok := slices.BinarySearch(b, id); ok {
			out = append(out, id)
		}
	}
	return out
}

// isCanonical tells whether the tokenizer, given the text that the pieces
// spell, makes these very pieces of it. bare matters where the vocabulary marks
// spaces: no space is before the text.
func (s *supports) isCanonical(pieces []int32, bare bool) bool {
	key := idsKey(pieces)
	if bare {
		key += "-"
	}
	s.mu.Lock()
	ok, known := s.canonical[key]
	s.mu.Unlock()
	if known {
		return ok
	}
	var word string
	if s.key != nil {
		word = join(s.tok, pieces)
	} else {
		for _, id := range pieces {
			word += surface(s.tok, id)
		}
	}
	enc, err := s.tok.Word(word, !bare)
	ok = err == nil && slices.Equal(enc.IDs, pieces)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.canonical) >= maxRemembered {
		clear(s.canonical)
	}
	s.canonical[key] = ok
	return ok
}

// startsWord tells whether token i of a filling begins a word of letters or
// digits. after tells that the filling follows a letter, or another filling.
func (s *supports) startsWord(f []int32, i int, after bool) bool {
	text, space := s.tok.Surface(f[i])
	if s.key == nil && s.tok.IsContinuation(f[i]) || s.key != nil && !space && (i > 0 || after) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(text)
	return isWordRune(r) || isWordRuneOrIdeograph(r)
}

// alike tells whether two tokens look the same.
func (s *supports) alike(a, b int32) bool {
	return a == b || s.key != nil && s.key[a] == s.key[b]
}

// goesOn tells whether token i > 0 of a filling may belong to the word before it.
func (s *supports) goesOn(f []int32, i int) bool {
	if s.key == nil {
		return s.tok.IsContinuation(f[i])
	}
	_, space := s.tok.Surface(f[i])
	return !space
}

// sameWord is goesOn, but punctuation is no part of a word.
func (s *supports) sameWord(f []int32, i int) bool {
	if s.key == nil || !s.goesOn(f, i) {
		return s.goesOn(f, i)
	}
	last, _ := utf8.DecodeLastRuneInString(surface(s.tok, f[i-1]))
	first, _ := utf8.DecodeRuneInString(surface(s.tok, f[i]))
	return isWordRune(last) && isWordRune(first)
}
