package trigger

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	t.Parallel()
	a, b := Example{"One, \"two\".", "x", 1}, Example{"three", "2", 3}
	for name, c := range map[string]struct{ file, data string }{
		"JSON lines": {"a.jsonl", `{"text":"One, \"two\".","label":"x","n":[1]}` + "\n\n" +
			`{"label":2,"text":"three"}`},
		"a BOM":    {"a", "\ufeff" + `{"text":"One, \"two\".","label":"x"}` + "\r\n\n" + `{"label":2,"text":"three"}`},
		"standard": {"standard input", `{"text":"One, \"two\".","label":"x"}` + "\n \n" + `{"label":"2","text":"three"}` + "\n"},
	} {
		got, err := Read(strings.NewReader(c.data), c.file, "text", "label")
		if err != nil || !reflect.DeepEqual(got, []Example{a, b}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for file, data := range map[string]string{
		"a.csv": "s,n,class\n\"One, \"\"two\"\".\",1,x\nthree,2,2\n",
		"A.TSV": "class\ts\nx\t\"One, \"\"two\"\".\"\n2\tthree\n",
	} {
		got, err := Read(strings.NewReader(data), file, "s", "class")
		want := []Example{{a.Text, "x", 2}, {b.Text, "2", 3}}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", file, got, err)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, data, says string }{
		{"a.jsonl", "", "a.jsonl: no labelled text"},
		{"a.jsonl", "{\"text\":\"a\",\"label\":\"b\"}\nnonsense", "a.jsonl:2: not a JSON object"},
		{"a.jsonl", `{"text":"a"}`, `a.jsonl:1: no field "label"`},
		{"a.jsonl", `{"text":5,"label":"b"}`, `the field "text" is not a text`},
		{"a.jsonl", `{"text":"a","label":["b"]}`, `"label" is not a single value`},
		{"a.jsonl", `{"text":"a","label":null}`, `"label" is not a single value`},
		{"a.jsonl", `{"text":" ","label":"b"}`, "a.jsonl:1: the text is empty"},
		{"a.jsonl", `{"text":"a","label":""}`, "the label is empty"},
		{"a.csv", "text,label\n", "no labelled text"},
		{"a.csv", "text,class\na,b\n", `a.csv:1: no column "label" of labels, but ["text" "class"]`},
		{"a.csv", "a,b\na,b\n", `a.csv:1: no column "text" of texts and no column "label" of labels, but`},
		{"a.csv", "text,label\na,b,c\n", "a.csv:2: 3 cells, the first line has 2"},
		{"a.csv", "text,label\n\xff,b\n", "a.csv:2: the text is not UTF-8; save"},
		{"a.csv", "text,label\na,b\xff\n", "a.csv:2: the label is not UTF-8; save"},
		{"a.csv", "label,text,label\na,b,c\n",
			`a.csv:1: columns 1 and 3 are both called "label"; rename one of them`},
		{"a.tsv", "\ntext\ttext\tlabel\na\tb\tc\n", `a.tsv:2: columns 1 and 2 are both called "text"`},
		{"a.jsonl", `{"text":"a","label":"b","text":"c"}`, `a.jsonl:1: bad JSON line: two fields are called "text"`},
		{"a.jsonl", `{"label":"a","text":"c","label":"a"}`, `two fields are called "label"`},
		{"a.jsonl", "{\"text\":\"a\xff\",\"label\":\"b\"}", "a.jsonl:1: bad JSON line: it is not UTF-8"},
		{"a.jsonl", `{"text":"a\ud800","label":"b"}`, `a.jsonl:1: the field "text" has half of a surrogate pair`},
		{"a.jsonl", `{"text":"a","label":"\udc00\ud800"}`, `the field "label" has half of a surrogate pair`},
		{"a.jsonl", `{"text":"a\ud83dx","label":"b"}`, `the field "text" has half`},
		{"a.jsonl", "[]", `a.jsonl:1: not a JSON object; want one such as {"text": "…", "label": "…"}`},
	} {
		_, err := Read(strings.NewReader(c.data), c.file, "text", "label")
		var bad *DataError
		if !errors.Is(err, ErrData) || !errors.As(err, &bad) ||
			!strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%q: %v, want %q", c.data, err, c.says)
		}
	}
}

// Escapes that are characters stay, and so do backslashes that only look like escapes.
func TestReadEscapes(t *testing.T) {
	t.Parallel()
	line := `{"text":"\ud83d\ude00 \\ud800 \ufffd \u00e9 \"","label":"\ud83d\ude00"}`
	got, err := Read(strings.NewReader(line), "a", "text", "label")
	want := []Example{{"\U0001f600 \\ud800 \ufffd é \"", "\U0001f600", 1}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}

// One field for both is said as such, whatever the columns are.
func TestReadOneField(t *testing.T) {
	t.Parallel()
	for file, data := range map[string]string{
		"a.csv": "text,label\na,b\n", "a.jsonl": `{"text":"a","label":"b"}`,
	} {
		_, err := Read(strings.NewReader(data), file, "label", "label")
		var bad *DataError
		if !errors.As(err, &bad) || !bad.Names || !strings.Contains(bad.Error(),
			file+`: the texts and the labels cannot both be in "label"; name two fields`) {
			t.Errorf("%v", err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("a.jsonl", `{"text":"a","label":1e999}`)
	f.Add("a.csv", "text,label\n\"a\"b,c\n")
	f.Add("a.tsv", "\ufefftext\tlabel\n\ta\n")
	f.Fuzz(func(t *testing.T, file, data string) {
		got, err := Read(strings.NewReader(data), file, "text", "label")
		if (err == nil) == (len(got) == 0) {
			t.Errorf("%d texts, %v", len(got), err)
		}
		for _, e := range got {
			if e.Line < 1 || strings.TrimSpace(e.Text) == "" || strings.TrimSpace(e.Label) == "" {
				t.Errorf("%+v", e)
			}
		}
	})
}
