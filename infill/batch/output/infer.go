package output

import (
	"bytes"
	"strconv"

	"infill/infill/jsonl"
	"infill/infill/table"
)

// An inferrer finds the columns of JSON lines, whose fields may be others on each line.
type inferrer struct {
	names []string // in the order of their first appearance
	seen  map[string]*seenTypes
}

// seenTypes says which JSON values a field has.
type seenTypes struct{ text, bool, whole, wide, number, other bool }

// maxFields bounds the number of different fields of JSON lines that become columns.
const maxFields = 10_000

func (n *inferrer) add(f jsonl.Field) bool {
	if n.seen == nil {
		n.seen = map[string]*seenTypes{}
	}
	s := n.seen[f.Name]
	if s == nil {
		if len(n.names) == maxFields {
			return false
		}
		s = &seenTypes{}
		n.seen[f.Name], n.names = s, append(n.names, f.Name)
	}
	v := bytes.TrimSpace(f.Value)
	switch v[0] {
	case 'n':
	case '"':
		s.text = true
	case 't', 'f':
		s.bool = true
	case '[', '{':
		s.other = true
	default:
		s.digits(string(v))
	}
	return true
}

// digits notes a number. One that neither type of number holds makes the column JSON.
func (s *seenTypes) digits(v string) {
	const exact = 1 << 53 // whole numbers up to here are float64, too
	if n, err := strconv.ParseInt(v, 10, 64); err == nil && v != "-0" {
		s.whole = true
		s.wide = s.wide || n > exact || n < -exact
		return
	}
	x, err := strconv.ParseFloat(v, 64)
	if err != nil || x > exact || x < -exact {
		s.other = true
	}
	s.number = true
}

// typeOf is the narrowest type that holds all values of a field.
func (n *inferrer) typeOf(name string) table.Type {
	s := *n.seen[name]
	kinds := 0
	for _, b := range []bool{s.text, s.bool, s.whole || s.number} {
		if b {
			kinds++
		}
	}
	switch {
	case s.other || kinds > 1 || s.wide && s.number:
		return table.Type{Kind: table.JSON}
	case s.bool:
		return table.Type{Kind: table.Bool}
	case s.number:
		return table.Type{Kind: table.Number}
	case s.whole:
		return table.Type{Kind: table.Whole}
	}
	return table.Type{Kind: table.Text}
}
