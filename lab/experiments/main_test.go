package experiments

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"infill/internal/testmode"
	"infill/lab/experiments/lab"
	"infill/lab/internal/processor"
)

func TestArguments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string // in the error
	}{
		{nil, "name an experiment: " + experiments[0].Name},
		{[]string{"isinglern"}, "no experiment"},
		{[]string{"-quick", "-write", "x", "all"}, "leave out -quick"},
		{[]string{"-threads", "0", "all"}, "-threads is 0"},
	} {
		err := run(context.Background(), &bytes.Buffer{}, &bytes.Buffer{}, c.args)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %q in it", c.args, err, c.want)
		}
	}
	var out bytes.Buffer
	if err := run(context.Background(), &out, &bytes.Buffer{}, []string{"list"}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n != len(experiments) {
		t.Errorf("%d lines for %d experiments", n, len(experiments))
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := lab.Experiment{Name: "some", Title: "Some", Source: "a paper"}
	page := text(e, &lab.Page{Text: "It is so.\n"}, lab.Options{Seed: 3})
	if err := store(dir, "some", page, map[string]string{"a.svg": "<svg/>"}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "some.md"))
	want := "# Some\n\nSource: a paper. Made by `bin/lab experiments -seed 3 some` on " + processor.Name() +
		".\n\nIt is so.\n"
	if err != nil || string(got) != want {
		t.Errorf("page %q, %v, want %q", got, err, want)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "some", "a.svg")); err != nil ||
		string(got) != "<svg/>" {
		t.Errorf("chart %q, %v", got, err)
	}
}

// TestPages: every experiment has a page that its present title and source head, every chart
// of a page is there, and a row of README.md leads to it.
func TestPages(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(testmode.Root(t), "lab", "notebook", "experiments")
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range experiments {
		page, err := os.ReadFile(filepath.Join(dir, e.Name+".md"))
		if err != nil {
			t.Error(err)
			continue
		}
		// Pages name the processor that they were made on, older ones none.
		head, _, _ := strings.Cut(text(e, &lab.Page{}, lab.Options{Seed: 1}), " on "+processor.Name())
		if !strings.HasPrefix(string(page), head) {
			t.Errorf("%s.md does not begin with\n%s", e.Name, head)
		}
		if !strings.Contains(string(readme), "]("+e.Name+".md") {
			t.Errorf("README.md has no link to %s.md", e.Name)
		}
		charts, err := filepath.Glob(filepath.Join(dir, e.Name, "*"))
		if err != nil {
			t.Error(err)
		}
		for _, c := range charts {
			if !strings.Contains(string(page), "]("+e.Name+"/"+filepath.Base(c)+")") {
				t.Errorf("%s.md does not show %s", e.Name, c)
			}
		}
	}
}
