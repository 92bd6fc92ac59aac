package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"infill/infill/batch/output"
)

// A remedy that a message about a file names works: the same command line with it fills the file.
func TestRemediesWork(t *testing.T) {
	t.Parallel()
	const good = "the [MASK] sleeps in the [MASK] .\n"
	for _, c := range []struct {
		name, in, data, out string
		was                 string   // the output of an earlier run, "" for none
		flags               []string // of the command that is refused
		remedy              string   // as its message has it
		instead             []string // what the remedy says in place of flags
	}{
		{name: "it exists", in: "in.txt", data: good, out: "out.jsonl", was: "same", remedy: "--resume",
			instead: []string{"--resume"}},
		{name: "it exists already", in: "in.txt", data: good, out: "out.jsonl", was: "same",
			remedy: "--force", instead: []string{"--force"}},
		{name: "another run", in: "in.txt", data: good, out: "out.jsonl", was: "other",
			flags: []string{"--resume"}, remedy: "--force", instead: []string{"--force"}},
		{name: "no manifest", in: "in.txt", data: good, out: "out.jsonl", was: "alone",
			flags: []string{"--resume"}, remedy: "--force", instead: []string{"--force"}},
		{name: "text or not", in: "in.json", data: good, out: "out.jsonl", remedy: "--format text",
			instead: []string{"--format", "text"}},
		{name: "the column", in: "in.csv", data: "a,b\nx,the [MASK] .\n", out: "out.csv",
			remedy: "--text-field NAME", instead: []string{"--text-field", "b"}},
		{name: "a tab in CSV", in: "in.csv", data: "text,b\nthe [MASK] .,\"x\ty\"\n", out: "out.tsv",
			remedy: "--quote", instead: []string{"--resume", "--quote"}},
		{name: "a carriage return in TSV", in: "in.tsv", data: "text\tb\nthe [MASK] .\tx\ry\n",
			out: "out.tsv", remedy: "--force --quote", instead: []string{"--force", "--quote"}},
		{name: "the field", in: "in.jsonl", data: `{"s":"the [MASK] ."}`, out: "out.jsonl",
			remedy: "--text-field NAME", instead: []string{"--force", "--text-field", "s"}},
		{name: "no blank", in: "in.txt", data: "the cat sleeps .\n", out: "out.jsonl",
			remedy: "--mask-words 1", instead: []string{"--force", "--mask-words", "1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			in, out := put(t, filepath.Join(dir, c.in), c.data), filepath.Join(dir, c.out)
			line := func(flags ...string) []string {
				return withTiny(append([]string{"batch", in, "-o", out, "--seed", "1"}, flags...)...)
			}
			if c.was != "" {
				var before []string
				if c.was == "other" {
					before = []string{"--top", "1"}
				}
				if r := infillRun("", line(before...)...); r.code != 0 {
					t.Fatalf("exit %d: %s", r.code, r.err)
				}
			}
			if c.was == "alone" {
				manifest, _ := output.Beside(out)
				if err := os.Remove(manifest); err != nil {
					t.Fatal(err)
				}
			}
			r := infillRun("", line(c.flags...)...)
			if r.code == 0 || !strings.Contains(r.err, c.remedy) {
				t.Fatalf("exit %d, want %s in: %s", r.code, c.remedy, r.err)
			}
			if r := infillRun("", line(c.instead...)...); r.code != 0 {
				t.Errorf("with %s: exit %d: %s", c.remedy, r.code, r.err)
			}
		})
	}
}

// A bad row does not end a run. Its error is written in every format.
func TestErrorRecordInEveryFormat(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := put(t, filepath.Join(dir, "in.tsv"), "text\tb\nthe [MASK] .\tx\na\tb\tc\td\nthe [MASK] .\ty\n")
	quoted := put(t, filepath.Join(dir, "in.csv"), "text,b\n\"no\tblank\n\",\"x\ty\"\nthe [MASK] .,z\n")
	for _, from := range []string{in, quoted} {
		for _, to := range []string{".tsv", ".csv", ".parquet", ".json", ".jsonl", ".tsv.gz", ".jsonl.zst"} {
			out := filepath.Join(dir, filepath.Base(from)+to)
			r := infillRun("", withTiny("batch", from, "-o", out, "--seed", "1")...)
			if r.code != exitSomeFailed || !strings.Contains(r.err, " 1 of them an error") {
				t.Errorf("%s to %s: exit %d: %s", from, to, r.code, r.err)
			}
			_, part := output.Beside(out)
			if _, err := os.Stat(part); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s to %s: the part is left: %v", from, to, err)
			}
		}
	}
	rows := strings.Split(get(t, filepath.Join(dir, "in.tsv.tsv")), "\n")
	if len(rows) != 5 || !strings.HasPrefix(rows[2], "a b c d\t") ||
		strings.Count(rows[2], "\t") != strings.Count(rows[0], "\t") {
		t.Errorf("%q", rows)
	}
}
