package main

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"infill/cmd/infill/internal/console"
	"infill/infill/batch/output"
	"infill/infill/jsonl"
)

// A line of more than a mebibyte is an error of that line, whichever command
// reads it, and the lines after it are read.
func TestLongLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20+1)
	for _, args := range [][]string{
		withTiny("fill", "--json", "--seed", "1", "-"),
		withTiny("batch", "--seed", "1", "-"),
		withTiny("score", "--json", "-"),
		withTiny("tokenize", "--json", "-"),
		withTiny("tokenize", "--json"),
	} {
		text := "the dog sleeps ."
		if args[0] == "fill" || args[0] == "batch" {
			text = "the [MASK] sleeps ."
		}
		r := infillRun(text+"\n"+long+"\n\n"+text+"\n"+long, args...)
		if r.code != exitSomeFailed {
			t.Errorf("%v: exit %d: %s", args, r.code, r.err)
		}
		var got []string
		for _, l := range strings.Split(strings.TrimSpace(r.out), "\n") {
			var rec struct {
				Line  json.Number
				Error jsonl.Failure
			}
			if err := json.Unmarshal([]byte(l), &rec); err != nil {
				t.Fatalf("%v: %v: %.200s", args, err, l)
			}
			got = append(got, rec.Line.String()+rec.Error.Code)
			if strings.Contains(rec.Error.Message, "line 2") {
				t.Errorf("%v: the message has the line again: %s", args, rec.Error.Message)
			}
		}
		if strings.Join(got, " ") != "1 2too_long 4 5too_long" {
			t.Errorf("%v: %v", args, got)
		}
		if strings.Count(r.err, "line 2: ") != 1 || strings.Contains(r.err, "line 2: line 2") {
			t.Errorf("%v: %.300s", args, r.err)
		}
	}
	r := infillRun(long+"\nthe [MASK] sleeps .\n", withTiny("fill", "--strict", "--seed", "1", "-")...)
	if r.code != exitUsage || r.out != "" || !strings.Contains(r.err, "line 1: the line is too long") {
		t.Errorf("--strict: exit %d, %.300s", r.code, r.err)
	}
	exclude := put(t, filepath.Join(t.TempDir(), "not.txt"), "a\n"+strings.Repeat("x", 16<<20+1))
	gen := put(t, filepath.Join(t.TempDir(), "gen.txt"), generated)
	if r := infillRun("", "eval", gen, "--reference", gen, "--exclude", exclude); r.code != exitUsage ||
		!strings.Contains(r.err, "--exclude: "+exclude+":2: not a text file") {
		t.Errorf("--exclude: exit %d, %.300s", r.code, r.err)
	}
}

// A byte order mark is no part of the first line.
func TestByteOrderMark(t *testing.T) {
	t.Parallel()
	const in = "the [MASK] sleeps .\nthe [MASK] runs .\n"
	fill := withTiny("fill", "--json", "--seed", "1", "--quiet", "-")
	want := infillRun(in, fill...)
	if got := infillRun("\ufeff"+in, fill...); got != want || want.code != 0 {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if got := infillRun("\ufeff"+in, withTiny("batch", "--seed", "1", "--quiet", "-")...); got != want {
		t.Errorf("batch: %+v\nwant %+v", got, want)
	}
	for _, text := range []string{"", "\ufeff", "\n\r\n\n"} {
		for _, args := range [][]string{fill, withTiny("batch", "--seed", "1"), withTiny("score", "-"), withTiny("tokenize", "-"), withTiny("score", "--file", "-", "-o", filepath.Join(t.TempDir(), "o"))} {
			if r := infillRun(text, args...); r.code != exitUsage ||
				!strings.Contains(r.err, "no text on standard input") ||
				r.out != "" {
				t.Errorf("%q to %v: exit %d, %s", text, args, r.code, r.err)
			}
		}
	}
	// A file that is named may be empty: the output is, too.
	dir := t.TempDir()
	empty, out := put(t, filepath.Join(dir, "empty.txt"), ""), filepath.Join(dir, "out.jsonl")
	manifest, _ := output.Beside(out)
	if r := infillRun("", withTiny("batch", empty, "-o", out, "--seed", "1", "--quiet")...); r.code != 0 ||
		files(t, dir) == "" ||
		get(t, out) != "" ||
		get(t, manifest) == "" {
		t.Errorf("an empty file: exit %d, %s", r.code, r.err)
	}
}

// Every command decompresses what comes from standard input, and says so where it cannot.
func TestCompressedLines(t *testing.T) {
	t.Parallel()
	pack := func(text string) string {
		var b strings.Builder
		z := gzip.NewWriter(&b)
		if _, err := z.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for _, args := range [][]string{
		withTiny("fill", "--seed", "1", "--quiet", "-"),
		withTiny("batch", "--seed", "1", "--quiet", "-"),
		withTiny("score"),
		withTiny("tokenize", "--json", "-"),
	} {
		text := "the dog sleeps .\nthe cat sleeps .\n"
		if args[0] == "fill" || args[0] == "batch" {
			text = "the [MASK] sleeps .\nthe [MASK] runs .\n"
		}
		want := infillRun(text, args...)
		if got := infillRun(pack(text), args...); got != want || want.code != 0 {
			t.Errorf("%v: %+v\nwant %+v", args, got, want)
		}
		for _, cut := range []int{5, 20} {
			r := infillRun(pack(text)[:cut], args...)
			if r.code != exitUsage || r.out != "" ||
				!strings.Contains(r.err, "standard input: ") || !strings.Contains(r.err, "damaged compressed data") {
				t.Errorf("%v of %d bytes: %+v", args, cut, r)
			}
		}
	}
}

// An input that breaks off is no error of a line.
func TestBrokenInput(t *testing.T) {
	t.Parallel()
	broken := errors.New("the cable is cut")
	var got []line
	var last error
	long := iotest.TimeoutReader(strings.NewReader(strings.Repeat("a\n", 1<<17)))
	for l, err := range typed(console.IO{In: long}) {
		got, last = append(got, l), err
	}
	if n := len(got); n < 2 || !errors.Is(last, iotest.ErrTimeout) || got[n-1].n != 0 ||
		!strings.Contains(last.Error(), "standard input: after line") {
		t.Errorf("%d lines, %v", len(got), last)
	}
	for l, err := range typed(console.IO{In: iotest.ErrReader(broken)}) {
		if !errors.Is(err, broken) || l.n != 0 {
			t.Errorf("%+v, %v", l, err)
		}
	}
}

// With --quiet no empty line stands between the lists of two texts.
func TestQuietHasNoEmptyLines(t *testing.T) {
	t.Parallel()
	const texts = "the [MASK] sleeps .\nthe [MASK] runs .\n"
	loud := infillRun(texts, withTiny("fill", "--top", "1", "-")...)
	quiet := infillRun(texts, withTiny("fill", "--top", "1", "--quiet", "-")...)
	if n := strings.Count(loud.out, "\n\n"); n != 1 || quiet.code != 0 ||
		strings.ReplaceAll(loud.out, "\n\n", "\n") != quiet.out {
		t.Errorf("%d empty lines in\n%sand with --quiet\n%s%s", n, loud.out, quiet.out, quiet.err)
	}
}
