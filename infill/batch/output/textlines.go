package output

import (
	"strings"

	"infill/infill/jsonl"
	"infill/internal/textline"
)

// texts are the fillings of a record as lines: the best one, or each where a record has more. A
// record that failed is an empty line, so that lines keep their places, and a line of a list stays.
func (l Layout) texts(r jsonl.Record) string {
	fillings := fillingsOf(r)
	if l.best() {
		fillings = fillings[:min(len(fillings), 1)]
	}
	var b strings.Builder
	if l.Originals || l.Kind == Lists && len(fillings) == 0 {
		b.WriteString(textline.OneLine(r.Of().Text) + "\n")
	}
	for _, f := range fillings {
		b.WriteString(textline.OneLine(f.Text) + "\n")
	}
	if b.Len() == 0 {
		return "\n"
	}
	return b.String()
}

// sources are the fillings of records of one source in its place: each filling of a number in one
// body. A body without fillings stays as it was.
func (l Layout) sources(list []jsonl.Record) string {
	s, n := list[0].By().Source, 0
	for _, r := range list {
		n = max(n, len(fillingsOf(r)))
	}
	if l.best() {
		n = min(n, 1)
	}
	var bodies []string
	if l.Originals || n == 0 {
		bodies = append(bodies, s.Body)
	}
	for k := range n {
		var changes []jsonl.Splice
		for _, r := range list {
			if f := fillingsOf(r); k < len(f) {
				changes = append(changes, difference(s.Body, f[k].Labelled))
			}
		}
		bodies = append(bodies, jsonl.Spliced(s.Body, changes))
	}
	return s.Before + strings.Join(bodies, s.Between) + s.After
}

// difference is the one part in which two texts differ.
func difference(before, after string) jsonl.Splice {
	n := min(len(before), len(after))
	from, same := 0, 0
	for from < n && before[from] == after[from] {
		from++
	}
	for same < n-from && before[len(before)-1-same] == after[len(after)-1-same] {
		same++
	}
	return jsonl.Splice{Span: jsonl.Span{from, len(before) - same}, Put: after[from : len(after)-same]}
}

// A lineMaker makes lines, or what a source becomes when all its records are there.
type lineMaker struct {
	Layout
	held []jsonl.Record
}

func (m *lineMaker) add(r jsonl.Record) string {
	if !m.inPlace || r.By().Source == nil {
		return m.texts(r)
	}
	if m.held = append(m.held, r); r.By().Source.More {
		return ""
	}
	return m.rest()
}

// rest is what is made of records that wait for others of their source.
func (m *lineMaker) rest() string {
	if m.held == nil {
		return ""
	}
	list := m.held
	m.held = nil
	return m.sources(list)
}
