package report_test

import (
	"slices"
	"strings"
	"testing"

	"infill/report/measure"
	"infill/report/read"
)

// No key of a row stands twice: neither with files whose names differ little, nor with orders of
// n-grams that were given twice. Orders stay in the order in which they were given.
func TestKeysDiffer(t *testing.T) {
	t.Parallel()
	lines := []string{"the cat sat on the mat", "a dog ran over the hill"}
	r, err := measure.Eval([]read.Input{inMemory("gen", lines)}, []read.Input{inMemory("x.txt", lines),
		inMemory("x.md", lines), inMemory("x.txt.gz", lines)},
		measure.EvalOptions{Options: measure.Options{Ngrams: []int{3, 2, 3}}})
	if err != nil {
		t.Fatal(err)
	}
	var keys, distinct []string
	for _, m := range r.Rows[0].Metrics {
		if slices.Contains(keys, m.Key) {
			t.Errorf("%s stands twice", m.Key)
		}
		keys = append(keys, m.Key)
		if strings.HasPrefix(m.Key, "distinct.") {
			distinct = append(distinct, m.Key)
		}
	}
	if !slices.Equal(distinct, []string{"distinct.3", "distinct.2"}) ||
		!slices.Contains(keys, "bleu.x.txt.gz") {
		t.Errorf("keys %q", keys)
	}
}
