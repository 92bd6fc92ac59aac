package measure

import (
	"slices"
	"testing"

	"infill/report/read"
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
		var in []read.Input
		for _, name := range c[0] {
			in = append(in, read.Input{Name: name})
		}
		if got := names(in); !slices.Equal(got, c[1]) {
			t.Errorf("%q: %q, want %q", c[0], got, c[1])
		}
	}
}
