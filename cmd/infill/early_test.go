package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// What is wrong whatever the model is gets refused before a model is looked for.
func TestRefusedBeforeTheModel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := put(t, filepath.Join(dir, "in.txt"), "the [MASK] sleeps .\n")
	lines := put(t, filepath.Join(dir, "in.jsonl"), `{"text":"the [MASK] sleeps ."}`)
	const text, plain = "the [MASK] sleeps .", "the dog sleeps ."
	none := filepath.Join(dir, "none")
	for _, c := range []struct {
		args []string
		more string
		code int
		says string
	}{
		{[]string{"fill", text}, "--thin 5", 2, "thinning by 5 steps"},
		{[]string{"fill", text}, "--collect chain --steps 0", 2, "there are none; make some"},
		{[]string{"fill", text}, "--steps 0 --marginals", 2, "the states that steps lead to"},
		{[]string{"batch", in}, "-o " + filepath.Join(dir, "o.xlsx"), 2, "nothing as .xlsx"},
		{[]string{"augment", in}, "-o " + filepath.Join(dir, "o.xlsx"), 2, "nothing as .xlsx"},
		{[]string{"score", "--file", in}, "-o " + filepath.Join(dir, "o.xlsx"), 2, "nothing as .xlsx"},
		{[]string{"fill", text}, "--sampler dula --marginals", 2, "dula does not"},
		{[]string{"fill", text}, "--allow " + none, 3, "--allow: "},
		{[]string{"fill", text}, "--start " + none, 3, "--start: "},
		{[]string{"fill", plain}, "--mask-words 1 --keep-file " + none, 3, "--keep-file: "},
		{[]string{"fill", plain}, "--mask-words 1 --mask-class content --stop-words " + none, 3,
			"--stop-words: "},
		{[]string{"fill", plain}, "--mask-words 1 --min-similarity 0.5 --encoder " + none, 3,
			"--encoder: "},
		{[]string{"fill", text}, "--energy words:" + none + "=1", 3, "part words:" + none},
		{[]string{"fill", plain}, "--mask-words 1 --energy edit=1 --energy edit=2", 2,
			"edit stands twice"},
		{[]string{"score", plain}, "--energy words:" + none + "=1", 3, "part words:" + none},
		{[]string{"score", plain}, "--energy edit=1", 2, "compares with the words before"},
		{[]string{"batch", in}, "-o " + lines, 2, "the output exists"},
		{[]string{"augment", in}, "-o " + lines, 2, "the output exists"},
		{[]string{"score", "--file", in}, "-o " + lines, 2, "the output exists"},
		{[]string{"compare", in}, "--bleu-order 4 --weights 1,2", 2, "2 weights for order 4"},
		{[]string{"compare", in}, "--smooth exp --smooth-value 3", 2, "smoothing exp takes no value"},
		{[]string{"compare", in}, "--ngrams 99", 2, "n-gram order 99"},
		{[]string{"compare", in}, "--self-bleu first", 2, "want 2 or more"},
		{[]string{"compare", in}, "--reference " + none, 3, "--reference: "},
		{[]string{"compare", in}, "--trace " + lines, 2, "the file exists"},
	} {
		args := append(c.args, strings.Fields(c.more)...)
		r := infillRun("", append(args, "--model", filepath.Join(dir, "no model"))...)
		if r.code != c.code || !strings.Contains(r.err, c.says) {
			t.Errorf("%v: exit %d, %s", args, r.code, r.err)
		}
	}
	// A line of JSON may choose what makes the flags right, so the model comes first there.
	r := infillRun("", "batch", lines, "--thin", "5", "--model", filepath.Join(dir, "no model"))
	if r.code != exitTrouble || !strings.Contains(r.err, "no model") {
		t.Errorf("exit %d, %s", r.code, r.err)
	}
	// An encoder is not open yet where options are checked.
	r = infillRun("", "fill", "the dog sleeps .", "--mask-words", "1", "--min-similarity", "0.5",
		"--encoder", dir, "--model", filepath.Join(dir, "no model"))
	if r.code != exitTrouble || !strings.Contains(r.err, "no model") {
		t.Errorf("exit %d, %s", r.code, r.err)
	}
}
