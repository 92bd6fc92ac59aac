package output

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"infill/infill/batch/input"
	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/infill/table"
)

// A rowMaker makes the rows of a table from records.
type rowMaker struct {
	input  input.Options
	own    []ownColumn
	names  []string       // of the columns of the input, in order
	types  []table.Type   // of each
	at     map[string]int // places in names
	layout Layout
	moved  map[string]bool // columns that others than those of the input's row stand in
}

// newRowMaker is a maker without the columns of the input. With those it is ready.
func (l Layout) newRowMaker(o input.Options) *rowMaker {
	return &rowMaker{input: o, own: l.own(), at: map[string]int{}, layout: l}
}

// add is one more column of the input.
func (m *rowMaker) add(name string, t table.Type) {
	m.at[name] = len(m.names)
	m.names, m.types = append(m.names, name), append(m.types, t)
}

// addAll are the columns of an input that has the same for all records. Those of Parquet
// have the narrowest type for their JSON, but with stored set, for Parquet, the one that they are
// stored with.
func (m *rowMaker) addAll(in *input.Reader, stored bool) {
	columns := in.Columns()
	if columns == nil { // lines of text
		m.add("text", text)
	}
	for _, c := range columns {
		switch {
		case c.Type.Kind != table.Native, m.layout.Kind == Variants &&
			c.Name == m.input.TextField && c.Type.Plain().Kind != table.JSON:
			m.add(c.Name, text)
		case m.moved[c.Name]:
			m.add(c.Name, c.Type.Parts())
		case stored:
			m.add(c.Name, c.Type)
		default:
			m.add(c.Name, c.Type.Plain())
		}
	}
}

// columns are the columns of the rows: first the input's, then infill's.
func (m *rowMaker) columns() []table.Column {
	var out []table.Column
	for i, n := range m.names {
		out = append(out, table.Column{Name: m.outputName(n), Type: m.types[i]})
	}
	for _, c := range m.own {
		out = append(out, c.Column)
	}
	return out
}

// inputPrefix begins the name of an input's column that infill writes, too.
const inputPrefix = "input_"

// outputName is the name that a column of the input has in the output. Different
// columns have different names, whatever other columns there are.
func (m *rowMaker) outputName(name string) string {
	bare := name
	for strings.HasPrefix(bare, inputPrefix) {
		bare = bare[len(inputPrefix):]
	}
	for _, c := range m.own {
		if c.Name == bare {
			return inputPrefix + name
		}
	}
	return name
}

// renamed are the columns of the input that have another name in the output, with it.
func (m *rowMaker) renamed() [][2]string {
	var out [][2]string
	for _, n := range m.names {
		if is := m.outputName(n); is != n {
			out = append(out, [2]string{n, is})
		}
	}
	return out
}

// inputFields are the fields of the input's record by name, in the order id, text, the others.
func (m *rowMaker) inputFields(r jsonl.Record) []jsonl.Field {
	id, text, gold := r.Of().ID, r.Of().Text, r.Of().Gold
	if f, ok := r.(*jsonl.Filled); ok && len(f.Masked) > 0 { // then gold is infill's
		text, gold = gold, ""
	}
	var out []jsonl.Field
	if id != nil {
		out = append(out, jsonl.Field{Name: "id", Value: id})
	}
	value := jsonl.Quote(text)
	if r.By().Left == "null" {
		value = json.RawMessage("null")
	}
	out = append(out, jsonl.Field{Name: m.input.TextField, Value: value})
	if gold != "" { // a field of the user's
		out = append(out, jsonl.Field{Name: "gold", Value: jsonl.Quote(gold)})
	}
	return append(out, r.By().Fields...)
}

