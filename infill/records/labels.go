package records

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"infill/infill"
	"infill/infill/batch/input"
	"infill/infill/jsonl"
	"infill/infill/text"
)

// labels are what a record says of parts of its text, in offsets, in tokens with their tags, or in
// columns. They move with the text.
type labels struct {
	kept []text.LabelledSpan // the parts that have labels, in bytes of the text

	item   *input.Item
	units  string // of offsets
	raw    string // the JSON: the source of the item, or an object of its fields
	node   *jsonl.Node
	marks  []*mark
	tokens *tokens
	quoted map[string]bool // fields whose JSON stands in a text, as in cells of a table
	rows   *tagging        // of a sentence that came in columns, nil for others
}

// labelsOf finds the labels of an item. Nothing may move if it has none. Errors are of type
// [*jsonl.Error] and wrap text.ErrSpan.
func labelsOf(it *input.Item, units string) (*labels, error) {
	l := &labels{item: it}
	if it.Rows != nil {
		l.rows = taggingOfRows(it)
		l.kept = l.rows.spans(it.Words)
		return l, nil
	}
	at, err := it.At, error(nil)
	if at == nil {
		if at, err = l.fields(); err != nil {
			return nil, &jsonl.Error{Line: it.Line, Kind: jsonl.ErrJSON, Reason: err.Error()}
		}
	} else {
		l.raw, l.node = it.Source.Body, at.Node
	}
	f := &finder{text: l.node, field: textName(it)}
	if units != "off" {
		f.walk(at.Root, "", nil, 0)
	}
	if l.marks, l.units, err = placed(f.marks, it.Line, it.Text, units); err != nil {
		return nil, err
	}
	if l.tokens, err = tokensOf(at.Within, it, l.marks); err != nil {
		return nil, err
	}
	l.keep()
	return l, nil
}

// fields makes an object of the fields of an item.
func (l *labels) fields() (*jsonl.Place, error) {
	out, err := []byte("{"), error(nil)
	l.quoted = map[string]bool{}
	list := l.item.Fields
	if l.item.Words != nil {
		list = append(slices.Clip(list),
			jsonl.Field{Name: l.item.TextField, Value: l.item.WordList()})
	}
	for i, f := range list {
		if i > 0 {
			out = append(out, ',')
		}
		var s string
		if l.item.Columns && json.Unmarshal(f.Value, &s) == nil &&
			strings.ContainsAny(s[:min(1, len(s))], "[{") && json.Valid([]byte(s)) {
			f.Value, l.quoted[f.Name] = json.RawMessage(s), true
		}
		if out, err = f.Append(out); err != nil { // a value that was read is JSON
			return nil, err
		}
	}
	l.raw = string(out) + "}"
	root, err := jsonl.Tree([]byte(l.raw))
	return &jsonl.Place{Root: root, Within: root}, err
}

// textName is the name of the member that has the text of an item.
func textName(it *input.Item) string {
	if it.At != nil {
		return it.At.Path[strings.LastIndexAny(it.At.Path, ".]")+1:]
	}
	return it.TextField
}

// keep takes the parts of the text that have labels: those of marks, but for marks without a label
// that together are the whole text, as its tokens and sentences are.
func (l *labels) keep() {
	covered := map[string]int{} // letters under marks without a label, by path
	for _, m := range l.marks {
		if m.label == "" {
			covered[m.group()] += len(strings.Join(strings.Fields(l.item.Text[m.at[0]:m.at[1]]), ""))
		}
	}
	all := len(strings.Join(strings.Fields(l.item.Text), ""))
	for _, m := range l.marks {
		if m.label != "" || covered[m.group()] < all {
			l.kept = append(l.kept, text.LabelledSpan{Start: m.at[0], End: m.at[1], Label: m.label})
		}
	}
	if l.tokens != nil {
		for _, b := range l.tokens.beside {
			if b.tagging != nil {
				l.kept = append(l.kept, b.tagging.spans(l.tokens.at)...)
			}
		}
	}
}

// tagged reports whether words have tags, such as parts of speech.
func (l *labels) tagged() bool {
	switch {
	case l.rows != nil:
		return l.item.WordTags || len(l.item.Rows[0].Cells) > 3 // columns besides the last
	case l.tokens != nil:
		return slices.ContainsFunc(l.tokens.beside,
			func(m list) bool { return wordTags.MatchString(m.name) })
	}
	return false
}

// guide has content words of a text with tags replaced by such words only.
func (l *labels) guide(opt *infill.Options) {
	if l.tagged() {
		opt.Words.Content = true
		opt.Alike += "\x00content"
	}
}

// left is why the text is left as it is where an error says that no word can be masked: all have
// labels, or none is one of those asked for. "" stands for no such reason.
func (l *labels) left(err error, only *text.WordSet) string {
	switch {
	case !errors.Is(err, text.ErrFewWords):
		return ""
	case only != nil && len(only.Places(l.item.Text)) == 0:
		return "words"
	case len(l.kept) == 0:
		return ""
	}
	for i, r := range l.item.Text {
		in := func(s text.LabelledSpan) bool { return s.Start <= i && i < s.End }
		if (unicode.IsLetter(r) || unicode.IsDigit(r)) && !slices.ContainsFunc(l.kept, in) {
			return ""
		}
	}
	return "labels"
}

