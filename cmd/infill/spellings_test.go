package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"infill/infill/jsonl"
)

// <mask> is a blank in every command, and a backslash keeps it, also in the texts that have words
// masked: those are filled again as they stand.
func TestSpellingsOfBlanks(t *testing.T) {
	t.Parallel()
	record := func(args ...string) (rec jsonl.Filled) {
		t.Helper()
		r := infillRun("", withTiny(args...)...)
		if err := json.Unmarshal([]byte(r.out), &rec); err != nil {
			t.Fatalf("%s: exit %d, %v: %s", args, r.code, err, r.err)
		}
		return rec
	}
	for _, text := range []string{"the <mask> sees the <mask> .", `\<mask> <mask> \___ <mask>`} {
		rec := record("fill", "--json", "--top", "1", text)
		if len(rec.Fillings) != 1 || len(rec.Fillings[0].Tokens) != 2 || rec.Doubts != nil ||
			strings.HasPrefix(text, `\`) != strings.HasPrefix(rec.Fillings[0].Text, "<mask> ") {
			t.Errorf("%s: %+v", text, rec)
		}
	}
	const literal = `C:\the dog \<mask> sees \[MASK] the cat in \\\___ .`
	masked := record("fill", "--json", "--top", "1", "--seed", "2", "--mask-rate", "1", "--keep", "mask", literal)
	if !strings.Contains(masked.Text, `\<mask>`) || !strings.Contains(masked.Text, `\\\___`) {
		t.Errorf("%s", masked.Text)
	}
	again := record("fill", "--json", "--top", "1", masked.Text)
	if len(again.Fillings[0].Tokens) != len(masked.Masked) ||
		again.Fillings[0].Text != masked.Fillings[0].Text {
		t.Errorf("%s\n%s", again.Fillings[0].Text, masked.Fillings[0].Text)
	}
	in := put(t, filepath.Join(t.TempDir(), "in.txt"), literal+"\nthe [blank] dog sees the cat .\n")
	r := augmentTiny(in, "--variants", "2", "--mask-words", "2")
	for _, row := range augmented(t, r.out)[:2] {
		again := record("fill", "--json", "--top", "1", row["blanked"].(string))
		if len(again.Fillings[0].Tokens) != 2 {
			t.Errorf("%s: %+v", row["blanked"], again)
		}
	}
	if !strings.Contains(r.err, "line 2: [blank] is not a blank and stays as it is; write [MASK]\n") {
		t.Errorf("%s", r.err)
	}
	r = infillRun("the <mask> sees [mask] .\nthe <mask> sees [mask] .\n", withTiny("fill", "-")...)
	if strings.Count(r.err, "is not a blank") != 1 {
		t.Errorf("%s", r.err)
	}
	if rec := record("score", "--json", "the {mask} sees ."); len(rec.Doubts) != 1 ||
		rec.Doubts[0].Code != "near_blank" {
		t.Errorf("%+v", rec)
	}
	if r := infillRun("", withTiny("score", "the <mask> sees .")...); r.code != 2 ||
		!strings.Contains(r.err, "not filled in") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	if r := infillRun("", withTiny("the <mask> sees .")...); r.code != 0 {
		t.Errorf("a text without a command: exit %d: %s", r.code, r.err)
	}
}

// A text in a language that the model does not know is told of, with a model that knows it.
func TestForeignTexts(t *testing.T) {
	t.Parallel()
	const note = "most of the text, in Hiragana letters, is unknown"
	const pull = "infill model pull xlm-roberta-base"
	r := infillRun("", "fill", "--model", "small", "東京は[MASK]の首都です。")
	if r.code != 0 || !strings.Contains(r.err, note) || !strings.Contains(r.err, pull) {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	in := put(t, filepath.Join(t.TempDir(), "in.txt"), "The [MASK] sat.\n東京は[MASK]の首都です。\n")
	r = infillRun("", "batch", "--model", "small", in)
	if r.code != 0 || !strings.Contains(r.err, "line 2: "+note) || !strings.Contains(r.err, pull) ||
		strings.Count(r.out, `"code":"foreign_text"`) != 1 ||
		strings.Count(r.out, `"script":"Hiragana"`) != 1 {
		t.Errorf("exit %d: %s%s", r.code, r.err, r.out)
	}
	r = infillRun("", "fill", "--model", "small", "The cat [MASK] on the mat.")
	if r.code != 0 || strings.Contains(r.err, "most of the text") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}
