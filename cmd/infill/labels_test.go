package main

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"infill/infill/settings"
	"infill/infill/table"
)

// labelledFiles are files of labels with all that may stand around them.
var labelledFiles = map[string]string{
	"a.conll": "\ufeff-DOCSTART- -X- O O\n\n# a comment\nthe DT B-NP O\ndog NN I-NP B-PER\nsleeps VBZ B-VP O\n. . O O\n\n" +
		" \n-DOCSTART- -X- O O\n\na DT B-NP O\ncat NN I-NP B-PER\nhides VBZ B-VP O\n",
	"b.bio":   "the\tO\r\ndog\tB-PER\r\nsleeps\tO\r\n\r\na\tO\r\ncat\tB-PER\r\nhides\tO",
	"c.jsonl": "\n{\"data\": {\"text\": \"the dog sleeps .\"},  \"label\": [[4, 7, \"PER\"]]}\n\n{\"data\":{\"text\":\"a cat hides .\"},\"label\":[]}",
	"d.jsonl": `{"tokens": ["the", "dog", "sleeps", "."], "ner_tags": [0, 1, 0, 0], "id":7}` + "\n",
	"g.json":  "{\"version\": 1.50, \"data\": [\n{\"text\": \"the dog sleeps .\", \"label\": [[4, 7, \"P\"]]} ,{\"text\": \"a cat hides .\"}\n], \"end\": []}\n",
	"e.json":  "[ [\"the dog sleeps .\" , {\"entities\": [[4, 7, \"PER\"]]}],\n[\"a \\u0063at hides .\", {\"entities\": []}] ]\n\n",
	"f.json":  "[\"the dog sleeps .\", {\"entities\": [[4, 7, \"PER\"]]}]\n[\"a cat hides .\", {\"entities\": []}]",
}

