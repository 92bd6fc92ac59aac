package measure

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"infill/metrics/cloze"
	"infill/report/read"
)

// A ClozeRun is what came back of lines that were filled in one way.
type ClozeRun struct {
	Name string
	// Lines are the counts of the lines, the same lines in the same order for all runs.
	Lines []cloze.Counts
	// Rows is how many sequences the model evaluated, for all lines together. Asked is how many a
	// sampler asked for, those that it had asked for before among them.
	Rows, Asked int64
	// Processor is the processor time of all lines, 0 for unknown.
	Processor time.Duration
	// Failed are the lines that could not be filled. Nothing of them has come back.
	Failed int
}

// ClozeResult is a benchmark of ways to fill: words of lines were blanked out and filled again.
// [Cloze] makes the shares of words and lines that came back of what its caller says.
type ClozeResult struct {
	Title    string   `json:"title"` // by Cloze
	Command  string   `json:"command,omitempty"`
	Models   []string `json:"models"`
	Version  string   `json:"version,omitempty"`
	Date     string   `json:"date,omitempty"`
	Protocol string   `json:"protocol"` // which words were blanked out, and in what lines
	Seed     uint64   `json:"seed"`
	Lines    int      `json:"lines"` // by Cloze, as Words: those that were blanked out, of all lines
	Words    int      `json:"words"`
	Among    int      `json:"among"` // fillings of a line that count
	Level    float64  `json:"level"` // of the intervals, 0 for 0.95
	// Rows has the runs, Differences those from the second on less the first, line by line, by Cloze.
	Rows        []Row    `json:"rows"`
	Differences []Row    `json:"differences,omitempty"`
	Notes       []string `json:"notes,omitempty"`

	Runs []ClozeRun `json:"-"`
	Gaps bool       `json:"-"` // cloze.CountGap made the counts
}

// A clozeName says what a measure is called. An empty label is for the number of fillings.
type clozeName struct{ key, group, label string }

// wordNames are the measures of cloze.Count, gapNames those of cloze.CountGap.
var (
	wordNames = [4]clozeName{
		{"words.1", "words", "at 1"}, {"words.among", "words", ""},
		{"lines.1", "whole lines", "at 1"}, {"lines.among", "whole lines", ""},
	}
	gapNames = [4]clozeName{
		{"gaps.1", "what stood there", "at 1"}, {"gaps.among", "what stood there", ""},
		{"gaps.length", "of the first", "length right"}, {"gaps.words", "of the first", "words (F1)"},
	}
)

// errAlike is why there is no interval.
var errAlike = errors.New("no interval: all lines are alike")

// Cloze makes shares and differences of the counts, with intervals over the lines. Errors are
// read.ErrOption, and cloze.ErrUnpaired for runs on other lines.
func Cloze(r *ClozeResult) error {
	switch {
	case len(r.Runs) == 0 || len(r.Runs[0].Lines) == 0:
		return fmt.Errorf("%w: no line was filled", read.ErrOption)
	case r.Among < 1:
		return fmt.Errorf("%w: %d fillings of a line count (want 1 or more)", read.ErrOption, r.Among)
	case !(r.Level >= 0 && r.Level < 1):
		return fmt.Errorf("%w: intervals of level %v (want a number below 1)", read.ErrOption, r.Level)
	}
	r.Title = "Words that come back"
	if r.Gaps {
		r.Title = "Gaps that come back"
	}
	first := r.Runs[0].Lines
	r.Lines, r.Level = len(first), cmp.Or(r.Level, .95)
	for _, l := range first {
		r.Words += l.Words
	}
	for i, run := range r.Runs {
		less, err := cloze.Less(run.Lines, first, r.Level)
		if err != nil {
			return fmt.Errorf("%s: %w", run.Name, err)
		}
		shares := r.measures(cloze.Share(run.Lines, r.Level), false)
		r.Rows = append(r.Rows, Row{run.Name, append(shares, run.cost()...)})
		if i > 0 {
			r.Differences = append(r.Differences, Row{run.Name, r.measures(less, true)})
		}
		if run.Failed > 0 {
			r.Notes = append(r.Notes, fmt.Sprintf("%s: lines that could not be filled, so that "+
				"nothing of them came back: %d", run.Name, run.Failed))
		}
	}
	return nil
}

// measures are the four measures as metrics.
func (r *ClozeResult) measures(f cloze.Figures, less bool) []Metric {
	out := make([]Metric, 0, len(f))
	among, names := fmt.Sprintf("among %d", r.Among), wordNames
	if r.Gaps {
		names = gapNames
	}
	for k, m := range names {
		if m.label == "" && r.Among == 1 {
			continue
		}
		x := newMetric(m.key, cmp.Or(m.label, among), "%", 1, +1)
		x.Group, x.Less, x.Units = m.group, less, r.Lines
		x.Value, x.Low, x.High = 100*f[k].Value, 100*f[k].Low, 100*f[k].High
		if !x.HasInterval() {
			x.warn(errAlike)
		}
		out = append(out, x)
	}
	return out
}

// cost is what a run took for each line.
func (r *ClozeRun) cost() []Metric {
	lines := float64(len(r.Lines))
	rows := newMetric("rows", "rows a line", "", 1, -1)
	rows.Value = float64(r.Rows) / lines
	rows.Detail = fmt.Sprintf("sequences that the model evaluated; asked for, some again: %.1f",
		float64(r.Asked)/lines)
	out := []Metric{rows}
	if r.Processor > 0 {
		took := newMetric("processor", "processor time a line", "s", 3, -1)
		took.Value = r.Processor.Seconds() / lines
		out = append(out, took)
	}
	return out
}
