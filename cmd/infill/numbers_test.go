package main

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"infill/infill/jsonl"
)

// A plain blank that takes numbers is noted, for people once and in every record.
func TestNumbersAreNoted(t *testing.T) {
	t.Parallel()
	const line, note = "She was born on 4 July [MASK].", "blank 1 takes numbers too"
	r := infillRun("", "fill", "--model", "small", line)
	if r.code != exitOK || !strings.Contains(r.err, note) ||
		!strings.ContainsFunc(strings.TrimPrefix(firstText(r.out), "She was born on 4"), unicode.IsDigit) {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
	r = infillRun("", "fill", "--model", "small", "She was born on 4 July [MASK/^[a-z]+$/].")
	if r.code != exitOK || strings.Contains(r.err, note) ||
		strings.ContainsFunc(strings.TrimPrefix(firstText(r.out), "She was born on 4"), unicode.IsDigit) {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
	r = infillRun(line+"\nThe [MASK] sat.\n"+line+"\n", "batch", "--model", "small", "-")
	var numbers []bool
	for l := range strings.Lines(r.out) {
		var rec jsonl.Filled
		if err := json.Unmarshal([]byte(l), &rec); err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, len(rec.Doubts) == 1 && rec.Doubts[0].Code == "numbers")
	}
	if len(numbers) != 3 || !numbers[0] || numbers[1] || !numbers[2] ||
		!strings.Contains(r.err, "line 1: "+note) || !strings.Contains(r.err, "(2 texts have such)") {
		t.Errorf("exit %d, %v: %s%s", r.code, numbers, r.out, r.err)
	}
}

// firstText is the text of the first filling that was printed.
func firstText(out string) string {
	_, text, _ := strings.Cut(strings.SplitN(out, "\n", 2)[0], "%  ")
	return text
}

// A full stop that the model was shown is noted, and is in the record and not in the text.
func TestShownEndIsNoted(t *testing.T) {
	t.Parallel()
	const line, note = "My favorite food is [MASK]", "the model saw a full stop behind the text"
	args := []string{"fill", "--model", "small", "--end-mark", "auto", "--top", "1"}
	r := infillRun("", append(args, line)...)
	if r.code != exitOK || !strings.Contains(r.err, note) || strings.HasSuffix(firstText(r.out), ".") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
	for _, text := range []string{line + ".", "The Lord of the [MASK]"} {
		if r := infillRun("", append(args, text)...); r.code != exitOK || strings.Contains(r.err, note) {
			t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
		}
	}
	var rec jsonl.Filled
	r = infillRun(`{"text":"`+line+`","end_mark":"auto"}`, "batch", "--model", "small", "-")
	if err := json.Unmarshal([]byte(r.out), &rec); err != nil || rec.Shown != "." ||
		strings.HasSuffix(rec.Fillings[0].Text, ".") {
		t.Errorf("%v: %s%s", err, r.out, r.err)
	}
}
