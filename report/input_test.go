package report_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	tables "infill/infill/table"
	"infill/metrics/corpus"
	"infill/report"
)

func read(in string, o report.ReadOptions) ([]report.Sentence, report.Summary, error) {
	var out []report.Sentence
	sum, err := report.ReadSentences(strings.NewReader(in), "in", o, func(s report.Sentence) error {
		out = append(out, s)
		return nil
	})
	return out, sum, err
}

const batchRecords = `{"id":"a","line":1,"text":"a [MASK] b","fillings":[{"text":"a x b","tokens":["x"],"spans":[[2,3]],"score":-4.5,"score_per_token":-4.5,"chain":3,"step":50},{"text":"a y b","score":-5.5}],"sampler":"dmala","seed":1,"acceptance":0.5,"model":"sha256:00","version":"v0"}
{"id":"b","line":2,"error":{"code":"too_long","message":"513 tokens"}}

{"id":"c","line":3,"text":"[MASK]","fillings":[{"text":"two\nlines","score":null}],"sampler":"dmala","acceptance":0.25}
`

func TestReadBatchRecords(t *testing.T) {
	t.Parallel()
	got, sum, err := read(batchRecords, report.ReadOptions{})
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
	if sum.Format != "jsonl" || sum.Records != 3 || sum.Failed != 1 || sum.Sentences != 3 ||
		sum.Sampler != "dmala" {
		t.Errorf("summary %+v", sum)
	}
	if sum.Acceptance == nil || *sum.Acceptance != 0.375 {
		t.Errorf("acceptance %v, want 0.375", sum.Acceptance)
	}
	if got, _, err = read(batchRecords, report.ReadOptions{Top: 1}); err != nil || len(got) != 2 {
		t.Errorf("top 1: %d sentences, %v", len(got), err)
	}
}

