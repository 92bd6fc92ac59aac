package records

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"infill/infill/jsonl"
)

// A mark is a place in JSON that says where something stands in a text.
type mark struct {
	path       string
	start, end *jsonl.Node // end is nil where words say it, and of "3-19"
	a, b       int         // as written; b is −1 where words say it
	length     bool        // end is how much behind start it is
	words      []*jsonl.Node
	loose      []*jsonl.Node // which may repeat the words, or mean them
	label      string
	holders    []*jsonl.Node // lists whose element index goes if nothing is left of the words
	index      int
	evidence   int // from 2 on it is a place in the text, 1 asks for ends of words
	at         [2]int
	fits       bool
}

// A pairing is two names that records give to the start and the end of something. The certain ones
// mean offsets of characters wherever they stand.
type pairing struct {
	start, end      string
	length, certain bool
}

var pairings = []pairing{
	{start: "start", end: "end"}, {start: "from", end: "to"}, {start: "begin", end: "end"},
	{start: "start_offset", end: "end_offset", certain: true},
	{start: "startOffset", end: "endOffset", certain: true},
	{start: "char_start", end: "char_end", certain: true},
	{start: "start_char", end: "end_char", certain: true},
	{start: "offset", end: "length", length: true}, {start: "answer_start", certain: true},
}

var (
	wordNames  = []string{"text", "surface", "term", "mention", "quote", "phrase", "word"}
	looseNames = []string{"value", "entity"}
	labelNames = []string{"label", "labels", "type", "entity", "tag", "category", "entity_group",
		"entity_type", "polarity"}
	// places are what hold places of a text, and ofOther what holds other numbers.
	places = regexp.MustCompile(`(?i)span|offset|entit|annotation|highlight|mention|aspect|` +
		`(^|\.|\])(ents|labels?|ner|tokens|answers?|result)($|\.|\[)`)
	certain = regexp.MustCompile(`(?i)(span|offset|highlight)\w*(\[\d*\])*$`)
	ofOther = regexp.MustCompile(`(?i)time|year|page|price|date|duration|segment|box|frame|version`)
	flat    = regexp.MustCompile(`^(\d{1,9})-(\d{1,9})$`)
)

// A finder walks through a record for the marks of a text.
type finder struct {
	text  *jsonl.Node // nil where the record is without it
	field string      // that texts have
	marks []*mark
}

// has reports whether a value is around another one.
func has(n, in *jsonl.Node) bool { return in != nil && n.From <= in.From && in.To <= n.To }

// walk visits a value. holder is the list around it that may lose the element.
func (f *finder) walk(n *jsonl.Node, path string, holder *jsonl.Node, index int) {
	switch {
	case n == f.text:
	case n.Kind == '{':
		before := len(f.marks)
		f.object(n, path, holder, index)
		other := n.Member(f.field)
		if f.text != nil && has(n, f.text) {
			other = nil
		}
		if len(f.marks) == before && path != "" && other != nil && other.Kind == '"' {
			return // what stands here is of another text
		}
		for i, kid := range n.Kids {
			f.walk(kid, strings.TrimPrefix(path+"."+n.Names[i], "."), holder, index)
		}
	case n.Kind == '[' && f.list(n, path, holder, index):
	case n.Kind == '[':
		for i, kid := range n.Kids {
			if has(kid, f.text) {
				f.walk(kid, fmt.Sprintf("%s[%d]", path, i), nil, 0)
			} else {
				f.walk(kid, fmt.Sprintf("%s[%d]", path, i), n, i)
			}
		}
	}
}

// newMark is a mark without its numbers. holder is nil where no list may lose it.
func newMark(path string, holder *jsonl.Node, index int) *mark {
	m := &mark{path: path, index: index}
	if holder != nil {
		m.holders = []*jsonl.Node{holder}
	}
	return m
}

