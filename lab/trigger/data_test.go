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
	lines := `{"text":"One, \"two\".","label":"x","n":[1]}` + "\n\n" + `{"label":2,"text":"three"}`
	want := []Example{{"One, \"two\".", "x", 1}, {"three", "2", 3}}
	for _, data := range []string{lines, "\ufeff" + lines, strings.ReplaceAll(lines, "\n", "\r\n")} {
		got, err := Read(strings.NewReader(data), "a.jsonl", "text", "label")
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v", data, got, err)
		}
	}
	for file, data := range map[string]string{
		"a.csv": "s,n,class\n\"One, \"\"two\"\".\",1,x\nthree,2,2\n",
		"A.TSV": "class\ts\nx\t\"One, \"\"two\"\".\"\n2\tthree\n",
	} {
		got, err := Read(strings.NewReader(data), file, "s", "class")
		want := []Example{{want[0].Text, "x", 2}, {want[1].Text, "2", 3}}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", file, got, err)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, data, says string }{
		{"a.jsonl", "", "a.jsonl: no labelled text"},
		{"a.jsonl", "{\"text\":\"a\",\"label\":\"b\"}\nnonsense", "a.jsonl:2: "},
		{"a.jsonl", `{"text":"a"}`, `a.jsonl:1: no field "label"`},
		{"a.jsonl", `{"text":"a","label":["b"]}`, `"label" is not a single value`},
		{"a.jsonl", `{"text":"a","label":null}`, `"label" is not a single value`},
		{"a.jsonl", `{"text":" ","label":"b"}`, "a.jsonl:1: the text or the label is empty"},
		{"a.csv", "text,label\n", "no labelled text"},
		{"a.csv", "text,class\na,b\n", `a.csv: no column "text" and "label", but ["text" "class"]`},
		{"a.csv", "text,label\na,b,c\n", "line 2: wrong number of fields"},
		{"a.csv", "text,label\n\xff,b\n", "a.csv:2: it is not UTF-8; save"},
	} {
		_, err := Read(strings.NewReader(c.data), c.file, "text", "label")
		if !errors.Is(err, ErrData) || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%q: %v, want %q", c.data, err, c.says)
		}
	}
}
