package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The page has a section for each protocol and budget, steps first, and the paper's numbers and
// their differences beside those of the runs.
func TestPage(t *testing.T) {
	dir := t.TempDir()
	path, page := filepath.Join(dir, "runs.jsonl"), filepath.Join(dir, "page.md")
	var lines strings.Builder
	for _, group := range [][2]string{{"C", "steps"}, {"A", "evaluations"}, {"A", "steps"}} {
		for _, r := range runs() {
			r.Protocol, r.Budget = group[0], group[1]
			r.Sampler = map[string]string{"a": "gibbs", "b": "dmala"}[r.Sampler]
			b, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			lines.Write(append(b, '\n'))
		}
	}
	if err := os.WriteFile(path, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-stored", "-runs", path, "-o", page}
	if err := pageCommand(context.Background(), args); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	var heads []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "###") {
			heads = append(heads, strings.TrimSpace(line))
		}
	}
	want := []string{"### Protocol A, equal steps", "### Protocol A, equal evaluations",
		"### Protocol C, equal steps"}
	if !slices.Equal(heads, want) {
		t.Errorf("sections %q, want %q", heads, want)
	}
	for _, want := range []string{
		"| gibbs | ", " | 86.84 | ", " | -14.25 | ", // 72.59 − 86.84
		"+1.00 ± 0.00", "3 chains of 5 steps, sentences: 4, seeds: 2.", "One chain of 5 steps",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.Contains(text, "corpus BLEU |") {
		t.Error("corpus BLEU without references")
	}
	for _, bad := range [][]string{nil, {"-stored", "-runs", filepath.Join(dir, "none"), "-o", page}} {
		if err := pageCommand(context.Background(), bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}
