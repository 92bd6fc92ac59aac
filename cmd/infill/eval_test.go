package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"infill/metrics/bleu"
	"infill/report/measure"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

const generated = "the cat sat on the mat .\nthe dog sat on the mat .\nthe cat sat on a red mat .\n"

func TestEval(t *testing.T) {
	t.Parallel()
	gen := write(t, "gen.txt", generated)
	ref := write(t, "ref.txt", "the cat sat on the mat .\nthe bird sat in the tree .\n")
	dir := t.TempDir()
	md, html := filepath.Join(dir, "r.md"), filepath.Join(dir, "r.html")
	r := infillRun("", "eval", gen, "--reference", ref, "--markdown", md, "--html", html)
	if r.code != 0 ||
		!strings.Contains(r.out, "selfBLEU|n:4|agg:corpus|N:3|tok:ws|case:lc|smooth:none|den:nltk|v:1") {
		t.Fatalf("exit %d: %s%s", r.code, r.out, r.err)
	}
	for _, path := range []string{md, html} {
		if b, err := os.ReadFile(path); err != nil || !strings.Contains(string(b), "selfBLEU|n:4") {
			t.Errorf("%s: %v, %d bytes", path, err, len(b))
		}
	}
	if r := infillRun("", "eval", gen, "--html", html); r.code != exitUsage ||
		!strings.Contains(r.err, "--force") {
		t.Errorf("a report is overwritten: exit %d, %s", r.code, r.err)
	}
	if r := infillRun("", "eval", gen, "--html", html, "--force"); r.code != 0 {
		t.Errorf("--force: exit %d, %s", r.code, r.err)
	}
	j := infillRun(generated, "eval", "-", "--json")
	var res measure.EvalResult
	if err := json.Unmarshal([]byte(j.out), &res); err != nil || len(res.Rows) != 1 ||
		res.Files[0].N != 3 {
		t.Errorf("%v: %s", err, j.out)
	}
}

// The score that fillings were ranked by is in the signatures of means of it.
func TestEvalOfFillings(t *testing.T) {
	t.Parallel()
	evalOfFillings(t, "", "blended")
	evalOfFillings(t, "rows", "pll", "--method", "sample", "--score", "pll")
}

func evalOfFillings(t *testing.T, sampler, scoring string, flags ...string) {
	t.Helper()
	f := infillRun("", withTiny(append([]string{"fill", "--json", "--seed", "1",
		"the [MASK] sleeps in the [MASK] ."}, flags...)...)...)
	if f.code != 0 {
		t.Fatal(f.err)
	}
	r := infillRun("", "eval", write(t, "f.jsonl", f.out), "--json")
	var res measure.EvalResult
	if err := json.Unmarshal([]byte(r.out), &res); err != nil || res.Files[0].Format != "jsonl" ||
		res.Files[0].N < 2 ||
		res.Files[0].Sampler != sampler ||
		strings.Count(r.out, `"signature": "`+scoring+`|agg:mean|N:`) != 2 {
		t.Errorf("%v: %s%s", err, r.out, r.err)
	}
}

// Variants are measured as they stand in the place of their texts, whatever the format: those that
// were generated, not the texts themselves, and one group for each text.
func TestEvalOfVariants(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := put(t, filepath.Join(dir, "in.csv"), "line,review,label\n"+
		"7,the old dog sleeps in the house .,a\n8,is it,b\n9,the small bear saw the fish .,b\n")
	var first string
	for _, name := range []string{"out.jsonl", "out.csv", "out.tsv", "out.parquet"} {
		out := filepath.Join(dir, name)
		if r := augmentTiny(in, "-o", out, "--text-field", "review", "--variants", "2", "--originals",
			"--mask-rate", "0.5"); r.code != exitSomeFailed {
			t.Fatalf("exit %d: %s", r.code, r.err)
		}
		r := infillRun("", "eval", out, "--text-field", "review", "--self-bleu", "group", "--json")
		var res measure.EvalResult
		if err := json.Unmarshal([]byte(r.out), &res); err != nil {
			t.Fatalf("%v: exit %d: %s%s", err, r.code, r.out, r.err)
		}
		f := res.Files[0]
		if f.N != 4 || f.Failed != 1 || !strings.Contains(r.out, "agg:group2|N:4") {
			t.Errorf("%s: %+v: %s", name, f, r.out)
		}
		values, err := json.Marshal(res.Rows[0].Metrics)
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = string(values)
		}
		if string(values) != first {
			t.Errorf("%s: %s, want %s", name, values, first)
		}
	}
}

