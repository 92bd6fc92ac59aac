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

// hundredTexts are the texts of testdata/hundred.txt with the long tests, and else every tenth.
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
	for i := 0; i < len(texts); i += 10 {
		some = append(some, texts[i])
	}
	return some
}

// What is looked at does not depend on Top up to five, and more of them hardly changes the best.
func TestTopAddsBelow(t *testing.T) {
	t.Parallel()
	m := openSmall(t)
	texts := hundredTexts(t)
	others := 0
	for i, s := range texts {
		of := map[int]*Result{}
		for _, top := range []int{1, 5, 20} {
			if top == 5 && i%10 > 0 { // every tenth text is enough for what looks at nothing else
				continue
			}
			r, err := New(m).FillText(t.Context(), s,
				Options{Method: MethodSearch, Results: ResultOptions{Top: top}})
			if err != nil {
				t.Fatal(s, err)
			}
			of[top] = r
		}
		one, five, twenty := of[1], of[5], of[20]
		if five != nil && (one.Rows != five.Rows || one.Fillings[0].Text != five.Fillings[0].Text ||
			one.Fillings[0].Score != five.Fillings[0].Score) {
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

// The five best fillings are the same set where a model multiplies in 8 bits: its search is in
// float32.
func TestPrecisionsAgree(t *testing.T) {
	t.Parallel()
	exact := openSmall(t)
	rounded, err := mlm.Open(t.Context(), models.Small(), mlm.Options{Threads: 2, Precision: mlm.Int8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rounded.Close() })
	texts := hundredTexts(t)
	for _, s := range texts {
		var of [2]map[string]bool
		for i, m := range []*mlm.Model{exact, rounded} {
			r, err := New(m).FillText(t.Context(), s, Options{Method: MethodSearch})
			if err != nil {
				t.Fatal(s, err)
			}
			of[i] = map[string]bool{}
			for _, f := range r.Fillings {
				of[i][f.Text] = true
			}
		}
		if !maps.Equal(of[0], of[1]) {
			t.Errorf("%s: %v in float32, %v in 8 bits", s, of[0], of[1])
		}
	}
}