// list notes a list that is a place: two whole numbers side by side, and texts.
func (f *finder) list(n *jsonl.Node, path string, holder *jsonl.Node, index int) bool {
	m, numbers := newMark(path, holder, index), 0
	for i, kid := range n.Kids {
		v, whole := kid.Whole()
		switch {
		case kid.Kind == '"':
			m.loose = append(m.loose, kid)
			m.label = cmp.Or(m.label, kid.Text)
		case !whole:
			return false
		case numbers == 0:
			m.start, m.a = kid, v
		case numbers == 1 && n.Kids[i-1] == m.start:
			m.end, m.b = kid, v
		default:
			return false
		}
		if kid.Kind != '"' {
			numbers++
		}
	}
	if numbers != 2 {
		return false
	}
	if m.label != "" {
		m.evidence++
	}
	f.add(m, certain.MatchString(path) && m.label == "")
	return true
}

// group is the path of a mark without indices.
func (m *mark) group() string { return indices.ReplaceAllString(m.path, "") }

var indices = regexp.MustCompile(`\[\d+\]`)

// add notes a mark. sure says that its names mean offsets.
func (f *finder) add(m *mark, sure bool) {
	switch {
	case sure:
		m.evidence += 2
	case places.MatchString(m.path):
		m.evidence++
	case ofOther.MatchString(m.path):
		m.evidence = 0
	}
	f.marks = append(f.marks, m)
}

// object notes the places that the members of an object say: one, or where they are lists of equal
// length one an element.
func (f *finder) object(n *jsonl.Node, path string, holder *jsonl.Node, index int) {
	itself := func(n *jsonl.Node) *jsonl.Node { return n }
	for _, p := range pairings {
		start := n.Member(p.start)
		if start == nil || p.end != "" && n.Member(p.end) == nil {
			continue
		}
		if start.Kind != '[' {
			f.pair(newMark(path, holder, index), n, p, itself)
			continue
		}
		var lists []*jsonl.Node
		for _, kid := range n.Kids {
			if kid.Kind == '[' && len(kid.Kids) == len(start.Kids) {
				lists = append(lists, kid)
			}
		}
		for i := range start.Kids {
			m := &mark{path: fmt.Sprintf("%s[%d]", path, i), index: i, holders: lists}
			f.pair(m, n, p, func(n *jsonl.Node) *jsonl.Node {
				if !slices.Contains(lists, n) {
					return nil
				}
				return n.Kids[i]
			})
		}
	}
	words := membersOf(n, wordNames, itself)
	for i, kid := range n.Kids {
		if parts := flat.FindStringSubmatch(kid.Text); kid.Kind == '"' && parts != nil && len(words) > 0 {
			m := newMark(path+"."+n.Names[i], holder, index)
			m.start, m.words = kid, words
			m.a, _ = strconv.Atoi(parts[1])
			m.b, _ = strconv.Atoi(parts[2])
			f.marks = append(f.marks, m)
		}
	}
}

// pair completes a mark of an object with a start and an end.
func (f *finder) pair(m *mark, n *jsonl.Node, p pairing, of func(*jsonl.Node) *jsonl.Node) {
	var ok1, ok2 bool
	m.start, m.b, ok2 = of(n.Member(p.start)), -1, true
	if m.a, ok1 = m.start.Whole(); p.end != "" {
		m.end = of(n.Member(p.end))
		if m.b, ok2 = m.end.Whole(); p.length {
			m.length, m.b = true, m.a+m.b
		}
	}
	m.words = membersOf(n, wordNames, of)
	if m.loose = membersOf(n, looseNames, of); !ok1 || !ok2 || m.end == nil && m.words == nil {
		return
	}
	for _, l := range membersOf(n, labelNames, of) {
		if texts, ok := l.Texts(); ok {
			l = &jsonl.Node{Text: strings.Join(texts, ",")}
		}
		m.label = cmp.Or(m.label, l.Text)
	}
	if m.label != "" || len(m.words) > 0 && places.MatchString(m.path) {
		m.evidence++
	}
	f.add(m, p.certain)
}