// All n-gram orders of the command go as far as the packages that count.
func TestEvalOrders(t *testing.T) {
	t.Parallel()
	gen := write(t, "gen.txt", generated)
	for _, flag := range []string{"--bleu-order", "--ngrams", "--repetition"} {
		for order, code := range map[int]int{bleu.MaxOrder: 0, bleu.MaxOrder + 1: exitUsage} {
			r := infillRun("", "eval", gen, flag, fmt.Sprint(order))
			says := code == 0 || strings.Contains(r.err, fmt.Sprintf("1 to %d", bleu.MaxOrder))
			if r.code != code || !says {
				t.Errorf("%s %d: exit %d: %s", flag, order, r.code, r.err)
			}
		}
	}
}

// Weights say how long the longest n-gram is, unless --bleu-order says it too.
func TestEvalWeights(t *testing.T) {
	t.Parallel()
	gen := write(t, "gen.txt", generated)
	r := infillRun("", "eval", gen, "--weights", "0.5,0.3,0.2")
	page := filepath.Join(t.TempDir(), "page.md")
	wrote := infillRun("", "eval", gen, "--weights", "0.5,0.3,0.2", "--markdown", page)
	if r.code != 0 || !strings.Contains(r.out, "|n:3|") || wrote.code != 0 ||
		!strings.Contains(get(t, page), "BLEU-3,") {
		t.Errorf("exit %d, %d: %s%s%s", r.code, wrote.code, r.out, r.err, wrote.err)
	}
	r = infillRun("", "eval", gen, "--weights", "0.5,0.5", "--bleu-order", "4")
	if r.code != exitUsage || !strings.Contains(r.err, "2 weights for order 4 (want one for each)") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// Flags of the command line that nothing would come of are refused, with the one they go with.
// Those of the environment may idle.
func TestIdleFlags(t *testing.T) {
	gen := write(t, "gen.txt", generated)
	filled := write(t, "f.jsonl", `{"text":"the cat sat .","fillings":[{"text":"the cat sat ."}]}`+
		"\n"+`{"text":"a cat sat .","fillings":[{"text":"a cat sat ."}]}`+"\n")
	in := write(t, "in.txt", "the [MASK] sat .\n")
	eval, compare := []string{"eval", gen}, withTiny("compare", in)
	score := withTiny("score", "The cat")
	for _, c := range []struct {
		args       []string
		more, says string
	}{
		{eval, "--first 3", "--first goes with --self-bleu first"},
		{eval, "--resamples 7", "--resamples goes with --confidence"},
		{eval, "-level 0.9", "-level goes with --confidence"},
		{eval, "--exclude " + gen, "--exclude goes with --reference FILE"},
		{eval, "--clean none", "--clean goes with --reference FILE"},
		{eval, "--text-field foo", "--text-field goes with JSON lines or a table"},
		{eval, "--top 2", "--top goes with JSON lines or a table"},
		{eval, "--top 2 --format lines " + filled, "--top goes with JSON lines or a table"},
		{compare, "--first 3", "--first goes with --self-bleu first"},
		{compare, "--resamples 7", "--resamples goes with --confidence"},
		{score, "--json --limit 3", "--limit goes with --file FILE"},
		{score, "--text-field a", "--text-field goes with --file FILE"},
		{score, "--max-errors 3", "--max-errors goes with --file FILE"},
	} {
		r := infillRun("", append(c.args[:len(c.args):len(c.args)], strings.Fields(c.more)...)...)
		if r.code != exitUsage || r.out != "" || !strings.Contains(r.err, "infill: "+c.says) {
			t.Errorf("%v %s: exit %d: %s%s", c.args, c.more, r.code, r.out, r.err)
		}
	}
	for k, v := range map[string]string{"FIRST": "3", "RESAMPLES": "7", "EXCLUDE": gen,
		"EVAL_TEXT_FIELD": "foo", "EVAL_TOP": "2", "LIMIT": "3"} {
		t.Setenv("INFILL_"+k, v)
	}
	for _, args := range [][]string{eval, {"eval", gen, filled, "--top", "2"}, score,
		{"eval", gen, "--exclude", "", "--first", "0"}} {
		if r := infillRun("", args...); r.code != 0 {
			t.Errorf("%v: exit %d: %s", args, r.code, r.err)
		}
	}
}

// The variables of the sampling flags do not change what is measured.
func TestEvalEnvironment(t *testing.T) {
	for k, v := range map[string]string{"INFILL_CASE": "model", "INFILL_FORMAT": "text", "INFILL_TOP": "1", "INFILL_SEED": "9"} {
		t.Setenv(k, v)
	}
	if r := infillRun(generated, "eval", "-"); r.code != 0 {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	t.Setenv("INFILL_EVAL_FORMAT", "jsonl")
	if r := infillRun(generated, "eval", "-"); r.code != exitUsage {
		t.Errorf("exit %d: %s", r.code, r.out)
	}
}

func TestEvalBadInput(t *testing.T) {
	t.Parallel()
	gen := write(t, "gen.txt", generated)
	const two = `{"fillings":[{"text":"a b"},{"text":"a c"}]}` + "\n"
	const failed = `{"error":{"code":"too_long","message":"513 tokens"}}` + "\n"
	for _, c := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"no file", []string{"eval"}, 2, "no file"},
		{"the file as the page", []string{"eval", "--html", "l.csv"}, 2,
			"infill eval l.csv --html report.html"},
		{"missing file", []string{"eval", "no/such/file"}, 3, "no/such/file"},
		{"empty file", []string{"eval", write(t, "empty.txt", "")}, 2, "empty"},
		{"binary file", []string{"eval", write(t, "b.bin", "\x7fELF\x00\x00\x01")}, 2, "not a text file"},
		{"another table", []string{"eval", write(t, "t.csv.gz", generated)}, 2, `t.csv.gz: unreadable table: no column "text"`},
		{"a table of variants", []string{"eval", write(t, "v.csv", "variant,filled,review\n1,dog,a\n")}, 2, `no column "text"; its columns are "variant", "filled", "review"; name the one with the texts: --text-field NAME`},
		{"a table of fillings as texts", []string{"eval", write(t, "v.csv", "line,text\n1,a [MASK]\n")}, 2, "it looks like a text to be filled"},
		{"lines of another field", []string{"eval", write(t, "v.jsonl", `{"review":"a"}`)}, 2, `without the field "text"; its fields are "review"; name the one with the sentences: --text-field NAME`},
		{"a field of numbers", []string{"eval", write(t, "v.jsonl", `{"review":1}`), "--text-field", "review"}, 2, "review is not a string"},
		{"a bad cell", []string{"eval", write(t, "b.csv", "line,filled,score\n1,a dog .,x\n")}, 2, `row 2, column "score"`},
		{"empty reference", []string{"eval", gen, "--reference", write(t, "e.txt", "")}, 2, "empty"},
		{"unknown tokenizer", []string{"eval", gen, "--tokenize", "13"}, 2, `did you mean "13a"`},
		{"bad weights", []string{"eval", gen, "--weights", "0.5,NaN"}, 2, "weights"},
		{"weights of 0", []string{"eval", gen, "--weights", "0,0,0,0"}, 2, "all weights are 0, so no order counts (want one above 0"},
		{"unpaired", []string{"eval", gen, "--paired", "--reference", write(t, "one.txt", "a\n")}, 2, "unequal"},
		{"pairs of fillings", []string{"eval", write(t, "g.jsonl", two), "--paired", "--reference", gen}, 2,
			"g.jsonl: record 1 has 2 sentences, and paired evaluation needs one sentence of each record; " +
				"take the first of each: --top 1\n"},
		{"a pair that failed", []string{"eval", write(t, "f.jsonl", two+failed), "--paired", "--top", "1",
			"--reference", gen}, 2, "record 2 failed (too_long: 513 tokens), and " +
			"paired evaluation needs one sentence of each record; fill it again, or remove it and line 2 of every reference file\n"},
		{"broken JSON", []string{"eval", "--format", "jsonl", gen}, 2, "gen.txt:1"},
		{"bad order", []string{"eval", gen, "--ngrams", "2,x"}, 2, "ngrams"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if r := infillRun("", c.args...); r.code != c.code || !strings.Contains(r.err, c.says) {
				t.Errorf("exit %d, want %d; want %q in: %s", r.code, c.code, c.says, r.err)
			}
		})
	}
	// Too few sentences: a warning beside the number, never a silent 0.
	r := infillRun("", "eval", write(t, "one.txt", "one sentence only .\n"))
	if r.code != 0 || !strings.Contains(r.out+r.err, "at least two sentences") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	ref := write(t, "ref.txt", "the dog barks in the house .\nthe bird sings in the tree .\n")
	for name, in := range map[string]string{
		"blanks.txt": "the [MASK] sleeps in the [MASK] .\nshe ate a [MASK] banana .\n",
		"discs.json": `[{"gt_sentence":"the dog sleeps in the house .","sentence":"the [MASK] sleeps in the [MASK] .","infill_pos":[2,6]}]`,
	} {
		t.Run(name, func(t *testing.T) {
			html := filepath.Join(t.TempDir(), "c.html")
			r := infillRun(
				"",
				withTiny(
					"compare", "--quiet", "--seed", "1", "--steps", "8", "--chains", "6", "--samplers",
					"gibbs,dula,dmala:balance=ratio", write(t, name, in), "--reference", ref, "--json",
					"--html", html,
				)...)
			if r.code != 0 {
				t.Fatal(r.err)
			}
			var res measure.CompareResult
			if err := json.Unmarshal([]byte(r.out), &res); err != nil || len(res.Rows) != 3 ||
				res.Rows[2].Name != "dmala balance=ratio" ||
				len(res.Traces) != 3 {
				t.Fatalf("%v: %s", err, r.out)
			}
			if (name == "discs.json") != (res.Gold != nil) {
				t.Errorf("gold %v", res.Gold)
			}
			if b, err := os.ReadFile(html); err != nil || !strings.Contains(string(b), "<svg") ||
				strings.Contains(string(b), "src=\"http") ||
				strings.Contains(string(b), "href=\"http") {
				t.Errorf("%v, %d bytes of HTML", err, len(b))
			}
		})
	}
	// The same command, masking words itself, twice: the same bytes but for the time.
	whole := write(
		t, "whole.txt", "the dog barks in the house .\n. . .\nthe fish swims in the river .\n",
	)
	run := func() *measure.CompareResult {
		r := infillRun(
			"",
			withTiny(
				"compare", "--quiet", "--seed", "4", "--steps", "4", "--chains", "4", "--mask-rate", "0.25",
				"--samplers", "dmala", whole, "--json",
			)...)
		var res measure.CompareResult
		if err := json.Unmarshal([]byte(r.out), &res); err != nil || res.Sentences != 2 {
			t.Fatalf("%v: %s%s", err, r.out, r.err)
		}
		return &res
	}
	a, b := run(), run()
	for i, m := range a.Rows[0].Metrics {
		if n := b.Rows[0].Metrics[i]; m.Key != "wall" && m.Text() != n.Text() {
			t.Errorf("%s: %s, then %s", m.Key, m.Text(), n.Text())
		}
	}
	// With intervals the second sampler's differences from the first have theirs too.
	r := infillRun("", withTiny("compare", "--seed", "4", "--steps", "4", "--chains", "4", "--mask-rate",
		"0.25", "--samplers", "gibbs,rows", "--confidence", "--level", "0.8", whole)...)
	want := "\ndifference from gibbs on the same 2 sources, ± half of an interval of level 0.8\n\n"
	if r.code != exitSomeFailed || !strings.Contains(r.out, want) ||
		strings.Count(r.out, "\nrows ") != 4 {
		t.Errorf("exit code %d, or no differences:\n%s%s", r.code, r.out, r.err)
	}
	for _, c := range []struct {
		args []string
		says string
	}{
		{withTiny("compare", whole), "no blank"},
		{withTiny("compare", "--mask-rate", "2", whole), "mask-rate"},
		{withTiny("compare", "--samplers", "dmala,gibs", whole, "--mask-rate", "0.25"), "gibbs"},
		{withTiny("compare", "--samplers", "dmala:alpha", whole, "--mask-rate", "0.25"), "NAME=VALUE"},
		{withTiny("compare", "--samplers", "rows:block=2:block=3", whole, "--mask-rate", "0.25"),
			`block is given twice in "rows:block=2:block=3"`},
		{withTiny("compare"), "one file"},
		{withTiny("compare", write(t, "n.txt", "\n\n")), "no sentence"},
	} {
		if r := infillRun("", c.args...); r.code != exitUsage || !strings.Contains(r.err, c.says) {
			t.Errorf("%v: exit %d, %s", c.args, r.code, r.err)
		}
	}
}