// in are the labelled parts of the text that a change makes.
func (l *labels) in(by change) (out []text.LabelledSpan) {
	for _, s := range l.kept {
		s.Start, s.End = by.after(s.Start, false), by.after(s.End, true)
		if s.Start < s.End {
			out = append(out, s)
		}
	}
	return out
}

// render is the source of the item with a filled text, whose labels follow it.
func (l *labels) render(filled string, by change) (string, error) {
	if l.rows != nil {
		return l.renderRows(filled, by), nil
	}
	list, err := l.splices(filled, by)
	if l.node.Kind == '"' {
		list = append(list, splice(l.node, string(jsonl.Quote(filled))))
	}
	return jsonl.Spliced(l.raw, list), err
}

// moved is an object of the fields that a filled text changes, nil without such.
func (l *labels) moved(filled string, by change) (json.RawMessage, error) {
	list, err := l.splices(filled, by)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	before, err := jsonl.Decoder{}.Object(l.item.Line, []byte(l.raw))
	if err != nil {
		return nil, err
	}
	fields, err := jsonl.Decoder{}.Object(l.item.Line, []byte(jsonl.Spliced(l.raw, list)))
	out := []byte("{")
	for i, f := range fields {
		if err != nil || string(f.Value) == string(before[i].Value) {
			continue
		}
		if l.quoted[f.Name] {
			f.Value = jsonl.Quote(string(f.Value))
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out, err = f.Append(out)
	}
	if len(out) == 1 {
		return nil, err
	}
	return append(out, '}'), err
}

// splice puts a text in the place of a value.
func splice(n *jsonl.Node, put string) jsonl.Splice {
	return jsonl.Splice{Span: jsonl.Span{n.From, n.To}, Put: put}
}

// put is what a filled text makes of the item: its source, or its fields.
func (l *labels) put(f *jsonl.Filling, by change) (err error) {
	if l.item.Source != nil {
		f.Labelled, err = l.render(f.Text, by)
	} else {
		f.Moved, err = l.moved(f.Text, by)
	}
	return err
}

// follow has the labels of an item follow the fillings of a record. original are the words that
// were blanked out, nil where the text came with blanks.
func (l *labels) follow(rec *jsonl.Filled, plain change, t *text.Template,
	original []string) error {
	for k := range rec.Fillings {
		f := &rec.Fillings[k]
		var edits []edit
		shift := 0
		for i, b := range t.Blanks {
			from := jsonl.Span{b.Start - shift, b.End - shift}
			if original != nil {
				from[1] = from[0] + len(original[i])
				shift += b.End - b.Start - len(original[i])
			}
			edits = append(edits, edit{from, f.Spans[i]})
		}
		if err := l.put(f, plain.then(edits)); err != nil {
			return err
		}
	}
	return nil
}

// splices are what becomes of the JSON, but for the text itself.
func (l *labels) splices(filled string, by change) (out []jsonl.Splice, err error) {
	gone := map[*jsonl.Node]map[int]bool{} // elements of lists
	if l.tokens != nil {
		if out, err = l.tokens.splices(l, filled, by); err != nil {
			return nil, err
		}
	}
	for _, m := range l.marks {
		start, end := by.after(m.at[0], false), by.after(m.at[1], true)
		if start == end && m.holders != nil {
			for _, h := range m.holders {
				if gone[h] == nil {
					gone[h] = map[int]bool{}
				}
				gone[h][m.index] = true
			}
			continue
		}
		out = append(out, m.splices(filled, jsonl.Span{start, end}, l.item.Text, l.units)...)
	}
	for list, of := range gone {
		last := -1 // the last element that stays
		for i, kid := range list.Kids {
			switch {
			case !of[i]:
				last = i
			case last >= 0:
				out = append(out, jsonl.Splice{Span: jsonl.Span{list.Kids[i-1].To, kid.To}})
			case i+1 < len(list.Kids):
				out = append(out, jsonl.Splice{Span: jsonl.Span{kid.From, list.Kids[i+1].From}})
			default:
				out = append(out, splice(kid, ""))
			}
		}
	}
	return out, nil
}

// splices write a mark that moved, in the units of its record.
func (m *mark) splices(filled string, to jsonl.Span, before, units string) (out []jsonl.Splice) {
	a, b := offset(filled, to[0], units), offset(filled, to[1], units)
	number := func(n *jsonl.Node, v int) {
		put := strconv.Itoa(v)
		if n.Kind == '"' {
			put = `"` + put + `"`
		}
		out = append(out, splice(n, put))
	}
	switch {
	case m.end == nil && m.b >= 0: // 3-19
		out = append(out, splice(m.start, `"`+strconv.Itoa(a)+"-"+strconv.Itoa(b)+`"`))
	case m.end == nil:
		number(m.start, a)
	case m.length:
		number(m.start, a)
		number(m.end, b-a)
	default:
		number(m.start, a)
		number(m.end, b)
	}
	was, is := before[m.at[0]:m.at[1]], filled[to[0]:to[1]]
	if was == is {
		return out
	}
	for _, w := range slices.Concat(m.words, m.loose) {
		if w.Kind == '"' && fold(w.Text) == fold(was) {
			out = append(out, splice(w, string(jsonl.Quote(is))))
		}
	}
	return out
}