// membersOf are the members of an object with one of these names that have a text or a list.
func membersOf(n *jsonl.Node, names []string, of func(*jsonl.Node) *jsonl.Node) (
	out []*jsonl.Node) {
	for _, name := range names {
		member := n.Member(name)
		if member == nil {
			continue
		}
		if member = of(member); member != nil && (member.Kind == '"' || member.Kind == '[') {
			out = append(out, member)
		}
	}
	return out
}

// fold is a text with single spaces.
func fold(s string) string { return strings.Join(strings.Fields(s), " ") }

// fit places a mark in a text by offsets of these units. repeated counts the texts that are what
// stands there.
func (m *mark) fit(of string, units string) (repeated int) {
	a, ok1 := byteOffset(of, m.a, units)
	b, ok2 := byteOffset(of, max(m.b, 0), units)
	if m.b < 0 { // the words say where it ends
		b = a + len(m.words[0].Text)
		ok2 = b <= len(of)
	}
	m.fits = ok1 && ok2 && a < b
	if !m.fits {
		return 0
	}
	m.at = [2]int{a, b}
	there := fold(of[a:b])
	for _, w := range m.words {
		if w.Kind == '"' && fold(w.Text) != there {
			m.fits = false
			return 0
		}
		repeated++
	}
	for _, w := range m.loose {
		if fold(w.Text) == there {
			repeated++
		}
	}
	return repeated
}

// aligned reports whether a mark begins and ends where words do.
func (m *mark) aligned(of string) bool {
	inWord := func(at int) bool {
		before, _ := utf8.DecodeLastRuneInString(of[:at])
		after, _ := utf8.DecodeRuneInString(of[at:])
		letter := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
		return letter(before) && letter(after)
	}
	return !inWord(m.at[0]) && !inWord(m.at[1]) && strings.TrimSpace(of[m.at[0]:m.at[1]]) != "" &&
		!unicode.IsSpace(rune(of[m.at[0]])) && !unicode.IsSpace(rune(of[m.at[1]-1]))
}

// unitNames are what offsets may count, in the order in which they are tried.
var unitNames = []string{"characters", "utf16", "bytes"}

// placed are the marks that are places of a text, in these units, or in those that fit most of
// them. Errors are of type [*jsonl.Error] and wrap text.ErrSpan: a mark that has to be a place of
// the text lies elsewhere.
func placed(marks []*mark, line int, of, units string) ([]*mark, string, error) {
	if units == "" || units == "auto" {
		best := -1
		for _, u := range unitNames {
			n := 0
			for _, m := range marks {
				if r := m.fit(of, u); m.fits {
					n += 1 + r
				}
			}
			if n > best {
				best, units = n, u
			}
		}
	}
	sure := map[string]bool{} // paths of places, without indices
	var out []*mark
	for _, m := range marks {
		repeated := m.fit(of, units)
		if m.fits && (len(m.words) > 0 || repeated > 0) {
			m.evidence += 2
		}
		if m.fits && (m.evidence > 1 || m.evidence == 1 && m.aligned(of)) {
			sure[m.group()] = true
			out = append(out, m)
		}
	}
	for _, m := range marks {
		nothing := m.a == 0 && m.b == 0 && len(m.words) == 0 // of a token that stands for no text
		if m.fits || nothing || m.evidence < 1 || m.evidence == 1 && !sure[m.group()] {
			continue
		}
		reason := fmt.Sprintf("%d to %d is not a part of the text", m.a, m.b)
		if m.b < 0 {
			reason = fmt.Sprintf("nothing begins at %d", m.a)
		}
		if len(m.words) > 0 {
			reason = fmt.Sprintf("%q does not stand at %d", m.words[0].Text, m.a)
		}
		return nil, "", spanError(line, m.path, reason+"; mend it, or say what offsets count")
	}
	return out, units, nil
}
