package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// The advice on records of infill's own is the one that gives sentences: their text is a template,
// or what was infilled.
func TestEvalPlainOwnRecords(t *testing.T) {
	t.Parallel()
	whole := write(t, "whole.txt", "the cat sat on the mat .\nthe dog ran to the house .\n")
	blanks := write(t, "blanks.txt", "the [MASK] sat on the mat .\n")
	ref := write(t, "ref.txt", "the cat sat on the mat .\n")
	dir := t.TempDir()
	const none = "these have the texts with their blanks alone; give those from which words were taken"
	for _, c := range []struct {
		name, reference, exclude string
		args                     []string
	}{
		{"masked.jsonl", "jq -r '.fillings[]?.text'", "jq -r '.gold // empty'",
			withTiny("batch", whole, "--mask-words", "1", "--seed", "1")},
		{"filled.txt", "jq -r '.fillings[]?.text'", none,
			withTiny("batch", blanks, "--output-format", "jsonl")},
		{"rows.jsonl", "jq -r '.filled // empty'", "jq -r .text",
			withTiny("batch", whole, "--mask-words", "1", "--seed", "1", "--per", "filling")},
		{"filled-rows.jsonl", "jq -r '.filled // empty'", none,
			withTiny("batch", blanks, "--per", "filling")},
		{"variants.jsonl.gz", "jq -r .text", "jq -r '.original // empty'",
			withTiny("augment", whole, "--seed", "1")},
		{"scores.jsonl", "jq -r .text", "jq -r .text", withTiny("score", "--file", whole)},
	} {
		path := filepath.Join(dir, c.name)
		if r := infillRun("", append(c.args, "-o", path)...); r.code != 0 {
			t.Fatalf("%s: exit %d: %s", c.name, r.code, r.err)
		}
		for flag, want := range map[string]string{"--reference": c.reference, "--exclude": c.exclude} {
			r := infillRun("", "eval", whole, "--reference", ref, flag, path)
			if r.code != exitUsage || !strings.Contains(r.err, "one sentence a line ("+want+")") {
				t.Errorf("%s %s: exit %d: %s", flag, c.name, r.code, r.err)
			}
		}
	}
	// The first record may be of a line that failed.
	failed := `{"line":1,"text":"a","error":{"code":"no_blank","message":"m"}}` + "\n"
	r := infillRun("", "eval", whole, "--reference", write(t, "f.jsonl", failed))
	if !strings.Contains(r.err, "(jq -r '.fillings[]?.text')") {
		t.Error(r.err)
	}
}

// The warning of sentences that are among the references has the flag that leaves them out.
func TestEvalNamesExclude(t *testing.T) {
	t.Parallel()
	ref := write(t, "ref.txt", "the cat sat on the mat .\nthe bird sat in the tree .\n")
	gen := write(t, "gen.jsonl", `{"line":1,"text":"the [MASK] sat on the mat .",`+
		`"gold":"the cat sat on the mat .","fillings":[{"text":"the dog sat on the mat .",`+
		`"tokens":["dog"],"spans":[[4,7]],"score":-1,"score_per_token":-1}]}`+"\n")
	r := infillRun("", "eval", gen, "--reference", ref)
	if r.code != 0 || !strings.Contains(r.out, "exclude them from the references: --exclude FILE\n") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
}
