package read_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"infill/infill/jsonl"
	tables "infill/infill/table"
	"infill/report/read"
)

func opened(in string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(in)), nil }
}

func sentences(in string, o read.Options) ([]read.Sentence, read.File, error) {
	var out []read.Sentence
	sum, err := read.Sentences(read.Input{Name: "in", Open: opened(in)}, o, func(s read.Sentence) error {
		out = append(out, s)
		return nil
	})
	return out, sum, err
}

func batchRecords(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile("testdata/records.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestReadBatchRecords(t *testing.T) {
	t.Parallel()
	got, sum, err := sentences(batchRecords(t), read.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	var groups []int
	for _, s := range got {
		texts, groups = append(texts, s.Text), append(groups, s.Group)
	}
	if !slices.Equal(texts, []string{"a x b", "a y b", "two lines"}) ||
		!slices.Equal(groups, []int{0, 0, 2}) {
		t.Errorf("read %q in groups %v", texts, groups)
	}
	if got[0].Score == nil || *got[0].Score != -4.5 || got[1].PerToken != nil || got[2].Score != nil {
		t.Errorf("scores %v %v %v", got[0].Score, got[1].PerToken, got[2].Score)
	}
	if sum.Format != "jsonl" || sum.Records != 3 || sum.Failed != 1 || sum.Seen != 3 ||
		sum.Sampler != "dmala" {
		t.Errorf("summary %+v", sum)
	}
	if got, _, err = sentences(batchRecords(t), read.Options{Top: 1}); err != nil || len(got) != 2 {
		t.Errorf("top 1: %d sentences, %v", len(got), err)
	}
}

// An array of JSON is read as its elements are in JSON lines, and an array of texts as lines.
func TestReadArrays(t *testing.T) {
	t.Parallel()
	want, wantSum, err := sentences(batchRecords(t), read.Options{})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.ReplaceAll(strings.TrimSpace(batchRecords(t)), "\n\n", "\n"), "\n")
	got, sum, err := sentences("[\n"+strings.Join(lines, ",\n")+"\n]", read.Options{})
	if wantSum.Format = "json"; err != nil || !reflect.DeepEqual(got, want) ||
		!reflect.DeepEqual(sum, wantSum) {
		t.Errorf("%+v, %+v, %v; want %+v", got, sum, err, want)
	}
	got, sum, err = sentences(`["a b", "", "c\nd"]`, read.Options{})
	if err != nil || len(got) != 3 || got[2].Text != "c d" || sum.Blank != 1 || sum.Records != 3 {
		t.Errorf("%+v, %+v, %v", got, sum, err)
	}
	for _, texts := range []string{`["a [MASK].", "b [MASK]."]`, `[{"text": "a [MASK]."}, {"text": "b [MASK]."}]`} {
		sources, err := read.Sources("-", strings.NewReader(texts))
		if err != nil || len(sources) != 2 || sources[1].Text != "b [MASK]." || sources[1].ID != "2" {
			t.Errorf("%s: %+v, %v", texts, sources, err)
		}
	}
}

// Variants of a text are one record. The text itself, variant 0, was not generated.
func TestReadVariants(t *testing.T) {
	t.Parallel()
	const in = `{"review":"a b c","line":2,"variant":0,"original":"a b c"}
{"review":"a x y","line":2,"variant":1,"original":"a b c","filled":["x","y"],"score":-5}
{"review":"a z c","line":2,"variant":2,"original":"a b c","filled":["z"],"score":-1}
{"review":"","line":3,"original":"","error":"empty","error_message":"the text is empty"}
{"review":"d e","line":4,"variant":1,"original":"d f","filled":["e"]}
`
	got, sum, err := sentences(in, read.Options{TextField: "review"})
	if err != nil || len(got) != 3 || sum.Records != 3 || sum.Failed != 1 || sum.Seen != 3 {
		t.Fatalf("%+v %+v %v", got, sum, err)
	}
	for i, want := range []string{"0 a x y|a b c", "0 a z c|a b c", "2 d e|d f"} {
		if s := fmt.Sprintf("%d %s|%s", got[i].Group, got[i].Text, got[i].Gold); s != want {
			t.Errorf("%q, want %q", s, want)
		}
	}
	if *got[0].Score != -5 || *got[0].PerToken != -2.5 || got[2].Score != nil || got[2].PerToken != nil {
		t.Errorf("scores of %+v", got)
	}
	_, _, err = sentences(in, read.Options{})
	if !errors.Is(err, jsonl.ErrNoText) {
		t.Errorf("without the name of the field: %v", err)
	}
}

func TestReadLines(t *testing.T) {
	t.Parallel()
	got, sum, err := sentences("\n[MASK] stays text\n\n{braces} too\n", read.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 4 || got[1].Text != "[MASK] stays text" || sum.Blank != 2 || sum.Format != "lines" {
		t.Errorf("read %v, summary %+v", got, sum)
	}
	if got, _, err = sentences(`{"text":"a"}`, read.Options{Format: "lines"}); err != nil ||
		got[0].Text != `{"text":"a"}` {
		t.Errorf("forced lines: %v, %v", got, err)
	}
	if got, _, err = sentences(`{"text":"a"}`, read.Options{}); err != nil || got[0].Text != "a" {
		t.Errorf("records of text alone: %v, %v", got, err)
	}
}

func TestReadErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		o    read.Options
		want error
		say  string
	}{
		{"", read.Options{}, read.ErrNoSentences, "in: "},
		{"\n\n", read.Options{}, read.ErrNoSentences, "2 blank lines"},
		{"a\x00b", read.Options{}, read.ErrFormat, "in:1: not a text file"},
		{"[{\"text\": \"a\"}, {}]", read.Options{}, jsonl.ErrNoText, "in:2"},
		{"[\"a\", {\"b\"", read.Options{}, tables.ErrTable, "in: unreadable JSON: element 2: the array"},
		{"[\"a\", \"\\x\"]", read.Options{}, read.ErrFormat, "in:2"},
		{"[[1]]", read.Options{}, read.ErrFormat, "JSON array"},
		{"{\n  \"text\": \"a\"\n}", read.Options{}, read.ErrFormat, "several lines"},
		{"{\"text\":\"a\"}\nnot json", read.Options{}, read.ErrFormat, "in:2"},
		{`{"sentence":"a"}`, read.Options{}, jsonl.ErrNoText, `without the field "text"; its fields are "sentence"`},
		{`{"text":"a [MASK] b"}`, read.Options{}, read.ErrFormat, "a text to be filled"},
		{`{"text":"a","fillings":[{"score":-1}]}`, read.Options{}, read.ErrFormat,
			`fillings[0]": the filling has no text`},
		{`{"text":"a","fillings":[{"text":"a","score":"high"}]}`, read.Options{}, read.ErrFormat,
			"score"},
		{`{"error":{"code":"x","message":"y"}}`, read.Options{}, read.ErrNoSentences, "1 failed"},
		{"a", read.Options{Format: "xml"}, read.ErrOption, "xml"},
		{"a", read.Options{Sample: -1}, read.ErrOption, "-1"},
	} {
		_, _, err := sentences(c.in, c.o)
		if !errors.Is(err, c.want) || !strings.Contains(fmt.Sprint(err), c.say) {
			t.Errorf("%q: %v; want %v saying %q", c.in, err, c.want, c.say)
		}
	}
	if _, err := read.Files([]string{t.TempDir()}, nil)[0].Open(); err == nil {
		t.Error("a folder was opened")
	}
	if _, err := read.Files([]string{filepath.Join(t.TempDir(), "no")},
		nil)[0].Open(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	r, err := read.Files([]string{"-"}, strings.NewReader("x"))[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := io.ReadAll(r); string(b) != "x" {
		t.Errorf("stdin reads %q", b)
	}
}

func TestSampleIsStable(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 100 {
		lines = append(lines, fmt.Sprint("line ", i))
	}
	in := strings.Join(lines, "\n")
	sample := func(seed uint64) string {
		got, sum, err := sentences(in, read.Options{Sample: 10, Seed: seed})
		if err != nil || len(got) != 10 || sum.N != 10 || sum.Seen != 100 {
			t.Fatalf("%d sentences, %+v, %v", len(got), sum, err)
		}
		return fmt.Sprint(got)
	}
	one, again, two := sample(1), sample(1), sample(2)
	if one != again || one == two {
		t.Error("the seed does not decide the sample")
	}
}

func FuzzReadSentences(f *testing.F) {
	f.Add(batchRecords(f))
	f.Add("plain\nlines\n")
	f.Add("{\"text\":\"a\"}\n{\"fillings\":[{\"text\":\"\"}]}")
	f.Add("[{]")
	f.Fuzz(func(t *testing.T, in string) {
		for _, format := range []string{"auto", "lines", "jsonl"} {
			got, sum, err := sentences(in, read.Options{Format: format, Top: 2})
			if err == nil && (len(got) == 0 || sum.N != len(got)) {
				t.Fatalf("%s: %d sentences, %+v, no error", format, len(got), sum)
			}
			for _, s := range got {
				if strings.ContainsAny(s.Text, "\n") {
					t.Fatalf("%s: sentence %q", format, s.Text)
				}
			}
		}
	})
}
