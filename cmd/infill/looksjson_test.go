package main

import (
	"strings"
	"testing"
)

// JSON lines that are taken for texts are told of once, and taken so all the same.
func TestLooksLikeJSON(t *testing.T) {
	t.Parallel()
	const records = `{"line":1,"text":"the [MASK] sat ."}` + "\n" + `{"line":2,"text":"a"}` + "\n"
	in := write(t, "res.txt", "\n"+records)
	braces := write(t, "braces.txt", "{ the [MASK] } sat .\n{\"n\": \"the [MASK]\"}\n")
	other := write(t, "other.txt", `{"sentence":"the [MASK] sat ."}`+"\n")
	const says = "these look like JSON lines"
	for _, c := range []struct {
		name, stdin string
		args        []string
		says        string // "" where nothing is said
	}{
		{"fill", records, withTiny("fill", "-", "--seed", "1"), "standard input: " + says + ", and each " +
			"is taken for a text as it stands; to read them as JSON: infill batch -\n"},
		{"score", records, withTiny("score"), "to read them as JSON: infill score --file -\n"},
		{"fill, quiet", records, withTiny("fill", "-", "--seed", "1", "--quiet"), ""},
		{"fill of sentences", "{ the [MASK] } sat .\n", withTiny("fill", "-"), ""},
		{"fill of a text", "", withTiny("fill", records[:strings.Index(records, "\n")]), ""},
		{"batch", "", withTiny("batch", in, "--seed", "1"), "res.txt: " + says},
		{"batch, its remedy", "", withTiny("batch", in, "--seed", "1"), "as JSON: --format jsonl\n"},
		{"score of a file", "", withTiny("score", "--file", in), says},
		{"text, as was said", "", withTiny("batch", in, "--seed", "1", "--format", "text"), ""},
		{"braces", "", withTiny("batch", braces, "--seed", "1"), ""},
		{"no text", "", withTiny("batch", other, "--seed", "1"), ""},
		{"another field", "", withTiny("batch", other, "--seed", "1", "--text-field", "sentence"), says},
	} {
		r := infillRun(c.stdin, c.args...)
		if n := strings.Count(r.err, says); n > 1 || (n == 1) != (c.says != "") ||
			!strings.Contains(r.err, c.says) {
			t.Errorf("%s: exit %d: %s", c.name, r.code, r.err)
		}
	}
	got, want := infillRun("", withTiny("batch", in, "--seed", "1")...),
		infillRun("", withTiny("batch", in, "--seed", "1", "--format", "text")...)
	if got.out != want.out || got.code != want.code {
		t.Errorf("%s\nwant\n%s", got.out, want.out)
	}
}
