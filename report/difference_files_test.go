package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"infill/infill/jsonl"
	"infill/metrics/bleu"
	"infill/report/measure"
	"infill/report/read"
	"infill/report/show"
)

// records are the fillings of a sampler as infill batch writes them. Where without names a source, its
// line has failed.
func records(c *measure.Comparison, sampler int, without int) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	for i, s := range c.Samplers[sampler].Sentences {
		rec := jsonl.Filled{Item: jsonl.Item{Line: i + 1, Text: c.Sources[i].Text}}
		if i == without {
			rec.Error = &jsonl.Failure{Code: "no_blank", Message: "it has none"}
		}
		for _, f := range s.Fillings {
			if i != without {
				per := f.Score
				rec.Fillings = append(rec.Fillings, jsonl.Filling{Text: f.Text, Score: &f.Score,
					ScorePerToken: &per})
			}
		}
		_ = e.Encode(rec) // a builder takes everything
	}
	return strings.TrimSpace(b.String())
}

func evalPairs(t *testing.T, files ...string) *measure.EvalResult {
	t.Helper()
	var in []read.Input
	for i, f := range files {
		in = append(in, inMemory(fmt.Sprint("file", i+1), strings.Split(f, "\n")))
	}
	r, err := measure.Eval(in, nil, measure.EvalOptions{Options: withIntervals(2, bleu.Confidence{Resamples: 2})})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Files of records of the same texts have the differences that their samplers have.
func TestDifferencesOfFiles(t *testing.T) {
	t.Parallel()
	c := pairs(rand.New(rand.NewPCG(11, 12)), 9)
	files := evalPairs(t, records(c, 0, -1), records(c, 1, -1))
	samplers := paired(t, c)
	if len(files.Differences) != 1 || files.Differences[0].Name != "file2" {
		t.Fatalf("%d rows of differences, notes %q", len(files.Differences), files.Notes)
	}
	for _, key := range []string{"self_bleu", "unique.self.2", "score"} {
		got, want := metric(t, files.Differences[0], key), metric(t, samplers.Differences[0], key)
		if !want.HasInterval() || got.Value != want.Value || got.Low != want.Low ||
			got.High != want.High {
			t.Errorf("%s: %v (%v to %v), want %v (%v to %v)", key, got.Value, got.Low, got.High,
				want.Value, want.Low, want.High)
		}
	}
	for name, render := range map[string]func(io.Writer) error{"text": show.Eval(files).Text,
		"markdown": show.Eval(files).Markdown, "json": show.Eval(files).JSON, "html": show.Eval(files).HTML} {
		var b bytes.Buffer
		if err := render(&b); err != nil || !strings.Contains(b.String(), "ifference") {
			t.Errorf("%s: no differences, or %v", name, err)
		}
	}
}

// A best is underlined where the difference excludes 0, and nowhere else. Of three files it has to
// be better than both others.
func TestBestOfFiles(t *testing.T) {
	t.Parallel()
	file := func(score func(source int) float64) string {
		var lines []string
		for i := range 8 {
			lines = append(lines, fmt.Sprintf(
				`{"text":"the [MASK] of %d .","fillings":[{"text":"the end of %[1]d .","score":%g}]}`, i,
				score(i)))
		}
		return strings.Join(lines, "\n")
	}
	worse := file(func(i int) float64 { return -10 - float64(i%3) })
	better := file(func(i int) float64 { return -5 - float64(i%2) })
	alike := file(func(i int) float64 { return -5 - float64(i/2%2) + float64(i%3-1) })
	for name, c := range map[string]struct {
		files []string
		best  string // of the scores
	}{
		"the second is better":   {[]string{worse, better}, "file2"},
		"the first is better":    {[]string{better, worse}, "file1"},
		"the third is better":    {[]string{worse, worse, better}, "file3"},
		"nobody knows which":     {[]string{better, alike}, ""},
		"two of three are alike": {[]string{worse, better, alike}, ""},
		"sentences of no text":   {[]string{"a b .\na b .\na b .", "a b .\nc d .\ne f ."}, ""},
	} {
		r := evalPairs(t, c.files...)
		var b bytes.Buffer
		if err := show.Eval(r).HTML(&b); err != nil {
			t.Fatal(err)
		}
		metrics, _, _ := strings.Cut(b.String(), "Differences from")
		var got []string
		for row := range strings.SplitSeq(metrics, "<tr") {
			for i, cell := range strings.Split(row, "<td")[1:] {
				if strings.Contains(cell, `class="best"`) {
					got = append(got, fmt.Sprint("file", i+1))
				}
			}
		}
		if c.best == "" && got != nil || c.best != "" && !slices.Equal(got, []string{c.best}) {
			t.Errorf("%s: underlined are %q, want %q", name, got, c.best)
		}
	}
}

// The rows of a table are paired with records of the same texts, and have no differences from
// records of the same fillings.
func TestDifferencesOfTables(t *testing.T) {
	t.Parallel()
	c := pairs(rand.New(rand.NewPCG(17, 18)), 6)
	var rows []string
	for i, s := range c.Samplers[0].Sentences {
		for _, f := range s.Fillings {
			rows = append(rows, fmt.Sprintf(`{"line":%d,"text":%q,"filled":%q,"score":%v}`, i+1,
				c.Sources[i].Text, f.Text, f.Score))
		}
	}
	r := evalPairs(t, records(c, 0, -1), strings.Join(rows, "\n"))
	if len(r.Differences) != 1 {
		t.Fatalf("no differences: %q", r.Notes)
	}
	for _, key := range []string{"self_bleu", "unique.self.2", "score"} {
		if m := metric(t, r.Differences[0], key); m.Value != 0 || m.Low != 0 || m.High != 0 {
			t.Errorf("%s: %v (%v to %v)", key, m.Value, m.Low, m.High)
		}
	}
}

// A record that one file has not counts in no difference.
func TestDifferencesOfCommonRecords(t *testing.T) {
	t.Parallel()
	c := pairs(rand.New(rand.NewPCG(13, 14)), 9)
	got := evalPairs(t, records(c, 0, -1), records(c, 1, 4))
	want := evalPairs(t, records(c, 0, 4), records(c, 1, 4))
	for i, m := range want.Differences[0].Metrics {
		if g := got.Differences[0].Metrics[i]; g.Text() != m.Text() || g.Interval() != m.Interval() ||
			g.Signature != m.Signature {
			t.Errorf("%s: %s %s (%s), want %s %s (%s)", m.Key, g.Text(), g.Interval(), g.Signature,
				m.Text(), m.Interval(), m.Signature)
		}
	}
	if m := metric(t, got.Differences[0], "self_bleu"); !strings.Contains(m.Signature,
		"|N:32|") || !strings.Contains(m.Signature, "|less:file1|jk:8|units:8|ci:0.95|v:1") {
		t.Errorf("signature %s", m.Signature)
	}
}

// Files of other texts, or of texts that nobody knows, are not paired. A note says so, and others
// keep their differences.
func TestFilesThatAreNoPair(t *testing.T) {
	t.Parallel()
	c := pairs(rand.New(rand.NewPCG(15, 16)), 4)
	other := pairs(rand.New(rand.NewPCG(16, 17)), 4)
	first := records(c, 0, -1)
	const unknown = "file2 does not say what its sentences were made from, as records of fillings do"
	for name, x := range map[string]struct{ file, says string }{
		"other texts": {records(other, 1, -1),
			"it has 0 sources of sentences in common with file1, and two are needed"},
		"lines":   {"one sentence\nanother one\na third one\na fourth one", unknown},
		"objects": {`{"text":"news","gold":""}` + "\n" + `{"text":"sports"}`, unknown},
	} {
		r := evalPairs(t, first, x.file, records(c, 1, -1))
		if len(r.Differences) != 1 || r.Differences[0].Name != "file3" ||
			!slices.Contains(r.Notes, "no differences of file2: "+x.says) {
			t.Errorf("%s: %d rows of differences, notes %q", name, len(r.Differences), r.Notes)
		}
	}
	if r := evalPairs(t, first); len(r.Notes) != 0 {
		t.Errorf("of one file: notes %q", r.Notes)
	}
}

// Records are paired by their texts, wherever they stand. Those of one text are one source.
func TestPairsAreOfTexts(t *testing.T) {
	t.Parallel()
	c := pairs(rand.New(rand.NewPCG(19, 20)), 6)
	a, b := records(c, 0, -1), records(c, 1, -1)
	lines := strings.Split(b, "\n")
	slices.Reverse(lines)
	want := evalPairs(t, a, b).Differences[0]
	for name, got := range map[string]*measure.EvalResult{
		"another order": evalPairs(t, a, strings.Join(lines, "\n")),
		"twice":         evalPairs(t, a+"\n"+a, b+"\n"+b),
	} {
		w, g := metric(t, want, "score"), metric(t, got.Differences[0], "score")
		if math.Abs(w.Value-g.Value) > 1e-9 || math.Abs(w.Low-g.Low) > 1e-9 {
			t.Errorf("%s: %v (%v to %v), want %v (%v to %v)", name, g.Value, g.Low, g.High, w.Value,
				w.Low, w.High)
		}
	}
}

// What cannot be compared has a warning, and no mark: scores of some sentences only, sums over other
// blanks, other numbers of sentences.
func TestDifferencesWarn(t *testing.T) {
	t.Parallel()
	c := pairs(rand.New(rand.NewPCG(21, 22)), 8)
	for i := range c.Samplers[1].Sentences {
		for k := range c.Samplers[1].Sentences[i].Fillings {
			c.Samplers[1].Sentences[i].Fillings[k].Score -= 1000
		}
	}
	a, b := records(c, 0, -1), records(c, 1, -1)
	some, fewer := strings.Split(b, "\n"), strings.Split(b, "\n")
	some[0] = regexp.MustCompile(`"score":[^,]*,`).ReplaceAllString(some[0], "")
	fewer[0] = fewer[0][:strings.LastIndex(fewer[0], ",{")] + "]}"
	for name, x := range map[string]struct{ a, b, says string }{
		"nothing":      {a, b, ""},
		"partly":       {a, strings.Join(some, "\n"), "only 28 of 32 sentences have a score"},
		"other number": {a, strings.Join(fewer, "\n"), "the numbers of sentences differ"},
		"other blanks": {golds(a), golds(strings.ReplaceAll(b, ` [MASK]"`, ` [MASK] [MASK]"`)),
			"the files have other blanks"},
		"other blanks of a second record": {golds(a) + "\n" + golds(a), golds(b) + "\n" +
			golds(strings.ReplaceAll(b, ` [MASK]"`, ` [MASK] [MASK]"`)), "the files have other blanks"},
	} {
		r := evalPairs(t, x.a, x.b)
		m := metric(t, r.Differences[0], "score")
		var md bytes.Buffer
		if err := show.Eval(r).Markdown(&md); err != nil {
			t.Fatal(err)
		}
		says := strings.Join(m.Warnings, "; ")
		line := "mean score \\(nats\\) ↑ | **-100"
		marked := strings.Contains(md.String(), line)
		if !strings.Contains(says, x.says) || (x.says == "") != (says == "") || marked != (says == "") ||
			!strings.Contains(md.String(), x.says) {
			t.Errorf("%s: %q, marked: %v", name, says, marked)
		}
	}
}

// golds adds to records what their texts were before they were masked.
func golds(records string) string {
	var out []string
	for i, line := range strings.Split(records, "\n") {
		out = append(out, fmt.Sprintf(`{"gold":"text %d",%s`, i, line[1:]))
	}
	return strings.Join(out, "\n")
}