// Compressed sentences are read from standard input as from a file.
func TestCompressedStandardInput(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte("the [MASK] runs .\nthe dog [MASK] .\n")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	var res struct {
		Sentences int
		Files     []struct{ N int }
	}
	r := infillRun(packed.String(), withTiny("compare", "-", "--samplers", "gibbs", "--steps", "1",
		"--chains", "1", "--seed", "1", "--json", "--quiet")...)
	if err := json.Unmarshal([]byte(r.out), &res); err != nil || r.code != 0 || res.Sentences != 2 {
		t.Errorf("compare: exit %d, %v, %s", r.code, err, r.err)
	}
	r = infillRun(packed.String(), "eval", "-", "--json")
	if err := json.Unmarshal([]byte(r.out), &res); err != nil || r.code != 0 || res.Files[0].N != 2 {
		t.Errorf("eval: exit %d, %v, %s", r.code, err, r.err)
	}
}

// A table of fillings measures as the JSON lines of the same run do, a row or a line for each
// sentence or for each filling, whatever its form.
func TestEvalTables(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := put(t, filepath.Join(dir, "in.jsonl"), `{"text":"the dog sleeps in the house ."}
{"text":"the \xff"}
{"text":"the cat runs in the big river ."}
`)
	measures := func(name string, more ...string) any {
		out := filepath.Join(dir, name)
		args := withTiny("batch", in, "-o", out, "--quiet", "--seed", "4", "--chains", "6", "--steps", "8",
			"--mask-words", "2")
		if r := infillRun("", append(args, more...)...); r.code != exitSomeFailed {
			t.Fatalf("%s: exit %d: %s", name, r.code, r.err)
		}
		said := ""
		for _, top := range []string{"0", "2"} {
			r := infillRun("", "eval", out, "--json", "--top", top, "--reference", write(t, "ref.txt", generated))
			var got struct {
				Files []map[string]any
				Rows  []struct{ Metrics any }
			}
			if err := json.Unmarshal([]byte(r.out), &got); err != nil || r.code != 0 {
				t.Fatalf("%s: exit %d, %v: %s", name, r.code, err, r.err)
			}
			format, _, _ := strings.Cut(strings.SplitN(name, ".", 2)[1], ".")
			if got.Files[0]["format"] != format {
				t.Errorf("%s: the format is %v", name, got.Files[0]["format"])
			}
			delete(got.Files[0], "name")
			delete(got.Files[0], "format")
			delete(got.Files[0], "sampler") // which only records of a sentence have
			said += fmt.Sprint(got.Files, got.Rows)
		}
		return said
	}
	want := measures("a.jsonl")
	for name, more := range map[string][]string{
		"b.csv": nil, "c.tsv.gz": nil, "d.parquet": nil,
		"e.csv": {"--per", "filling"}, "f.parquet": {"--per", "filling"},
		"g.jsonl.gz": {"--per", "filling"},
	} {
		if got := measures(name, more...); got != want {
			t.Errorf("%s:\n%v\nwant\n%v", name, got, want)
		}
	}
}

