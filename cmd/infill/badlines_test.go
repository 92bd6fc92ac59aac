package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A line without the field of its text is told of with the flag that names another. It stays one
// error record, without the flag.
func TestNoTextFieldNamesFlag(t *testing.T) {
	t.Parallel()
	in := write(t, "in.jsonl", `{"sentence":"the [MASK] sat ."}`+"\n")
	dir := t.TempDir()
	const says = `no field "text"; its fields are "sentence": --text-field NAME` + "\n"
	for _, c := range []struct {
		name string
		code int
		args []string
	}{
		{"batch", exitSomeFailed, withTiny("batch", in)},
		{"score", exitSomeFailed, withTiny("score", "--file", in)},
		{"augment", exitSomeFailed, withTiny("augment", in)},
	} {
		out := filepath.Join(dir, c.name)
		r := infillRun("", append(c.args, "-o", out)...)
		if r.code != c.code || !strings.Contains(r.err, "line 1: bad JSON line: "+says) {
			t.Errorf("%s: exit %d: %s", c.name, r.code, r.err)
		}
		if c.code == exitSomeFailed && strings.Contains(get(t, out), "--text-field") {
			t.Errorf("%s: %s", c.name, get(t, out))
		}
	}
	r := infillRun("", withTiny("compare", in)...)
	if r.code != exitUsage || strings.Contains(r.err, "--text-field") {
		t.Errorf("compare: exit %d: %s", r.code, r.err)
	}
}

// Nothing goes on with an output that was made of a damaged file: the whole one is another input.
func TestBatchOfDamagedInput(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for range 2 {
		_, err := z.Write([]byte("the [MASK] sat .\n"))
		if err = errors.Join(err, z.Flush()); err != nil {
			t.Fatal(err)
		}
	}
	cut := packed.String()
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	in := write(t, "in.txt.gz", cut)
	out := filepath.Join(t.TempDir(), "out.jsonl")
	r := infillRun("", withTiny("batch", in, "-o", out)...)
	want := "out.jsonl has 2 records of what came before the damage; get the input again whole, then " +
		"begin again with:\n  infill batch --force --model"
	if r.code != exitUsage || !strings.Contains(r.err, want) || strings.Contains(r.err, "go on with") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	// What is advised works.
	if err := os.WriteFile(in, packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := infillRun("", withTiny("batch", "--resume", in, "-o", out)...); r.code != exitUsage {
		t.Errorf("--resume: exit %d: %s", r.code, r.err)
	}
	if r := infillRun("", withTiny("batch", "--force", in, "-o", out)...); r.code != 0 {
		t.Errorf("--force: exit %d: %s", r.code, r.err)
	}
}

// --resume refuses an output that was damaged since. The message names no command that would be
// refused again.
func TestResumeOfDamagedOutput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := put(t, filepath.Join(dir, "in.txt"), "the [MASK] sleeps .\nthe [MASK] runs .\n")
	out := filepath.Join(dir, "o.jsonl")
	args := withTiny("batch", in, "-o", out, "--seed", "1")
	if r := infillRun("", args...); r.code != exitOK {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	put(t, out, strings.Replace(get(t, out), `"version"`, `"versioX"`, 1))
	r := infillRun("", append(args, "--resume")...)
	if r.code == exitOK || !strings.Contains(r.err, "damaged or changed") ||
		strings.Contains(r.err, "go on with") ||
		!strings.Contains(r.err, "begin again with:\n  infill batch --force") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}
