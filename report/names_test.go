package report

import (
	"slices"
	"strings"
	"testing"
)

// Keys of metrics have the names of references in them, beside "all" and "self", which are no
// file's.
func TestNames(t *testing.T) {
	t.Parallel()
	for _, c := range [][2][]string{
		{{"a/x.txt", "b/y.txt"}, {"x", "y"}},
		{{"a/x.txt", "b/x.txt"}, {"a/x.txt", "b/x.txt"}},
		{{"x.txt", "x.txt"}, {"x.txt", "x.txt (2)"}},
		{{"all.txt", "b/self.txt", "c.txt"}, {"all.txt", "b/self.txt", "c"}},
		{{"all", "self", "all"}, {"./all", "./self", "./all (2)"}},
		{{"x.txt", "x.md", "x.txt.gz"}, {"x.txt", "x.md", "x.txt.gz"}},
		{{"a/x.txt.gz", "x.txt", "x.md"}, {"a/x.txt.gz", "x.txt", "x.md"}},
		{{"x.txt", "x.txt", "x.txt (2)", "x.txt"},
			{"x.txt", "x.txt (3)", "x.txt (2)", "x.txt (4)"}},
		{{"all", "./all"}, {"./all", "./all (2)"}},
	} {
		var in []Input
		for _, name := range c[0] {
			in = append(in, Input{Name: name})
		}
		if got := names(in); !slices.Equal(got, c[1]) {
			t.Errorf("%q: %q, want %q", c[0], got, c[1])
		}
	}
}

// No key of a row stands twice: neither with files whose names differ little, nor with orders of
// n-grams that were given twice. Orders stay in the order in which they were given.
func TestKeysDiffer(t *testing.T) {
	t.Parallel()
	lines := []string{"the cat sat on the mat", "a dog ran over the hill"}
	r, err := Eval([]Input{Strings("gen", lines)}, []Input{Strings("x.txt", lines),
		Strings("x.md", lines), Strings("x.txt.gz", lines)},
		EvalOptions{Options: Options{Ngrams: []int{3, 2, 3}}})
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
