package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"infill/infill/lengths"
)

// TestModelLengths: what is learned lies beside the model, ranks fillings of open lengths there, and
// a check of the folder accepts it.
func TestModelLengths(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "tiny")
	if r := infillRun("", "model", "save", tinyModel, dir); r.code != 0 {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, "the %s sees the %s and the old friend sleeps on the mat %d .\n",
			[]string{"cat", "dog", "bird"}[i%3], []string{"house", "tree"}[i%2], i)
	}
	corpus := filepath.Join(t.TempDir(), "corpus.txt")
	if err := os.WriteFile(corpus, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	fill := []string{"fill", "--model", dir, "--json", "the [MASK*1-3] sees a dog ."}
	before := infillRun("", fill...)
	out := filepath.Join(t.TempDir(), "out.jsonl")
	batch := []string{"batch", "--model", dir, "--resume", "-o", out, "-"}
	lines := "the [MASK*1-3] sees a dog .\n"
	if r := infillRun(lines, batch...); r.code != 0 {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	r := infillRun("", "model", "learn-lengths", "--gaps", "320", "--json", dir, corpus)
	var got struct {
		File string
		lengths.Report
	}
	if err := json.Unmarshal([]byte(r.out), &got); err != nil || r.code != 0 {
		t.Fatalf("exit %d: %v: %s%s", r.code, err, r.out, r.err)
	}
	file := filepath.Join(dir, lengths.File)
	data, err := os.ReadFile(file)
	if err != nil || got.File != file || got.Gaps+got.HeldOut != 320 {
		t.Fatalf("%v: %+v", err, got)
	}
	if s, err := lengths.Parse(data); err != nil || s.Source() != "learned" {
		t.Errorf("%v", err)
	}
	if after := infillRun("", fill...); after.code != 0 || after.out == before.out {
		t.Errorf("exit %d: the shares make no difference: %s%s", after.code, after.out, after.err)
	}
	if r := infillRun(lines, batch...); r.code != exitUsage ||
		!strings.Contains(r.err, lengths.File+" was none, is sha256:") {
		t.Errorf("a batch that goes on with other lengths: exit %d: %s", r.code, r.err)
	}
	if err := os.WriteFile(file, data[:100], 0o600); err != nil {
		t.Fatal(err)
	}
	if r := infillRun("", fill...); r.code != exitTrouble || !strings.Contains(r.err, lengths.File) ||
		!strings.Contains(r.err, "infill model learn-lengths") {
		t.Errorf("a damaged file: exit %d: %s", r.code, r.err)
	}
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"part":    {[]string{"small", corpus}, exitUsage, "--output FILE"},
		"no text": {[]string{dir}, exitUsage, "takes a model and a text, got 1 argument"},
		"two":     {[]string{"--model", "small", dir, corpus}, exitUsage, "two models: --model small and"},
		"few":     {[]string{dir, os.DevNull}, exitUsage, "too few gaps"},
		"missing": {[]string{dir, corpus + "x"}, exitTrouble, "corpus.txtx"},
	} {
		r := infillRun("", append([]string{"model", "learn-lengths"}, c.args...)...)
		if r.code != c.code || !strings.Contains(r.err, c.says) {
			t.Errorf("%s: exit %d: %s", name, r.code, r.err)
		}
	}
}
