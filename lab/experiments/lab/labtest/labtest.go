// Package labtest has what the tests of experiments share.
package labtest

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"infill/lab/experiments/lab"
)

// Quick runs the quick case of an experiment with each number of threads. The page has to be the
// same for all of them and complete, see Complete. Quick returns it.
func Quick(t *testing.T, e lab.Experiment, threads ...int) *lab.Page {
	t.Helper()
	page, err := same(e, threads)
	if err == nil {
		err = Complete(e, page)
	}
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// A Part is one that an experiment keeps in lab.Options.Keep, and what a test changes in it.
type Part struct {
	File  string // its name without "-seed1.json"
	Field string // whose value the test replaces
	Value string
	Shown string // what the page then has
	Again string // the name of a part without times, which is removed and made again; empty: none
}

// GoesOn runs the quick case again and again with one folder of kept parts, which it returns. A run
// has to take what is there, times too, and to make again what is missing as it was.
func GoesOn(t *testing.T, e lab.Experiment, part Part) (folder string) {
	t.Helper()
	o := lab.Options{Seed: 1, Quick: true, Threads: 2, Keep: t.TempDir()}
	page := func() *lab.Page {
		p, err := e.Run(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first := page()
	if again := page(); again.Text != first.Text || !maps.Equal(again.Charts, first.Charts) {
		t.Error("the second page differs")
	}
	path := func(name string) string { return filepath.Join(o.Keep, name+"-seed1.json") }
	b, err := os.ReadFile(path(part.File))
	if err != nil {
		t.Fatal(err)
	}
	field := regexp.MustCompile(`"` + part.Field + `":[^,}]*`)
	changed := field.ReplaceAll(b, []byte(`"`+part.Field+`":`+part.Value))
	if err := os.WriteFile(path(part.File), changed, 0o600); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(page().Text, part.Shown) {
		t.Error("the part that was kept is not on the page")
	}
	if err := os.WriteFile(path(part.File), b, 0o600); err != nil {
		t.Fatal(err)
	}
	if part.Again == "" {
		return o.Keep
	}
	if err := os.Remove(path(part.Again)); err != nil {
		t.Fatal(err)
	}
	if page().Text != first.Text {
		t.Error("a part that was made again differs")
	}
	return o.Keep
}

// same is the page of a run with each number of threads.
func same(e lab.Experiment, threads []int) (*lab.Page, error) {
	var first *lab.Page
	for _, n := range threads {
		page, err := e.Run(context.Background(),
			lab.Options{Seed: 1, Quick: true, Threads: n, Log: io.Discard, Stopwatch: Stopwatch})
		switch {
		case err != nil:
			return nil, fmt.Errorf("%d threads: %w", n, err)
		case first == nil:
			first = page
		case page.Text != first.Text || !maps.Equal(page.Charts, first.Charts):
			return nil, fmt.Errorf("%d threads give another page than %d", n, threads[0])
		}
	}
	return first, nil
}

// Stopwatch goes on by a millisecond at every reading, whatever the machine does.
func Stopwatch() func() time.Duration {
	var t time.Duration
	return func() time.Duration {
		t += time.Millisecond
		return t
	}
}

// unfinished is a place of a template that is not filled, or a figure that is not a number. Sets
// of numbers, such as {0,1}, are not places.
var unfinished = regexp.MustCompile(`\{[a-z]\w*\}|NaN|[-+−]Inf`)

// Complete reports a page with a place that is not filled, a figure that is not a number, or a
// chart that the text does not show.
func Complete(e lab.Experiment, page *lab.Page) error {
	if bad := unfinished.FindString(page.Text); bad != "" {
		return fmt.Errorf("the page has %q:\n%s", bad, page.Text)
	}
	for file := range page.Charts {
		if link := "(" + e.Name + "/" + file + ")"; !strings.Contains(page.Text, link) {
			return fmt.Errorf("the page does not show its chart %s", link)
		}
	}
	return nil
}
