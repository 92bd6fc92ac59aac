package records

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf16"

	"infill/infill/jsonl"
	"infill/infill/text"
)

const spansText = "\U0001F600 Zo\u00eb met Ann."

// spansOfLine is the field with the spans of a line.
func spansOfLine(list string) jsonl.Field {
	return jsonl.Field{Name: jsonl.SpansField, Value: json.RawMessage(list)}
}

func TestReadSpans(t *testing.T) {
	t.Parallel()
	want := []text.LabelledSpan{{Start: 5, End: 9, Label: "name"}, {Start: 14, End: 17, Label: "name"}}
	for units, list := range map[string]string{
		"bytes":      `[{"start":5,"end":9,"label":"name"},{"start":14,"end":17,"label":"name"}]`,
		"characters": `[{"start":2,"end":5,"label":"name","text":"Zo\u00eb"},{"start":10,"end":13,"label":"name"}]`,
		"utf-16":     `[{"start":3,"end":6,"label":"name"},{"start":11,"end":14,"label":"name","x":1}]`,
	} {
		s, err := readSpans(3, spansOfLine(list), spansText, units)
		if err != nil || !reflect.DeepEqual(s.List, want) {
			t.Errorf("%v: %v, %+v", units, err, s)
		}
	}
	for _, c := range []struct {
		units      string
		text, list string
		want       string
	}{
		{"unsaid", spansText, `[{"start":2,"end":5,"label":"n"}]`, "span_offsets"},
		{"unsaid", "Ann", `[{"start":0,"end":4,"label":"n"}]`, "the text has 3 bytes"},
		{"bytes", spansText, `[{"start":5,"end":8,"label":"n"}]`, "not offsets"},
		{"utf-16", spansText, `[{"start":1,"end":3,"label":"n"}]`, "not offsets"},
		{"characters", spansText, `[{"start":5,"end":99,"label":"n"}]`, "not offsets"},
		{"characters", spansText, `[{"start":5,"end":9,"label":"n","text":"Zo\u00eb"}]`, "its text"},
		{"bytes", "Ann", `[{"start":0,"end":0,"label":"n"}]`, "ends at 0"},
		{"bytes", "Ann", `[{"start":0,"end":1}]`, "want start, end and label"},
		{"bytes", "Ann", `[{"start":-1,"end":1,"label":"n"}]`, "want start"},
		{"bytes", "Ann", `[{"start":0.5,"end":1,"label":"n"}]`, `"start" is 0.5`},
		{"bytes", "Ann", `[[0,1,"n"]]`, "object"},
		{"bytes", "Ann", `7`, "want a list"},
	} {
		_, err := readSpans(3, spansOfLine(c.list), c.text, c.units)
		var e *jsonl.Error
		if !errors.As(err, &e) || !errors.Is(err, text.ErrSpan) || jsonl.Code(err) != "bad_span" ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.list, err, c.want)
		}
	}
	// What comes before the end is ASCII.
	s, err := readSpans(1, spansOfLine(`"[{\"start\":0,\"end\":3,\"label\":\"n\"}]"`),
		"Ann \u00e9", "unsaid")
	if err != nil || len(s.List) != 1 {
		t.Errorf("a cell of a table: %v", err)
	}
}

func TestSpansMoved(t *testing.T) {
	t.Parallel()
	const list = `[{"text":"Zo\u00eb","start":2,"label":"name","end":5,"x":[1]},` +
		`{"start":6,"end":13,"label":"part"}]`
	s, err := readSpans(1, spansOfLine(list), spansText, "characters")
	if err != nil {
		t.Fatal(err)
	}
	// "met" became "followed".
	got, err := s.moved("\U0001F600 Zo\u00eb followed Ann.", change{{{jsonl.Span{10, 13}, jsonl.Span{10, 18}}}})
	const want = `[{"text":"Zoë","start":2,"label":"name","end":5,"x":[1]},` +
		`{"start":6,"end":18,"label":"part"}]`
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	// A span that begins or ends within what was filled in has all of it.
	s, err = readSpans(1, spansOfLine(`[{"start":1,"end":4,"label":"n"}]`), "abcdef",
		"unsaid")
	if err != nil {
		t.Fatal(err)
	}
	got, err = s.moved("XYZcUd", change{{{jsonl.Span{0, 2}, jsonl.Span{0, 3}}, {jsonl.Span{3, 5}, jsonl.Span{4, 5}}}})
	if err != nil || string(got) != `[{"start":0,"end":5,"label":"n"}]` {
		t.Errorf("%v, %s", err, got)
	}
}

// Spans lie within the text in every unit, and stay where nothing moves.
func FuzzSpans(f *testing.F) {
	f.Add(`[{"start":2,"end":5,"label":"name"}]`, spansText, 1)
	f.Add(`"[]"`, "", 0)
	f.Fuzz(func(t *testing.T, list, line string, units int) {
		line = strings.ToValidUTF8(line, "")
		o := []string{"", "characters", "bytes", "utf-16"}[uint(units)%4]
		s, err := readSpans(1, spansOfLine(list), line, o)
		if err != nil {
			if !errors.Is(err, text.ErrSpan) {
				t.Errorf("%v", err)
			}
			return
		}
		for i, span := range s.List {
			before, inside := line[:span.Start], line[span.Start:span.End]
			start, end := 0, 0
			for _, f := range s.entries[i].fields {
				switch f.Name {
				case "start":
					_ = json.Unmarshal(f.Value, &start)
				case "end":
					_ = json.Unmarshal(f.Value, &end)
				}
			}
			a, n := len(before), len(inside)
			switch o {
			case "characters":
				a, n = len([]rune(before)), len([]rune(inside))
			case "utf-16":
				a, n = len(utf16.Encode([]rune(before))), len(utf16.Encode([]rune(inside)))
			}
			if a != start || n != end-start {
				t.Errorf("%s of %q: %+v", list, line, span)
			}
		}
		moved, err := s.moved(line, nil)
		if err != nil {
			t.Fatal(err)
		}
		again, err := readSpans(1, jsonl.Field{Name: jsonl.SpansField, Value: moved}, line, o)
		if err != nil || !reflect.DeepEqual(again.List, s.List) {
			t.Errorf("%s became %s: %v", list, moved, err)
		}
	})
}

// Offsets in the forms of other tools are told from other lists by what they hold.
func TestPointsInto(t *testing.T) {
	t.Parallel()
	const line = "Ann slept in Paris."
	for value, want := range map[string]bool{
		`[[0, 3, "PER"]]`:                                          true,
		`[[0, 3, "PER"], [13, 18, "LOC"]]`:                         true,
		`"[[0, 3, \"PER\"]]"`:                                      true, // in a table
		`[{"start":0,"end":3,"label":"PER"}]`:                      true,
		`[{"id":1,"label":"PER","start_offset":0,"end_offset":3}]`: true,
		`[{"start":0,"end":3,"text":"Ann","labels":["PER"]}]`:      true,
		`[]`: false, `null`: false, `"PER"`: false, `[1, 2, 3]`: false, `[[0, 3]]`: false,
		`[[0, 3, 7]]`: false, `[[3, 0, "PER"]]`: false, `[[0, 99, "PER"]]`: false,
		`[[0, 3, "PER"], "x"]`: false, `[{"start":0,"end":3}]`: false,
		`[{"start":"0","end":3,"label":"PER"}]`: false, `{"start":0,"end":3,"label":"PER"}`: false,
	} {
		if got := pointsInto(json.RawMessage(value), line); got != want {
			t.Errorf("%s: %v", value, got)
		}
	}
}
