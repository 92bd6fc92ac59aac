package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// A word that the vocabulary cannot spell is refused with one kind of error, and with what helps.
func TestUnspeltWord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		return put(t, filepath.Join(dir, name), text)
	}
	const (
		cannot = "the model's vocabulary cannot spell it; "
		other  = cannot + "use another word, or leave it out\n"
		text   = "the [MASK] sleeps ."
	)
	words := file("words.txt", "dog\nqqq\n")
	starts := file("starts.jsonl", `{"text":"`+text+`","fillings":[{"tokens":["qqq"]}]}`)
	long := file("long.jsonl", `{"text":"`+text+`","fillings":[{"tokens":["dogs cat"]}]}`)
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"fill", "the [MASK|dog|qqq] sleeps ."}, `byte 4: bad blank: the word "qqq": ` + other},
		{[]string{"fill", "the dog[MASK|s|qqq] sleeps ."}, `byte 7: bad blank: the word "qqq": ` + other},
		{[]string{"fill", "the [MASK|dog|" + strings.Repeat("d", 201) + "] sleeps ."},
			"byte 4: bad blank: a word of 201 bytes, want at most 200\n"},
		{[]string{"score", "--candidates", "dog,qqq", text},
			`byte 4: bad blank: the word "qqq": ` + other},
		{[]string{"fill", "--allow", words, text},
			"--allow: " + words + `: line 2: bad option: the word "qqq": ` + other},
		{[]string{"fill", "--start", starts, text}, "bad start: " + starts +
			`, line 1: blank 1, "qqq": ` + cannot + "begin with another word\n"},
		{[]string{"fill", "--start", long, text}, "bad start: " + long +
			`, line 1: blank 1, "dogs cat": ` +
			"the model's vocabulary cannot spell it in 1 token; begin with another word, " +
			"or let the blank take as many tokens as this one has\n"},
	} {
		r := infillRun("", withTiny(c.args...)...)
		if r.code != exitUsage || r.err != "infill: "+c.says {
			t.Errorf("%q: exit %d, %swant %s", c.args, r.code, r.err, c.says)
		}
	}
	// In a record of a line that fails, too.
	in := file("in.jsonl", `{"text":"`+text+`","allow":["qqq"]}`)
	r := infillRun("", withTiny("batch", in, "--quiet")...)
	want := `"bad setting: \"allow\": the word \"qqq\": ` + strings.TrimSpace(other) + `"`
	if r.code != exitSomeFailed || !strings.Contains(r.out, want) {
		t.Errorf("exit %d, %s, want %s", r.code, r.out, want)
	}
}
