package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each Parquet file of a folder has the bytes that it has by itself, with a seed that is chosen and
// said once. What is stopped goes on, and what is not a table is named.
func TestParquetShards(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	for _, name := range []string{"in/sub", "alone", "text"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	run := func(args ...string) outcome {
		return infillRun("", withTiny(append(args, "--method", "sample", "--chains", "2", "--steps", "3")...)...)
	}
	for name, text := range map[string]string{"a": "the [MASK] sleeps .\nno blank\n", "b": "the [MASK] runs .\n"} {
		r := run("batch", put(t, at(name+".txt"), text), "--seed", "1", "-o", at("in/"+name+".parquet"))
		if r.code > exitSomeFailed {
			t.Fatal(r.err)
		}
	}
	put(t, at("in/_SUCCESS"), "")
	put(t, at("in/.a.parquet.crc"), "x")
	const ask = "--top=2"
	r := run("batch", in, "-o", out, ask)
	if r.code != exitSomeFailed || strings.Count(r.err, "repeat with") != 1 || !strings.Contains(r.err,
		"passed over: _SUCCESS, sub\n") {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	_, seed, _ := strings.Cut(r.err, "repeat with --seed ")
	seed, _, _ = strings.Cut(seed, ")")
	for _, name := range []string{"a.parquet", "b.parquet"} {
		r := run("batch", at("in/"+name), "-o", at("alone/"+name), ask, "--seed", seed)
		if r.code > exitSomeFailed || get(t, at("alone/"+name)) != get(t, at("out/"+name)) {
			t.Errorf("%s: exit %d: %s", name, r.code, r.err)
		}
	}
	for _, name := range []string{"out/b.parquet", "out/b.parquet.manifest"} {
		if err := os.Remove(at(name)); err != nil {
			t.Fatal(err)
		}
	}
	if r := run("batch", in, "-o", out, ask, "--resume"); r.code != exitSomeFailed ||
		get(t, at("alone/b.parquet")) != get(t, at("out/b.parquet")) {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	put(t, at("text/a.txt"), "the [MASK] runs .\n")
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{at("text"), "-o", at("x")}, "one by one:\n  for f in " + at("text") +
			`/*; do infill batch "$f" -o "OUTPUTS/$(basename "$f").jsonl" --resume; done`},
		{[]string{in}, "--output FOLDER names another"},
		{[]string{in, "-o", at("x"), "--shard", "0/2"}, "--shard is for a file"},
		{[]string{in, "-o", at("x"), "--output-format", "csv"}, "leave out --output-format"},
		{[]string{in, "-o", at("x"), "--per", "word"}, "--per word is for scores"},
		{[]string{in, "-o", in}, "the output is the input itself"},
		{[]string{in, in, "-o", at("x")}, "2 inputs; infill batch takes one file"},
	} {
		if r := run(append([]string{"batch"}, c.args...)...); r.code != exitUsage || !strings.Contains(r.err, c.says) {
			t.Errorf("%q: exit %d: %s", c.args, r.code, r.err)
		}
		if _, err := os.Stat(at("x")); err == nil {
			t.Fatalf("%q made the folder", c.args)
		}
	}
}
