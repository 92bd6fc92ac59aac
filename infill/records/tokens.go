package records

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"infill/infill/batch/input"
	"infill/infill/jsonl"
	"infill/infill/text"
)

// tokens are the words of a text as its record lists them, with lists of equal length beside them.
type tokens struct {
	at      [][2]int    // bytes of the text
	list    *jsonl.Node // of texts, or of objects that say where each stands
	beside  []list
	counted [2][]*jsonl.Node // numbers of tokens that begin and end something
}

// A list is a member of a record.
type list struct {
	name string
	*jsonl.Node
	tagging *tagging // nil for one without tags of entities
}

var (
	tagNames  = regexp.MustCompile(`(?i)ner|tag|label|entit|slot|bio|iob`)
	wordTags  = regexp.MustCompile(`(?i)pos|chunk|dep|head|lemma|morph`)
	noNumbers = "a word was put in or taken out, and what stands for it there is not known"
)

// tokensOf finds the tokens of the object that has the text, nil for none.
func tokensOf(within *jsonl.Node, it *input.Item, marks []*mark) (*tokens, error) {
	t := &tokens{list: within.Member("tokens"), at: it.Words}
	if it.Words != nil {
		t.list = within.Member(textName(it))
	}
	if t.list == nil || t.list.Kind != '[' {
		return nil, nil
	}
	n := len(t.list.Kids)
	for i, kid := range within.Kids {
		name := within.Names[i]
		if kid.Kind == '[' && len(kid.Kids) != n && strings.HasSuffix(name, "_tags") {
			return nil, spanError(it.Line, name, fmt.Sprintf("%d tags for %d tokens", len(kid.Kids), n))
		}
		if kid != t.list && kid.Kind == '[' && len(kid.Kids) == n && kid.Scalars() {
			t.beside = append(t.beside, list{name, kid, taggingOf(name, kid)})
		}
	}
	words, texts := t.list.Texts()
	switch {
	case t.at != nil:
	case texts:
		at := 0
		for _, w := range words {
			i := strings.Index(it.Text[at:], w)
			if i >= 0 {
				at += i + len(w)
				t.at = append(t.at, [2]int{at - len(w), at})
			}
		}
		if len(t.at) == n {
			break
		}
		if slices.ContainsFunc(t.beside, func(b list) bool { return b.tagging != nil }) {
			return nil, spanError(it.Line, "tokens", "they do not stand in the text one after the other")
		}
		return nil, nil
	default:
		for _, m := range marks {
			if len(m.holders) == 1 && m.holders[0] == t.list {
				t.at = append(t.at, m.at)
			}
		}
		if len(t.at) != n || n == 0 {
			return nil, nil
		}
		t.count(within)
	}
	return t, nil
}

// count finds the numbers of tokens in a value.
func (t *tokens) count(n *jsonl.Node) {
	for i, kid := range n.Kids {
		if _, whole := kid.Whole(); whole && n.Kind == '{' {
			switch n.Names[i] {
			case "token_start":
				t.counted[0] = append(t.counted[0], kid)
			case "token_end":
				t.counted[1] = append(t.counted[1], kid)
			}
		}
		t.count(kid)
	}
}

// splices are what becomes of the lists in the JSON of labels.
func (t *tokens) splices(l *labels, filled string, by change) (out []jsonl.Splice, err error) {
	rows := retokened(t.at, l.item.Text, filled, by)
	texts := t.list.Kids[0].Kind == '"'
	same := len(rows) == len(t.at)
	for i, r := range rows {
		if same = same && r.origin == i && !r.added; same && texts {
			if put := filled[r.at[0]:r.at[1]]; put != t.list.Kids[i].Text {
				out = append(out, splice(t.list.Kids[i], string(jsonl.Quote(put))))
			}
		}
	}
	if same {
		return out, nil
	}
	raw := func(n *jsonl.Node) string { return l.raw[n.From:n.To] }
	var words []string
	for k, r := range rows {
		of := t.list.Kids[min(r.origin, len(t.at)-1)]
		switch put := filled[r.at[0]:r.at[1]]; {
		case !texts:
			words = append(words, t.object(raw(of), k, put, r, l, filled))
		case !r.added && of.Text == put:
			words = append(words, raw(of))
		default:
			words = append(words, string(jsonl.Quote(put)))
		}
	}
	out = []jsonl.Splice{splice(t.list, joined(raw(t.list), words))}
	for _, b := range t.beside {
		var values, tags []string
		if b.tagging != nil {
			tags = b.tagging.of(rows)
		}
		for k, r := range rows {
			of := b.Kids[min(r.origin, len(t.at)-1)]
			value := raw(of)
			switch {
			case tags != nil && tags[k] == "":
				return nil, spanError(l.item.Line, b.name, noNumbers)
			case tags != nil && of.Kind == '"':
				value = string(jsonl.Quote(tags[k]))
			case tags != nil:
				value = tags[k]
			case r.added && of.Kind == '0':
				return nil, spanError(l.item.Line, b.name, noNumbers)
			case r.added && of.Kind == '"':
				value = `"_"`
			case r.added:
				value = "null"
			}
			values = append(values, value)
		}
		out = append(out, splice(b.Node, joined(raw(b.Node), values)))
	}
	return append(out, t.recounted(rows)...), nil
}

