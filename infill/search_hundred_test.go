package infill

import (
	"os"
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

// Of short texts with names, places and dates of several pieces, a thorough search finds a better
// filling in few.
func TestOpenTexts(t *testing.T) {
	t.Parallel()
	e := New(openSmall(t))
	texts := linesOf(t, "open.txt", 40)
	missed, rows := 0, 0
	for _, s := range texts {
		usual := exactFill(t, e, s, Options{})
		most := exactFill(t, e, s, Options{Search: SearchOptions{Effort: EffortThorough}})
		rows += usual.Rows
		if a, b := usual.Fillings[0], most.Fillings[0]; a.Score < b.Score-1e-4 {
			missed++
			t.Logf("%.2f %s\n%.2f %s", b.Score, b.Text, a.Score, a.Text)
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
