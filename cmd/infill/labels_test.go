package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

// labelledFiles are files of labels with all that may stand around them.
var labelledFiles = map[string]string{
	"a.conll": "\ufeff-DOCSTART- -X- O O\n\n# a comment\nthe DT B-NP O\ndog NN I-NP B-PER\nsleeps VBZ B-VP O\n. . O O\n\n" +
		" \n-DOCSTART- -X- O O\n\na DT B-NP O\ncat NN I-NP B-PER\nhides VBZ B-VP O\n",
	"b.bio":   "the\tO\r\ndog\tB-PER\r\nsleeps\tO\r\n\r\na\tO\r\ncat\tB-PER\r\nhides\tO",
	"c.jsonl": "\n{\"text\": \"the dog sleeps .\",  \"label\": [[4, 7, \"PER\"]]}\n\n{\"text\":\"a cat hides .\",\"label\":[]}",
	"d.jsonl": `{"text":"the dog sleeps .","label":[{"start":4,"end":7,"text":"dog","labels":["PER"]}],"id":7}` + "\n",
	"e.json":  "[ [\"the dog sleeps .\" , {\"entities\": [[4, 7, \"PER\"]]}],\n[\"a \\u0063at hides .\", {\"entities\": []}] ]\n\n",
	"f.json":  "[\"the dog sleeps .\", {\"entities\": [[4, 7, \"PER\"]]}]\n[\"a cat hides .\", {\"entities\": []}]",
}

// formOf are formats that the bytes do not say.
var formOf = map[string]string{"c.jsonl": "doccano", "d.jsonl": "label-studio"}

// With no word masked a labelled file comes out byte for byte, to a file and to a stream.
func TestLabelledRoundTrip(t *testing.T) {
	t.Parallel()
	for name, data := range labelledFiles {
		dir := t.TempDir()
		args := withTiny("batch", put(t, dir+"/"+name, data), "--seed", "1", "--quiet")
		if form := formOf[name]; form != "" {
			args = append(args, "--format", form)
		}
		r := infillRun("", append(args, "-o", dir+"/out."+name)...)
		if got := get(t, dir+"/out."+name); r.code != exitOK || got != data {
			t.Errorf("%s: exit %d, %s\n%q\nwant\n%q", name, r.code, r.err, got, data)
		}
		if strings.HasSuffix(name, ".jsonl") {
			continue // a stream of JSON lines has records
		}
		if r := infillRun("", args...); r.code != exitOK || r.out != data {
			t.Errorf("%s to a stream: exit %d, %s\n%q", name, r.code, r.err, r.out)
		}
	}
}

// Variants of a labelled file have its form, and their entities stay.
func TestLabelledVariants(t *testing.T) {
	t.Parallel()
	for name, data := range labelledFiles {
		dir := t.TempDir()
		args := withTiny("augment", put(t, dir+"/"+name, data), "-o", dir+"/out."+name, "--seed", "1", "-n", "2",
			"--quiet", "--originals", "--mask-words", "1", "--repeats", "--ban", "dog,cat")
		if form := formOf[name]; form != "" {
			args = append(args, "--format", form)
		}
		r := infillRun("", args...)
		out := get(t, dir+"/out."+name)
		if r.code != exitOK {
			t.Errorf("%s: exit %d, %s", name, r.code, r.err)
		}
		want := 3
		if name == "d.jsonl" {
			want = 6 // with its text beside it
		}
		if dogs := strings.Count(out, "dog"); dogs != want || strings.Count(out, "sleeps") == want {
			t.Errorf("%s: %d dogs, want %d:\n%s", name, dogs, want, out)
		}
		if name == "e.json" {
			var pairs []any
			if err := json.Unmarshal([]byte(out), &pairs); err != nil || len(pairs) != 6 {
				t.Errorf("%d pairs, %v: %s", len(pairs), err, out)
			}
		}
		again := infillRun("", append(args, "--resume")...) // a finished file stays
		if again.code != exitOK || get(t, dir+"/out."+name) != out {
			t.Errorf("%s: resumed: exit %d, %s", name, again.code, again.err)
		}
	}
}

