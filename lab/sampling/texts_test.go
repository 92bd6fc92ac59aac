package sampling

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestTextsOf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lines, task := filepath.Join(dir, "a.txt"), filepath.Join(dir, "a.json")
	for name, s := range map[string]string{
		lines: "a [MASK]\nb [MASK]\n", task: `[{"sentence":"c [MASK]","infill_pos":[1]},{"sentence":"d"}]`,
	} {
		if err := os.WriteFile(name, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		file, only string
		want       []string // nil: an error
	}{
		{lines, "", []string{"a [MASK]", "b [MASK]"}},
		{lines, "2", []string{"b [MASK]"}},
		{task, "2,1", []string{"d", "c [MASK]"}},
		{"", "", texts},
		{task, "3", nil},
		{task, "0", nil},
		{task, "one", nil},
		{filepath.Join(dir, "none"), "", nil},
	} {
		got, err := textsOf(c.file, c.only)
		if !slices.Equal(got, c.want) || (err != nil) != (c.want == nil) {
			t.Errorf("%s, only %q: %v, %v; want %v", c.file, c.only, got, err, c.want)
		}
	}
}
