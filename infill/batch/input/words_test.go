package input

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"infill/infill/batch/input/inputtest"
	"infill/infill/settings"
	"infill/infill/table"
)

// Records that are words become texts, with lists of what the words have. A sentence that comes
// again later is another one.
func TestSentencesOfWords(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		data string
		want []string
	}{
		"a.csv": {"id,s,text,k\n7,1,I,a\n8,1,don't,b\n9,2,No.,c\n1,1,Yes,d\n", []string{
			`2 "I don't" [[0 1] [2 7]] id=["7","8"] s=["1","1"] k=["a","b"]`,
			`4 "No." [[0 3]] id=["9"] s=["2"] k=["c"]`, `5 "Yes" [[0 3]] id=["1"] s=["1"] k=["d"]`}},
		"a.jsonl": {`{"text":"我们","s":1}` + "\n" + `{"text":"好","s":1,"k":[2]}` + "\n{\n" + `{"text":" ","s":3}`,
			[]string{`1 "我们 好" [[0 6] [7 10]] s=[1,1] k=[null,[2]]`, `3 <bad JSON line>`, `4 <bad row>`}},
	} {
		path := inputtest.Write(t, filepath.Join(t.TempDir(), name), c.data)
		in, err := Open(path, nil, Options{Sentence: "s"})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for {
			it, err := in.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			line := fmt.Sprintf("%d %q %v", it.Line, it.Text, it.Words)
			for _, f := range it.Fields {
				line += fmt.Sprintf(" %s=%s", f.Name, f.Value)
			}
			if it.Err != nil {
				kind, _, _ := strings.Cut(it.Err.Error(), ":")
				line = fmt.Sprintf("%d <%s>", it.Line, kind)
			}
			got = append(got, line)
		}
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
	lines := inputtest.Write(t, filepath.Join(t.TempDir(), "a.txt"), "I\n")
	if _, err := Open(lines, nil, Options{Sentence: "s"}); !errors.Is(err, table.ErrTable) {
		t.Errorf("lines: %v", err)
	}
	rows := inputtest.Write(t, filepath.Join(t.TempDir(), "a.csv"), "text\nI\n")
	var column *ColumnError
	if _, err := Open(rows, nil, Options{Sentence: "s"}); !errors.As(err, &column) || column.Want != "s" {
		t.Errorf("no such column: %v", err)
	}
	if _, err := Open(rows, nil, Options{Sentence: "text", Shard: settings.Shard{Of: 2}}); !errors.Is(err, ErrShard) {
		t.Errorf("a shard: %v", err)
	}
}

// Several columns name a sentence together. Words that are hardly one sentence are doubted: two full
// stops, a single word, a name that comes again.
func TestSentencesOfReaders(t *testing.T) {
	t.Parallel()
	const rows = "text,item,subj\nHe,1,a\nsat.,1,a\nHe,1,b\nsat.,1,b\nNo,2,b\nHe,1,a\nsat.,1,a\n"
	path := inputtest.Write(t, filepath.Join(t.TempDir(), "a.csv"), rows)
	for columns, want := range map[string]string{
		"item":      "2 He sat. He sat. [sentence_stops]\n6 No [sentence_word]\n7 He sat. [sentence_again]\n",
		"item,subj": "2 He sat. []\n4 He sat. []\n6 No [sentence_word]\n7 He sat. [sentence_again]\n",
	} {
		in, err := Open(path, nil, Options{Sentence: columns})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for it, err := in.Next(); err == nil; it, err = in.Next() {
			codes := []string{}
			for _, d := range it.Doubts {
				codes = append(codes, d.Code)
			}
			got += fmt.Sprintln(it.Line, it.Text, codes)
		}
		if err := in.Close(); err != nil || got != want {
			t.Errorf("%s: %v:\n%s\nwant\n%s", columns, err, got, want)
		}
	}
}

// The text of a JSON line may be a list of words, where that is asked for.
func TestTextOfWords(t *testing.T) {
	t.Parallel()
	line := Line{Number: 1, Text: []byte(`{"text":["He","didn't","é","!"],"n":1}`)}
	it := Options{Format: settings.FormatJSONL, Lists: true}.Item(line)
	if it.Err != nil || it.Text != "He didn't é !" || fmt.Sprint(it.Words) != "[[0 2] [3 9] [10 12] [13 14]]" {
		t.Errorf("%+v", it)
	}
	if it := (Options{Format: settings.FormatJSONL}).Item(line); it.Err == nil {
		t.Errorf("not asked for: %+v", it)
	}
}
