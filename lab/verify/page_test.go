package verify

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fake are sections as the real ones: a function of the seed, with a chart, in three lengths.
func fake(mark string) []section {
	var out []section
	for i, end := range []string{"", "\n", "\n\n\n"} {
		id := fmt.Sprint(i + 1)
		out = append(out, section{id, "Title " + id, func(_ context.Context, w io.Writer, e *env) error {
			fmt.Fprintf(w, "### part\n\nseed %d %s%s", e.seed, mark, end)
			return e.svg("chart"+id, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "chart %s of seed %d %s", id, e.seed, mark)
				return err
			})
		}})
	}
	return out
}

// files are the page and charts below a folder.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range []string{"verification.md", "verification/chart1", "verification/chart2",
		"verification/chart3"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(b)
	}
	return out
}

// TestOnly: a section put into a page of old ones is, with its chart, what a whole run puts there,
// and the others stay.
func TestOnly(t *testing.T) {
	t.Parallel()
	write := func(dir, mark string, args ...string) {
		t.Helper()
		var none bytes.Buffer
		args = append([]string{"-seed", "3", "-write", dir}, args...)
		if err := run(t.Context(), fake(mark), &none, &none, args); err != nil {
			t.Fatal(err)
		}
		if none.Len() > 0 && !strings.Contains(none.String(), "figure") {
			t.Errorf("printed %s", &none)
		}
	}
	dir := t.TempDir()
	write(dir, "new")
	want := files(t, dir)
	for _, only := range []string{"1", "2", "3", "1,3", "3,2", "1,2,3"} {
		write(dir, "old")
		old := files(t, dir)
		write(dir, "new", "-only", only)
		got := files(t, dir)
		mixed := text("preamble", 3)
		for i, s := range fake("") {
			from := old
			if strings.Contains(only, s.id) {
				from = want
			}
			parts := strings.SplitAfter(from["verification.md"], "\n## ")
			mixed = strings.TrimSuffix(mixed, "\n## ") + "\n## " + strings.TrimSuffix(parts[i+1], "\n## ")
			name := "verification/chart" + s.id
			if got[name] != from[name] {
				t.Errorf("-only %s: %s is %q, want %q", only, name, got[name], from[name])
			}
		}
		if got["verification.md"] != mixed {
			t.Errorf("-only %s: the page is\n%q, want\n%q", only, got["verification.md"], mixed)
		}
		for i := range 3 {
			write(dir, "new", "-only", fmt.Sprint(i+1))
		}
		if got := files(t, dir); got["verification.md"] != want["verification.md"] {
			t.Errorf("section by section the page is\n%q, want\n%q", got["verification.md"],
				want["verification.md"])
		}
	}
}

// TestOnlyRefuses: a page that lacks a section, or is of another seed, is left as it is, and no
// section is made for it.
func TestOnlyRefuses(t *testing.T) {
	t.Parallel()
	dir, ran := t.TempDir(), 0
	list := fake("x")
	for i := range list {
		f := list[i].run
		list[i].run = func(ctx context.Context, w io.Writer, e *env) error { ran++; return f(ctx, w, e) }
	}
	page := filepath.Join(dir, "verification.md")
	var none bytes.Buffer
	for what, c := range map[string]struct{ page, says string }{
		"no section":     {text("preamble", 3) + list[0].heading() + "a\n" + list[2].heading(), "\"2. Title 2\""},
		"another order":  {text("preamble", 3) + list[1].heading() + list[0].heading() + list[2].heading(), "before its first"},
		"another seed":   {text("preamble", 4) + list[0].heading() + list[1].heading() + list[2].heading(), "seed 3"},
		"another title":  {text("preamble", 3) + list[0].heading() + "\n## 2. Other\n" + list[2].heading(), "2. Title"},
		"lines too many": {text("preamble", 3) + "more\n" + list[0].heading(), "\"more\" before"},
		"empty":          {"", "seed 3"},
	} {
		if err := os.WriteFile(page, []byte(c.page), 0o644); err != nil {
			t.Fatal(err)
		}
		err := run(t.Context(), list, &none, &none, []string{"-seed", "3", "-only", "2", "-write", dir})
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), page) ||
			!strings.Contains(err.Error(), "without -only") {
			t.Errorf("%s: error %v, want one that says %q", what, err, c.says)
		}
		if b, err := os.ReadFile(page); err != nil || string(b) != c.page {
			t.Errorf("%s: the page is now %q, %v", what, b, err)
		}
	}
	if ran > 0 {
		t.Errorf("%d sections were made", ran)
	}
}

// TestPageHasAllSections: the page in docs/ can be written section by section.
func TestPageHasAllSections(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../notebook/verification.md")
	if err != nil {
		t.Fatal(err)
	}
	parts, err := cut(string(b), sections, 1)
	if err != nil {
		t.Fatal(err)
	}
	if text("preamble", 1)+strings.Join(parts, "") != string(b) {
		t.Error("the parts are not the page")
	}
}