// A backslash before a blank is taken off, and the labels behind it stand one byte nearer to the
// start. Such a token panicked beside a blank.
func TestLabelsBehindEscapes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ data, want string }{
		"a.conll": {"the O\n\\___ O\ndog B-PER\n[MASK] O\n. O\n", "the O\n___ O\ndog B-PER\n# O\n. O\n"},
		"b.json": {`["the \\___ dog [MASK] .", {"entities": [[9, 12, "PER"]]}]`,
			`["the ___ dog # .",{"entities":[[8,11,"PER"]]}]`},
		"c.jsonl": {`{"text":"the \\___ dog [MASK] .","label":[[9,12,"PER"]]}`,
			`{"text":"the ___ dog # .","label":[[8,11,"PER"]]}`},
		"d.jsonl": {`{"text":"the \\___ dog [MASK] .","label":[{"start":9,"end":12,"text":"dog","labels":["PER"]}]}`,
			`{"text":"the ___ dog # .","label":[{"start":8,"end":11,"text":"dog","labels":["PER"]}]}`},
	} {
		dir := t.TempDir()
		args := withTiny("batch", put(t, dir+"/"+name, c.data), "-o", dir+"/out."+name, "--seed", "1", "--quiet")
		if form := formOf[name]; form != "" {
			args = append(args, "--format", form)
		}
		r := infillRun("", args...)
		got := strings.TrimSpace(get(t, dir+"/out."+name))
		word := regexp.MustCompile(`dog( B-PER\n|\s)(\w+)([ "]|$)`)
		got = word.ReplaceAllString(got, "dog${1}#$3")
		if r.code != exitOK || got != strings.TrimSpace(c.want) {
			t.Errorf("%s: exit %d, %s\n%s\nwant\n%s", name, r.code, r.err, got, c.want)
		}
	}
}

// A file with the name of columns is read as columns, whatever its rows are.
func TestNamedColumns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"/a.conll", "/a.bio", "/a.iob", "/a.iob2"} {
		in := put(t, dir+name, "the O\ndog\nsleeps O\n\na O\ncat O\nhides O\n")
		r := infillRun("", withTiny("augment", in, "-o", dir+"/out"+name[1:], "--seed", "1", "-n", "1",
			"--mask-words", "1", "--originals")...)
		out := get(t, dir+"/out"+name[1:])
		if r.code != exitSomeFailed || !strings.HasPrefix(out, "the O\ndog\nsleeps O\n\na O\ncat O\nhides O\n") ||
			!strings.Contains(r.err, `line 2 is not a token and its tag, such as "Ann B-PER": "dog"`) ||
			strings.Count(out, "\n") != 11 {
			t.Errorf("%s: exit %d, %s\n%s", name, r.code, r.err, out)
		}
	}
}

// What is not understood is refused, and other formats of the output have records.
func TestLabelledRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := put(t, dir+"/a.conll", labelledFiles["a.conll"])
	bad := put(t, dir+"/bad.conll", "the O\ndog B-PER\nsleeps\n\na O\ncat B-PER\n")
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"batch", in, "-o", dir + "/x", "--output-format", "spacy"}, exitUsage, "an input of that format only"},
		{[]string{"batch", in, "-o", dir + "/y", "--shard", "0/2", "--seed", "1"}, exitUsage, "not cut"},
		{[]string{"batch", bad, "-o", dir + "/z", "--format", "conll"}, exitSomeFailed, "line 3 is not a token and its tag"},
	} {
		if r := infillRun("", withTiny(c.args...)...); r.code != c.code || !strings.Contains(r.err, c.says) {
			t.Errorf("%q: exit %d, %s", c.args, r.code, r.err)
		}
	}
	if got := get(t, dir+"/z"); got != get(t, bad) {
		t.Errorf("a sentence that failed: %q", got)
	}
	r := infillRun("", withTiny("augment", in, "-o", dir+"/records.csv", "--seed", "1", "--quiet")...)
	if out := get(t, dir+"/records.csv"); r.code != exitOK || !strings.HasPrefix(out, "text,line,variant,original,") {
		t.Errorf("exit %d, %s: %s", r.code, r.err, out)
	}
}
