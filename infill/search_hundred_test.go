package infill

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"infill/internal/testmode"
)

// linesOf are the texts of a file with the long tests, and else one in forty.
func linesOf(t *testing.T, name string, n int) []string {
	t.Helper()
	file, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for line := range strings.Lines(string(file)) {
		if !strings.HasPrefix(line, "#") {
			texts = append(texts, strings.TrimSpace(line))
		}
	}
	if len(texts) != n {
		t.Fatalf("%d texts, want %d", len(texts), n)
	}
	if testmode.All() {
		return texts
	}
	var some []string
	for i := 0; i < len(texts); i += 40 {
		some = append(some, texts[i])
	}
	return some
}

var thorough = flag.Bool("thorough", false, "search thoroughly again, write testdata/open_best.txt")

// Of short texts with names, places and dates of several pieces, a thorough search finds a better
// filling in few. Its best ones, which take two minutes, are in open_best.txt.
func TestOpenTexts(t *testing.T) {
	t.Parallel()
	e := New(openSmall(t))
	texts := linesOf(t, "open.txt", 40)
	if *thorough && len(texts) < 40 {
		t.Fatal("-thorough needs INFILL_TEST_ALL=1")
	}
	if *thorough {
		var out strings.Builder
		out.WriteString("# The best filling of each text of open.txt by a thorough search, and its score:\n" +
			"# go test ./infill -run TestOpenTexts -thorough, with INFILL_TEST_ALL=1.\n")
		for _, s := range texts {
			f := exactFill(t, e, s, Options{Search: SearchOptions{Effort: EffortThorough}}).Fillings[0]
			fmt.Fprintf(&out, "%.4f %s\n", f.Score, f.Text)
		}
		if err := os.WriteFile("testdata/open_best.txt", []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	best := linesOf(t, "open_best.txt", 40)
	missed, rows := 0, 0
	for i, s := range texts {
		score, text, _ := strings.Cut(best[i], " ")
		most, err := strconv.ParseFloat(score, 64)
		if err != nil {
			t.Fatal(err)
		}
		usual := exactFill(t, e, s, Options{})
		rows += usual.Rows
		// The last digits of a score depend on the processor.
		if f := usual.Fillings[0]; f.Text != text && f.Score < most-1e-3 {
			missed++
			t.Logf("%.2f %s\n%.2f %s", most, text, f.Score, f.Text)
		}
	}
	t.Logf("the best of %d of %d texts is missed, %d rows", missed, len(texts), rows)
	if missed > len(texts)/20 {
		t.Errorf("the best of %d of %d texts is missed", missed, len(texts))
	}
}

// What is looked at does not depend on Top up to five, and more of them hardly changes the best.
func TestHundredTexts(t *testing.T) {
	t.Parallel()
	m := openSmall(t)
	texts := linesOf(t, "hundred.txt", 100)
	others := 0
	for _, s := range texts {
		find := func(e *Engine, top int) *Result {
			r, err := e.FillText(t.Context(), s,
				Options{Method: MethodSearch, Results: ResultOptions{Top: top}})
			if err != nil {
				t.Fatal(s, err)
			}
			return r
		}
		e := New(m) // with a memo, which changes nothing: TestSearchIsDeterministic
		twenty, one, five := find(e, 20), find(e, 1), find(e, 5)
		if one.Rows != five.Rows || one.Fillings[0].Text != five.Fillings[0].Text ||
			one.Fillings[0].Score != five.Fillings[0].Score {
			t.Errorf("%s: one of %d rows, %v; five of %d, %v", s, one.Rows, one.Fillings[0], five.Rows,
				five.Fillings[0])
		}
		if a, b := one.Fillings[0], twenty.Fillings[0]; a.Text != b.Text {
			others++
			t.Logf("%s: %.2f for one, %.2f for twenty", s, a.Score, b.Score)
		}
	}
	if others > len(texts)/100 {
		t.Errorf("the best filling of %d of %d texts is another where twenty are asked for", others,
			len(texts))
	}
}
