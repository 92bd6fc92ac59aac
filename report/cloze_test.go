package report_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"infill/metrics/cloze"
	"infill/report/measure"
	"infill/report/read"
	"infill/report/show"
)

// clozeTest is a benchmark of four lines with two words each.
func clozeTest() *measure.ClozeResult {
	line := func(back ...float64) cloze.Counts {
		return cloze.Counts{Words: 2, Lines: 1, Back: [4]float64(back)}
	}
	return &measure.ClozeResult{
		Command: "infill cloze in.txt", Version: "1.0", Date: "2026-01-01",
		Models: []string{"small (Bert sha256:00)"}, Protocol: "2 words of each blanked out, anywhere",
		Seed: 7, Among: 5, Notes: []string{"4 of 5 lines taken"},
		Runs: []measure.ClozeRun{
			{Name: "fill", Rows: 400, Asked: 500, Processor: 2 * time.Second, Lines: []cloze.Counts{
				line(2, 2, 1, 1), line(1, 2, 0, 1), line(0, 1, 0, 0), line(1, 1, 0, 0)}},
			{Name: "alone | [x]", Rows: 8, Asked: 8, Processor: 20 * time.Millisecond, Failed: 1,
				Lines: []cloze.Counts{
					line(1, 2, 0, 0), line(1, 1, 0, 0), line(0, 1, 0, 0), line(0, 0, 0, 0)}},
		},
	}
}

func TestRenderCloze(t *testing.T) {
	t.Parallel()
	r := clozeTest()
	if err := measure.Cloze(r); err != nil {
		t.Fatal(err)
	}
	golden(t, "cloze.txt", show.Cloze(r).Text)
	golden(t, "cloze.md", show.Cloze(r).Markdown)
	golden(t, "cloze.json", show.Cloze(r).JSON)
}

// A report has the numbers of the counts, with what they cost.
func TestCloze(t *testing.T) {
	t.Parallel()
	r := clozeTest()
	if err := measure.Cloze(r); err != nil {
		t.Fatal(err)
	}
	if r.Lines != 4 || r.Words != 8 || len(r.Rows) != 2 || len(r.Differences) != 1 {
		t.Fatalf("%+v", r)
	}
	for row, want := range []map[string]float64{
		{"words.1": 50, "words.among": 75, "lines.1": 25, "lines.among": 50, "rows": 100,
			"processor": .5},
		{"words.1": 25, "words.among": 50, "lines.1": 0, "lines.among": 0, "rows": 2,
			"processor": .005},
	} {
		for key, v := range want {
			if m, ok := r.Rows[row].Get(key); !ok || math.Abs(m.Value-v) > 1e-9 {
				t.Errorf("%s of %s: %v, want %v", key, r.Rows[row].Name, m.Value, v)
			}
		}
	}
	for key, v := range map[string]float64{"words.1": -25, "words.among": -25, "lines.1": -25,
		"lines.among": -50} {
		m, ok := r.Differences[0].Get(key)
		if !ok || math.Abs(m.Value-v) > 1e-9 || !m.HasInterval() {
			t.Errorf("difference of %s: %+v, want %v", key, m, v)
		}
	}
	// One filling is the same at 1 and among 1, and time that nobody measured is not shown.
	r = clozeTest()
	r.Among, r.Runs[0].Processor = 1, 0
	if err := measure.Cloze(r); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, m := range r.Rows[0].Metrics {
		keys = append(keys, m.Key)
	}
	if got := strings.Join(keys, " "); got != "words.1 lines.1 rows" {
		t.Error(got)
	}
	for name, wrong := range map[string]func(*measure.ClozeResult){
		"no run":  func(c *measure.ClozeResult) { c.Runs = nil },
		"no line": func(c *measure.ClozeResult) { c.Runs[0].Lines = nil },
		"none":    func(c *measure.ClozeResult) { c.Among = 0 },
		"level":   func(c *measure.ClozeResult) { c.Level = 1 },
	} {
		c := clozeTest()
		wrong(c)
		if err := measure.Cloze(c); !errors.Is(err, read.ErrOption) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c := clozeTest()
	c.Runs[1].Lines = c.Runs[1].Lines[1:]
	if err := measure.Cloze(c); !errors.Is(err, cloze.ErrUnpaired) {
		t.Errorf("%v", err)
	}
}
