package infill

import (
	"maps"
	"os"
	"strings"
	"testing"

	"infill/internal/testmode"
	"infill/mlm"
	"infill/models"
)

// hundredTexts are the texts of testdata/hundred.txt with the long tests, and else three of them.
func hundredTexts(t *testing.T) []string {
	t.Helper()
	file, err := os.ReadFile("testdata/hundred.txt")
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for line := range strings.Lines(string(file)) {
		if !strings.HasPrefix(line, "#") {
			texts = append(texts, strings.TrimSpace(line))
		}
	}
	if len(texts) != 100 {
		t.Fatalf("%d texts, want 100", len(texts))
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

// What is looked at does not depend on Top up to five, and more of them hardly changes the best. The
// five best are the same where a model multiplies in 8 bits, by the same rows: its search is in
// float32.
func TestHundredTexts(t *testing.T) {
	t.Parallel()
	m := openSmall(t)
	rounded, err := mlm.Open(t.Context(), models.Small(), mlm.Options{Threads: 2, Precision: mlm.Int8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rounded.Close() })
	texts := hundredTexts(t)
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
		if of := find(New(rounded), 5); of.Rows != five.Rows || !maps.Equal(found(of), found(five)) {
			t.Errorf("%s: %d rows, %v in float32; %d, %v in 8 bits", s, five.Rows, found(five), of.Rows,
				found(of))
		}
	}
	if others > len(texts)/100 {
		t.Errorf("the best filling of %d of %d texts is another where twenty are asked for", others,
			len(texts))
	}
}

// found are the texts of fillings.
func found(r *Result) map[string]bool {
	of := map[string]bool{}
	for _, f := range r.Fillings {
		of[f.Text] = true
	}
	return of
}