// An array of JSON is read as its elements are in JSON lines, and an array of texts as lines.
func TestReadArrays(t *testing.T) {
	t.Parallel()
	want, wantSum, err := read(batchRecords, report.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.ReplaceAll(strings.TrimSpace(batchRecords), "\n\n", "\n"), "\n")
	got, sum, err := read("[\n"+strings.Join(lines, ",\n")+"\n]", report.ReadOptions{})
	if wantSum.Format = "json"; err != nil || !reflect.DeepEqual(got, want) ||
		!reflect.DeepEqual(sum, wantSum) {
		t.Errorf("%+v, %+v, %v; want %+v", got, sum, err, want)
	}
	got, sum, err = read(`["a b", "", "c\nd"]`, report.ReadOptions{})
	if err != nil || len(got) != 3 || got[2].Text != "c d" || sum.Blank != 1 || sum.Records != 3 {
		t.Errorf("%+v, %+v, %v", got, sum, err)
	}
	for _, texts := range []string{`["a [MASK].", "b [MASK]."]`, `[{"text": "a [MASK]."}, {"text": "b [MASK]."}]`} {
		sources, err := report.ReadSources("-", strings.NewReader(texts))
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
	got, sum, err := read(in, report.ReadOptions{TextField: "review"})
	if err != nil || len(got) != 3 || sum.Records != 3 || sum.Failed != 1 || sum.Sentences != 3 {
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
	_, _, err = read(in, report.ReadOptions{})
	if !errors.Is(err, report.ErrNoText) || !errors.Is(err, report.ErrFormat) {
		t.Errorf("without the name of the field: %v", err)
	}
}

func TestReadLines(t *testing.T) {
	t.Parallel()
	got, sum, err := read("\n[MASK] stays text\n\n{braces} too\n", report.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 4 || got[1].Text != "[MASK] stays text" || sum.Blank != 2 || sum.Format != "lines" {
		t.Errorf("read %v, summary %+v", got, sum)
	}
	if got, _, err = read(`{"text":"a"}`, report.ReadOptions{Format: "lines"}); err != nil ||
		got[0].Text != `{"text":"a"}` {
		t.Errorf("forced lines: %v, %v", got, err)
	}
	if got, _, err = read(`{"text":"a"}`, report.ReadOptions{}); err != nil || got[0].Text != "a" {
		t.Errorf("records of text alone: %v, %v", got, err)
	}
}

func TestReadErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		o    report.ReadOptions
		want error
		say  string
	}{
		{"", report.ReadOptions{}, corpus.ErrEmpty, "in: "},
		{"\n\n", report.ReadOptions{}, report.ErrNoSentences, "2 blank lines"},
		{"a\x00b", report.ReadOptions{}, corpus.ErrBinary, "in:1"},
		{"[{\"text\": \"a\"}, {}]", report.ReadOptions{}, report.ErrFormat, "in:2"},
		{"[\"a\", {\"b\"", report.ReadOptions{}, tables.ErrTable, "in: unreadable JSON: element 2: the array"},
		{"[\"a\", \"\\x\"]", report.ReadOptions{}, report.ErrFormat, "in:2"},
		{"[[1]]", report.ReadOptions{}, report.ErrFormat, "JSON array"},
		{"{\n  \"text\": \"a\"\n}", report.ReadOptions{}, report.ErrFormat, "several lines"},
		{"{\"text\":\"a\"}\nnot json", report.ReadOptions{}, report.ErrFormat, "in:2"},
		{`{"sentence":"a"}`, report.ReadOptions{}, report.ErrFormat, `without the field "text"; its fields are "sentence"`},
		{`{"text":"a [MASK] b"}`, report.ReadOptions{}, report.ErrFormat, "a text to be filled"},
		{`{"text":"a","fillings":[{"score":-1}]}`, report.ReadOptions{}, report.ErrFormat,
			`fillings[0]": the filling has no text`},
		{`{"text":"a","fillings":[{"text":"a","score":"high"}]}`, report.ReadOptions{}, report.ErrFormat,
			"score"},
		{`{"error":{"code":"x","message":"y"}}`, report.ReadOptions{}, report.ErrNoSentences, "1 failed"},
		{"a", report.ReadOptions{Format: "xml"}, report.ErrOption, "xml"},
		{"a", report.ReadOptions{Sample: -1}, report.ErrOption, "-1"},
	} {
		_, _, err := read(c.in, c.o)
		if !errors.Is(err, c.want) || !strings.Contains(fmt.Sprint(err), c.say) {
			t.Errorf("%q: %v; want %v saying %q", c.in, err, c.want, c.say)
		}
	}
	if _, err := report.Files([]string{t.TempDir()}, nil)[0].Open(); err == nil {
		t.Error("a folder was opened")
	}
	if _, err := report.Files([]string{filepath.Join(t.TempDir(), "no")},
		nil)[0].Open(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	r, err := report.Files([]string{"-"}, strings.NewReader("x"))[0].Open()
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
		got, sum, err := read(in, report.ReadOptions{Sample: 10, Seed: seed})
		if err != nil || len(got) != 10 || sum.Kept != 10 || sum.Sentences != 100 {
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
	f.Add(batchRecords)
	f.Add("plain\nlines\n")
	f.Add("{\"text\":\"a\"}\n{\"fillings\":[{\"text\":\"\"}]}")
	f.Add("[{]")
	f.Fuzz(func(t *testing.T, in string) {
		for _, format := range []string{"auto", "lines", "jsonl"} {
			got, sum, err := read(in, report.ReadOptions{Format: format, Top: 2})
			if err == nil && (len(got) == 0 || sum.Kept != len(got)) {
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

// Compressed files read as what they hold, whatever their names; damaged ones are errors
// that name them.
func TestOpenCompressed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const text = "the dog sleeps .\nthe cat sees a bird .\n"
	var gz, zst bytes.Buffer
	g := gzip.NewWriter(&gz)
	z, err := zstd.NewWriter(&zst)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []io.WriteCloser{g, z} {
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		data []byte
		ok   bool
	}{
		"a.txt": {[]byte(text), true}, "a.txt.gz": {gz.Bytes(), true}, "a.zst": {zst.Bytes(), true},
		"b.gz": {[]byte(text), true}, "b.txt": {zst.Bytes(), true}, "b.zst": {gz.Bytes(), true},
		"empty.gz": {nil, false},
		"cut.gz":   {gz.Bytes()[:gz.Len()-4], false}, "cut.zst": {zst.Bytes()[:zst.Len()-4], false},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, c.data, 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := report.Eval(report.Files([]string{path}, nil), nil, report.EvalOptions{})
		switch {
		case c.ok && (err != nil || r.Files[0].N != 2):
			t.Errorf("%s: %v", name, err)
		case !c.ok && (err == nil || !strings.Contains(err.Error(), path)):
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err = report.Eval(report.Files([]string{dir}, nil), nil, report.EvalOptions{})
	if err == nil || !strings.Contains(err.Error(), "folder") {
		t.Errorf("a folder: %v", err)
	}
}

// An input that nobody made, and standard input that is not there, panicked.
func TestInputWithoutAStream(t *testing.T) {
	for name, in := range map[string][]report.Input{
		"zero": {{Name: "a"}}, "stdin": report.Files([]string{"-"}, nil),
	} {
		if _, err := report.Eval(in, nil, report.EvalOptions{}); !errors.Is(err, report.ErrOption) {
			t.Errorf("%s: %v", name, err)
		}
		good := []report.Input{report.Strings("b", []string{"a b c"})}
		if _, err := report.Eval(good, in, report.EvalOptions{}); !errors.Is(err, report.ErrOption) {
			t.Errorf("%s as references: %v", name, err)
		}
	}
}

// A result without rows panicked as text, Markdown and HTML.
func TestResultWithoutRows(t *testing.T) {
	var r report.EvalResult
	for name, write := range map[string]func(io.Writer) error{
		"text": r.WriteText, "markdown": r.WriteMarkdown, "html": r.WriteHTML, "json": r.WriteJSON,
	} {
		if err := write(io.Discard); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A result without rows is written all the same.
func TestComparisonWithoutRows(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(io.Writer) error{
		"text": (&report.CompareResult{}).WriteText, "HTML": (&report.CompareResult{}).WriteHTML,
		"Markdown": (&report.CompareResult{}).WriteMarkdown,
	} {
		var b strings.Builder
		if err := write(&b); err != nil || b.Len() == 0 {
			t.Errorf("%s: %d bytes, %v", name, b.Len(), err)
		}
	}
}