// spanError is the error of a field whose places do not fit the text.
func spanError(line int, field, reason string) error {
	return &jsonl.Error{Line: line, Field: field, Kind: text.ErrSpan,
		Reason: fmt.Sprintf("field %q: %s", field, reason)}
}

// joined is a list with other elements, and what stands between two of them.
func joined(was string, elements []string) string {
	between := ","
	if strings.Contains(was, ", ") {
		between = ", "
	}
	return "[" + strings.Join(elements, between) + "]"
}

// object is the object of a token in its new place.
func (t *tokens) object(raw string, k int, put string, r row, l *labels, filled string) string {
	n, err := jsonl.Tree([]byte(raw))
	if err != nil { // it is part of JSON that was read
		return raw
	}
	list := []jsonl.Splice{
		splice(n.Member("text"), string(jsonl.Quote(put))),
		splice(n.Member("start"), strconv.Itoa(offset(filled, r.at[0], l.units))),
		splice(n.Member("end"), strconv.Itoa(offset(filled, r.at[1], l.units))),
	}
	if id := n.Member("id"); id != nil && id.Kind == '0' {
		list = append(list, splice(id, strconv.Itoa(k)))
	}
	return jsonl.Spliced(raw, list)
}

// recounted are the numbers of tokens among other tokens.
func (t *tokens) recounted(rows []row) (out []jsonl.Splice) {
	for end, nodes := range t.counted {
		for _, n := range nodes {
			was, _ := n.Whole()
			is, found := 0, false
			for k, r := range rows {
				if !r.between && (end == 0 && r.origin >= was && !found || end == 1 && r.origin <= was) {
					is, found = k, true
				}
			}
			out = append(out, splice(n, strconv.Itoa(is)))
		}
	}
	return out
}

// A row is a token of a filled text.
type row struct {
	origin  int // the token that it was, is a further word of, or stands before
	added   bool
	between bool // it was put in before its origin, which may be behind the last token
	at      [2]int
}

// retokened are the tokens of a filled text, by those that it had.
func retokened(spans [][2]int, before, filled string, by change) (out []row) {
	at := 0
	for i := 0; i <= len(spans); i++ {
		start, end := len(filled), len(filled)
		if i < len(spans) {
			start = max(at, by.after(spans[i][0], false))
			end = max(start, by.after(spans[i][1], true))
		}
		for _, w := range wordsIn(filled, at, start) {
			out = append(out, row{i, true, true, w})
		}
		if at = end; i == len(spans) {
			break
		}
		words := [][2]int{{start, end}}
		if filled[start:end] != before[spans[i][0]:spans[i][1]] { // which may have spaces inside
			words = wordsIn(filled, start, end)
		}
		for k, w := range words {
			out = append(out, row{i, k > 0, false, w})
		}
	}
	return out
}

// wordsIn are the words of a part of a text, between white space of ASCII.
func wordsIn(s string, from, to int) (out [][2]int) {
	start := -1
	for i := from; i <= to; i++ {
		space := i == to || strings.IndexByte(" \t\r\n", s[i]) >= 0
		switch {
		case !space && start < 0:
			start = i
		case space && start >= 0:
			out, start = append(out, [2]int{start, i}), -1
		}
	}
	return out
}