// rows makes the rows of a record. it is the input's row with its cells as they are in its file,
// nil for none.
func (m *rowMaker) rows(r jsonl.Record, it *input.Item) ([][]any, error) {
	row := make([]any, len(m.names), len(m.names)+len(m.own))
	for i := range row {
		if it != nil && m.types[i].Kind == table.Native {
			row[i] = it.Stored[i]
		}
	}
	nulls := m.input.Format.JSON() && !m.layout.Format.Table() // stay, in place of no cell
	for _, f := range m.inputFields(r) {
		i, ok := m.at[f.Name]
		if !ok {
			return nil, fmt.Errorf("line %d has a column %q that the input has not", r.Of().Line, f.Name)
		}
		if m.types[i].Kind != table.Native && (nulls || string(f.Value) != "null") {
			row[i] = f.Value
		}
		if it != nil && it.Words != nil && f.Name == m.input.TextField &&
			m.types[i].Kind != table.Native {
			row[i] = it.WordList()
		}
	}
	finish := func(f *jsonl.Filling, rank int) []any {
		out := row[:len(row):len(row)]
		if m.layout.Kind == Variants && f != nil {
			out = slices.Clone(out)
			m.place(out, f)
		}
		for _, c := range m.own {
			out = append(out, c.cell(r, f, rank))
		}
		return out
	}
	var rows [][]any
	failed := r.By().Error != nil
	noWords := failed || r.By().Left != ""
	if m.layout.Per == settings.PerWord && (!noWords || m.input.Sentence != "") {
		return m.wordRows(r, row), nil
	}
	fillings := fillingsOf(r)
	if len(fillings) == 0 || m.layout.Originals {
		rows = append(rows, finish(nil, 0))
	}
	if m.layout.best() {
		fillings = fillings[:min(len(fillings), 1)]
	}
	for i := range fillings {
		rows = append(rows, finish(&fillings[i], i+1))
	}
	if failed && m.layout.Format == settings.FormatTSV && !m.layout.Quote {
		for i := range rows[0] {
			rows[0][i] = flat(rows[0][i])
		}
	}
	return rows, nil
}

// fillingsOf are the fillings of a record, nil for one of another kind.
func fillingsOf(r jsonl.Record) []jsonl.Filling {
	if f, ok := r.(*jsonl.Filled); ok {
		return f.Fillings
	}
	return nil
}

// wordRows are a row for each word of a record, and for each region, with the cells of the input's
// row. Where the words are records of the input, each row has its own cells.
func (m *rowMaker) wordRows(r jsonl.Record, row []any) (rows [][]any) {
	scored, ok := r.(*jsonl.Scored)
	if !ok {
		scored = &jsonl.Scored{}
	}
	n := len(scored.Words) + len(scored.Regions)
	lists := make([][]json.RawMessage, len(row)) // nil for what all rows share
	for i := range row {
		raw, ok := row[i].(json.RawMessage)
		switch {
		case !ok || m.input.Sentence == "":
		case m.names[i] == m.input.TextField && r.By().Error == nil:
			for _, w := range scored.Words {
				lists[i] = append(lists[i], jsonl.Quote(w.Word))
			}
		case m.names[i] != m.input.TextField:
			lists[i] = m.cellsOf(raw)
			n = max(n, len(lists[i]))
		}
	}
	for k := range n {
		out := slices.Clone(row)
		for i := range lists {
			if k < len(lists[i]) {
				out[i] = lists[i][k]
			}
		}
		for _, c := range m.own {
			out = append(out, c.cell(r, nil, k+1))
		}
		rows = append(rows, out)
	}
	return rows
}

// cellsOf are the cells that a field of the input has: one, or where words are records of the
// input those of the words.
func (m *rowMaker) cellsOf(value json.RawMessage) (cells []json.RawMessage) {
	if m.input.Sentence == "" || json.Unmarshal(value, &cells) != nil {
		return []json.RawMessage{value}
	}
	return cells
}

// flat is a cell without tabs and line ends. A record that failed has the text of its line, which
// may be no row at all, and the run would never end if it could not be written.
func flat(cell any) any {
	spaces := strings.NewReplacer("\t", " ", "\r\n", " ", "\n", " ", "\r", " ")
	switch v := cell.(type) {
	case string:
		return spaces.Replace(v)
	case json.RawMessage:
		if s := ""; json.Unmarshal(v, &s) == nil {
			return jsonl.Quote(spaces.Replace(s))
		}
	}
	return cell
}

// place puts a variant into a row, in the place of its text.
func (m *rowMaker) place(row []any, f *jsonl.Filling) {
	row[m.at[m.input.TextField]] = f.Text
	if f.Moved == nil {
		return
	}
	fields, _ := jsonl.Decoder{}.Object(0, f.Moved) // of a record that was read
	for _, moved := range fields {
		if i, ok := m.at[moved.Name]; ok {
			row[i] = moved.Value
		}
	}
}
