package read_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"infill/infill/batch/input"
	"infill/infill/jsonl"
	"infill/infill/table"

	"infill/report/read"
)

func TestReadSources(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in   string
		want []read.Source
	}{
		"lines": {"a [MASK]\n\n[MASK] b\n", []read.Source{{ID: "1", Text: "a [MASK]"},
			{ID: "3", Text: "[MASK] b"}}},
		"jsonl": {`{"id":"x","text":"a [MASK]","gold":"a b"}` + "\n" + `{"id":7,"text":"c"}`,
			[]read.Source{{ID: "x", Text: "a [MASK]", Gold: "a b"}, {ID: "7", Text: "c"}}},
		"integer": {`{"id":12345678901234567891,"text":"a","gold":null,"more":[1]}`,
			[]read.Source{{ID: "12345678901234567891", Text: "a"}}},
		"discs integer": {`[{"id":9007199254740993,"sentence":"a"},{"id":null,"text":"b"}]`,
			[]read.Source{{ID: "9007199254740993", Text: "a"}, {ID: "2", Text: "b"}}},
		"brace": {"{x} [MASK]\n{} [MASK]", []read.Source{{ID: "1", Text: "{x} [MASK]"},
			{ID: "2", Text: "{} [MASK]"}}},
		"discs": {` [ {"gt_sentence": "her lips parted", "sentence": "her [MASK] parted", "infill_pos": [1]}]`,
			[]read.Source{{ID: "1", Text: "her [MASK] parted", Gold: "her lips parted"}}},
		"bracket": {"[MASK] {x}", []read.Source{{ID: "1", Text: "[MASK] {x}"}}},
	} {
		got, err := read.Sources("-", strings.NewReader(c.in))
		if err != nil || len(got) != len(c.want) {
			t.Errorf("%s: %v, %v", name, got, err)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: %+v, want %+v", name, got[i], c.want[i])
			}
		}
	}
	for in, want := range map[string]error{
		"":              read.ErrNoSentences,
		"\n \n":         read.ErrNoSentences,
		`{"gold":"a"}`:  read.ErrFormat,
		`{"text":""}`:   read.ErrFormat,
		`{"text":3}`:    read.ErrFormat,
		`[{"text":"a"}`: table.ErrTable,
		`[{"sentence":"a [MASK]","infill_pos":[1,2]}]`: read.ErrFormat,
		`{"text":"a","id":[1]}`:                        read.ErrFormat,
		`[{"text":"a","id":[1]}]`:                      read.ErrFormat,
		`{"text":"a [MASK]"`:                           jsonl.ErrJSON,
		"{\n\"text\":\"a\"\n}":                         read.ErrFormat,
		`{"text":"a","text":"b"}`:                      jsonl.ErrJSON,
		`{"text":"a","gold":7}`:                        read.ErrFormat,
		"a\x00":                                        read.ErrFormat,
	} {
		if got, err := read.Sources("-", strings.NewReader(in)); !errors.Is(err, want) {
			t.Errorf("%q: %v, %v; want %v", in, got, err, want)
		}
	}
}

// The rows of a table are sources, too.
func TestReadSourcesOfTables(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(path, []byte("gold,text,id\na b,a [MASK],x\n,c,\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := []read.Source{{ID: "x", Text: "a [MASK]", Gold: "a b"}, {ID: "3", Text: "c"}}
	if got, err := read.Sources(path, nil); err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if err := os.WriteFile(path, []byte("words\na\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var none *input.ColumnError
	if _, err := read.Sources(path, nil); !errors.As(err, &none) {
		t.Errorf("a table without the column: %v", err)
	}
}

func FuzzReadSources(f *testing.F) {
	f.Add(`[{"gt_sentence":"a","sentence":"[MASK]","infill_pos":[0]}]`)
	f.Add("{\"text\":\"a\",\"id\":1e300}\nplain")
	f.Add("\v")
	f.Fuzz(func(t *testing.T, in string) {
		got, err := read.Sources("-", strings.NewReader(in))
		if err != nil {
			return
		}
		for _, s := range got {
			if strings.TrimSpace(s.Text) == "" || s.ID == "" && !strings.Contains(in, `"id"`) {
				t.Fatalf("source %+v", s)
			}
		}
	})
}