// With no word masked a labelled file comes out byte for byte, to a file and to a stream.
func TestLabelledRoundTrip(t *testing.T) {
	t.Parallel()
	for name, data := range labelledFiles {
		dir := t.TempDir()
		args := withTiny("batch", put(t, dir+"/"+name, data), "--seed", "1", "--quiet")
		r := infillRun("", append(args, "-o", dir+"/out."+name)...)
		if got := get(t, dir+"/out."+name); r.code != exitOK || got != data {
			t.Errorf("%s: exit %d, %s\n%q\nwant\n%q", name, r.code, r.err, got, data)
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
		r := infillRun("", args...)
		out := get(t, dir+"/out."+name)
		if r.code != exitOK {
			t.Errorf("%s: exit %d, %s", name, r.code, r.err)
		}
		const want = 3
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
			`["the ___ dog # .", {"entities": [[8, 11, "PER"]]}]`},
		"c.jsonl": {`{"data":{"text":"the \\___ dog [MASK] ."},"label":[[9,12,"PER"]]}`,
			`{"data":{"text":"the ___ dog # ."},"label":[[8,11,"PER"]]}`},
	} {
		dir := t.TempDir()
		args := withTiny("batch", put(t, dir+"/"+name, c.data), "-o", dir+"/out."+name, "--seed", "1", "--quiet")
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
		{[]string{"batch", put(t, dir+"/a.txt", "the [MASK]\n"), "-o", dir + "/x", "--output-format", "conll"}, exitUsage, "an input of that format only"},
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

// Texts deep in records come back in their places, one by one, and the rest of the file as it was.
func TestTextsWhereTheyLie(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, c := range map[string]struct {
		flags []string
		data  string
	}{
		"a.jsonl": {[]string{"--text-field", "review.text"}, `{"id": 1, "review": {"stars": 2.50, "text": "the dog [MASK] ."}}` + "\n"},
		"b.jsonl": {[]string{"--text-field", "messages[].content"},
			`{"messages": [{"role": "user", "content": "the dog [MASK] ."}, {"role": "bot", "content": "a cat [MASK] ."}], "n": 1}` + "\n\n"},
		"c.jsonl": {[]string{"--text-field", "messages[role=user].content"},
			`{"messages": [{"content": "the dog [MASK] .", "role": "user"}, {"role": "bot", "content": "a cat [KEEP] ."}]}` + "\n"},
		"d.json": {nil, "{\"version\": 1, \"data\": [\n {\"text\": \"the dog [MASK] .\"},\n {\"text\": \"a cat [MASK] .\"}]}\n"},
		"e.json": {[]string{"--records", "b.c"}, `{"a": [{"text": "no [MASK]"}], "b": {"c": [{"text": "the dog [MASK] ."}]}, "d": 1}`},
		"f.json": {nil, `[{"data": {"text": "the dog [MASK] ."}, "id": 1}, {"data": {"text": "a cat [MASK] ."}}]`},
	} {
		in := put(t, dir+"/"+name, c.data)
		r := infillRun("", append(withTiny("batch", in, "-o", dir+"/out."+name, "--seed", "1", "--quiet"), c.flags...)...)
		out := get(t, dir+"/out."+name)
		pattern := strings.ReplaceAll(regexp.QuoteMeta(c.data), `\[MASK\] `, `[a-z]+ `)
		if name == "e.json" {
			pattern = regexp.QuoteMeta(`{"a": [{"text": "no [MASK]"}], "b": {"c": [{"text": "the dog `) + `[a-z]+ \."\}\]\}, "d": 1\}`
		}
		if r.code != exitOK || !regexp.MustCompile("^"+pattern+"$").MatchString(out) {
			t.Errorf("%s: exit %d, %s\n%s", name, r.code, r.err, out)
		}
	}
	two := put(t, dir+"/two.json", `{"a": [{"text": "no [MASK]"}], "b": [{"text": "the dog [MASK] ."}]}`)
	r := infillRun("", withTiny("batch", two, "-o", dir+"/two.out.json")...)
	if r.code == exitOK || !strings.Contains(r.err, "several lists of objects, a, b") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	bad := put(t, dir+"/bad.jsonl", `{"review": {"text": 7}}`+"\n"+`{"x": 1}`+"\n")
	r = infillRun("", withTiny("batch", bad, "-o", dir+"/bad.out.jsonl", "--text-field", "review.text")...)
	if out := get(t, dir+"/bad.out.jsonl"); r.code != exitSomeFailed || out != get(t, bad) ||
		!strings.Contains(r.err, `no field "review.text"`) {
		t.Errorf("exit %d, %s: %s", r.code, r.err, out)
	}
}

// Lists of tokens and tags in Parquet stay equally long, and names keep their tags.
func TestTokensInParquet(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text, whole := table.Type{Kind: table.Text}, table.Type{Kind: table.Whole}
	columns := []table.Column{{Name: "id", Type: text}, {Name: "tokens", Type: table.Type{Kind: table.List, Elem: &text}},
		{Name: "ner_tags", Type: table.Type{Kind: table.List, Elem: &whole}}}
	var b bytes.Buffer
	w, err := table.NewWriter(&b, settings.FormatParquet, 0, columns)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write([]any{"a", []any{"the", "dog", "sleeps", "."}, []any{int64(0), int64(3), int64(0), int64(0)}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	in := put(t, dir+"/in.parquet", b.String())
	r := infillRun("", withTiny("augment", in, "-o", dir+"/out.parquet", "--seed", "1", "-n", "2", "--quiet", "--originals")...)
	if r.code != exitOK {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	f := strings.NewReader(get(t, dir+"/out.parquet"))
	p, err := table.NewParquet(f, f.Size())
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for ; ; rows++ {
		cells, err := p.Next()
		if err != nil {
			break
		}
		var values []string
		for i := range 3 {
			v, err := p.JSON(i, cells[i])
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, string(v))
		}
		var tokens []string
		if err := json.Unmarshal([]byte(values[1]), &tokens); err != nil || len(tokens) != 4 || tokens[1] != "dog" ||
			values[0] != `"a"` || values[2] != "[0,3,0,0]" || rows == 0 != (tokens[2] == "sleeps") {
			t.Errorf("row %d: %q", rows, values)
		}
	}
	if rows != 3 {
		t.Errorf("%d rows", rows)
	}
}

// Sentences of names alone, and texts that are null or empty, stay and are counted. They do not fail.
func TestLeftAsTheyAre(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const names = "Ann B-PER\nLee I-PER\n. O\n\n"
	for name, data := range map[string]string{
		"a.conll": names + "the O\ndog B-PER\nsleeps O\n",
		"b.jsonl": `{"id":1,"text":null,"n":2}` + "\n" + `{"id":2,"text":"the dog sleeps ."}` + "\n",
		"e.jsonl": `{"a":{"text":""}}` + "\n" + `{"a":{"text":"the dog sleeps ."}}` + "\n",
		"d.csv":   "text,n\n,2\nthe dog sleeps .,3\n",
		"c.jsonl": `{"a":{"text":null}}` + "\n" + `{"a":{"text":"the dog sleeps ."}}` + "\n",
	} {
		args := withTiny("augment", put(t, dir+"/"+name, data), "-o", dir+"/out."+name, "--seed", "1", "-n", "1",
			"--mask-words", "1", "--force")
		if name == "c.jsonl" || name == "e.jsonl" {
			args = append(args, "--text-field", "a.text")
		}
		r := infillRun("", args...)
		out := get(t, dir+"/out."+name)
		first, _, _ := strings.Cut(data, "\n")
		switch name {
		case "b.jsonl":
			first = `{"id":1,"text":null,"n":2,`
		case "d.csv":
			first = "text,n,line"
			if !strings.Contains(out, "\n,2,2,0,,") {
				t.Errorf("the empty cell: %s", out)
			}
		}
		if r.code != exitOK || !strings.Contains(r.err, "2 records, 1 left as it is") || !strings.HasPrefix(out, first) {
			t.Errorf("%s: exit %d, %s\n%s", name, r.code, r.err, out)
		}
		if strings.HasSuffix(name, ".conll") {
			continue
		}
		r = infillRun("", append(args, "--on-null", "error")...)
		if r.code != exitSomeFailed || !strings.Contains(r.err, "line 1: ") && name != "d.csv" {
			t.Errorf("%s: exit %d, %s", name, r.code, r.err)
		}
	}
}