// A report names the format that each file has, not the one that it was converted to.
func TestEvalNamesFormats(t *testing.T) {
	t.Parallel()
	table := write(t, "more.csv", "text\na dog .\na cat .\n")
	md := filepath.Join(t.TempDir(), "r.md")
	r := infillRun("", "eval", write(t, "gen.txt", generated), table, "--json", "--markdown", md)
	var res measure.EvalResult
	if err := json.Unmarshal([]byte(r.out), &res); err != nil || len(res.Files) != 2 ||
		res.Files[0].Format != "lines" || res.Files[1].Format != "csv" {
		t.Errorf("exit %d, %v: %s%s", r.code, err, r.out, r.err)
	}
	b, err := os.ReadFile(md)
	if err != nil || !strings.Contains(string(b), `2 sentences \(csv\)`) ||
		strings.Contains(string(b), "jsonl") {
		t.Errorf("%v: %s", err, b)
	}
}

// References and what is left out of them are lines of text. Files of records are refused by their
// names, and by their first line, which is not a sentence.
func TestEvalPlainFiles(t *testing.T) {
	t.Parallel()
	gen := write(t, "gen.txt", generated)
	ref := write(t, "ref.txt", "the cat sat on the mat .\n")
	const record = `{"text":"the cat sat on the mat ."}` + "\n"
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte("\ufeff\n" + record)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, text, says string }{
		{"r.jsonl", record, "records and tables are not read here; write their sentences alone to a " +
			"file, one a line (such as jq -r .text; of records of infill jq -r '.fillings[]?.text', or " +
			"jq -r '.gold // empty' for what was infilled)"},
		{"r.txt", "\n" + record, "such as jq -r .text;"},
		{"r", packed.String(), "such as jq -r .text;"},
		{"r.JSONL.gz", packed.String(), "such as jq -r .text;"},
		{"r.csv", "text\na\n", "records and tables are not read here"},
		{"r.tsv.zst", "text\na\n", "and tables are"}, {"r.parquet", "PAR1", "and tables are"},
		{"r.json", `[["the cat"]]`, "records and tables"}, {"l.json", record, "such as jq -r .text;"},
	} {
		path := write(t, c.name, c.text)
		for flag, args := range map[string][]string{
			"reference": {"--reference", ref, "--reference", path},
			"--exclude": {"--reference", ref, "--exclude", path},
		} {
			r := infillRun("", append([]string{"eval", gen}, args...)...)
			if r.code != exitUsage || r.out != "" || !strings.Contains(r.err, flag+": "+path+": ") ||
				!strings.Contains(r.err, c.says) {
				t.Errorf("%s %s: exit %d: %s%s", flag, c.name, r.code, r.out, r.err)
			}
		}
	}
	in, records := write(t, "in.txt", "the [MASK] sat .\n"), write(t, "records", record)
	r := infillRun("", withTiny("compare", in, "--reference", records)...)
	if r.code != exitUsage || r.out != "" || !strings.Contains(r.err, "such as jq -r .text;") {
		t.Errorf("compare: exit %d: %s%s", r.code, r.out, r.err)
	}
	if r := infillRun(record, "eval", gen, "--reference", "-"); r.code != exitUsage ||
		!strings.Contains(r.err, "reference: stdin: unknown format: records") {
		t.Errorf("standard input: exit %d: %s", r.code, r.err)
	}
	empty := write(t, "empty.txt", "")
	for name, stdin := range map[string]string{empty: "", "-": "the cat sat on the mat .\n"} {
		r := infillRun(stdin, "eval", gen, "--reference", ref, "--exclude", name, "--json")
		if r.code != map[bool]int{true: exitOK, false: exitUsage}[name == empty] ||
			name != empty && !strings.Contains(r.err, "0 blank and 1 excluded lines") {
			t.Errorf("--exclude %s: exit %d: %s", name, r.code, r.err)
		}
	}
	// A sentence may have braces and is not a record for that.
	for _, text := range []string{"{ the cat } sat on the mat .\n", `{"the cat" sat}` + "\n", "[1]\n"} {
		braces := write(t, "b.txt", text)
		none := write(t, "none.txt", "{ another }\n")
		r := infillRun("", "eval", gen, "--reference", braces, "--exclude", none)
		if r.code != 0 {
			t.Errorf("%s: exit %d: %s", text, r.code, r.err)
		}
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
