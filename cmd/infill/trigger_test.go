package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"infill/infill/trigger"
)

// labelled writes a small file of two labels in the tiny model's words.
func labelled(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "labelled.csv")
	rows := "text,label\n"
	for _, s := range []string{"the dog runs", "a cat sleeps", "the cow eats", "a bear hides"} {
		rows += s + ",animal\n" + s + " .,animal\n"
	}
	for _, s := range []string{"she ate the banana", "a green apple", "he gave her the plum", "a cherry"} {
		rows += s + ",fruit\n" + s + " .,fruit\n"
	}
	if err := os.WriteFile(path, []byte(rows), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTrigger(t *testing.T) {
	t.Parallel()
	path := labelled(t)
	args := func(more ...string) []string {
		return append(withTiny("trigger", path, "--template", "{trigger} {text} in the [MASK] .",
			"--say", "animal=house", "--say", "fruit=garden", "--tokens", "2", "--steps", "25",
			"--batch", "4", "--seed", "3"), more...)
	}
	r := infillRun("", args()...)
	for _, want := range []string{"accuracy, per cent", "train   held out\n", "\ntrigger  ",
		"\nrelaxed, as words  ", "\nrelaxed, as vectors  ", "\nrandom words  ", "\nno trigger  ",
		"\nthe most frequent label", "\nrelaxed, as words: "} {
		if !strings.Contains(r.out, want) {
			t.Errorf("no %q in\n%s", want, r.out)
		}
	}
	if r.code != 0 || r.err != "" {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	again := infillRun("", args("--json", "--progress", "json")...)
	var got trigger.Result
	if err := json.Unmarshal([]byte(again.out), &got); err != nil || again.code != 0 {
		t.Fatalf("exit %d: %v: %s", again.code, err, again.out)
	}
	if !strings.HasPrefix(r.out, got.Trigger+"\n") || got.Steps != 25 || got.Relaxed == nil ||
		got.Train.Sentences != 11 || got.HeldOut.Sentences != 5 {
		t.Errorf("%s\nand as a table\n%s", again.out, r.out)
	}
	if !strings.Contains(again.err, `{"progress":{"phase":"evaluation","step":25,"steps":25,"best":-`) {
		t.Errorf("progress: %s", again.err)
	}
	if r := infillRun("", args("--no-baseline", "--json")...); strings.Contains(r.out, "relaxed") {
		t.Errorf("%s", r.out)
	}
}

func TestTriggerBadInput(t *testing.T) {
	t.Parallel()
	path := labelled(t)
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{}, exitUsage, "one file of labelled texts"},
		{[]string{"nowhere.csv"}, exitTrouble, "nowhere.csv"},
		{[]string{path, "--say", "animal"}, exitUsage, "want LABEL=WORD"},
		{[]string{path}, exitUsage, `"animal"`},
		{[]string{path, "--label-field", "class"}, exitUsage, `no column "class" of labels`},
		{[]string{path, "--text-field", "line"}, exitUsage,
			"name the right one: --text-field NAME, --label-field NAME"},
		{[]string{path, "--text-field", "label"}, exitUsage,
			"name two fields: --text-field NAME, --label-field NAME"},
		{[]string{path, "--template", "[MASK]"}, exitUsage, "{trigger} 0 times"},
		{[]string{path, "--jump", "0"}, exitUsage, "jump"},
	} {
		r := infillRun("", withTiny(append([]string{"trigger"}, c.args...)...)...)
		if r.code != c.code || !strings.Contains(r.err, c.says) {
			t.Errorf("%v: exit %d, want %d with %q: %s", c.args, r.code, c.code, c.says, r.err)
		}
	}
}
