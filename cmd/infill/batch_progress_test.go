package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"infill/infill/batch"
)

// A file of 400 lines fits into one read of the disk. Its progress is that of
// the finished records, and the time left follows from their rate.
func TestBatchProgress(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	b := newBatchProgress("json", false, &out)
	var clock time.Time
	b.now = func() time.Time { return clock }
	step := func(records int) {
		clock = clock.Add(10 * time.Second)
		b.show(batch.Progress{Records: records, Resumed: 100, Total: 400})
	}
	step(100)
	step(100)
	step(140)
	step(400)
	want := `{"progress":{"records":100,"of":400,"failed":0,"resumed":100,"per_second":0.00}}
{"progress":{"records":100,"of":400,"failed":0,"resumed":100,"per_second":0.00}}
{"progress":{"records":140,"of":400,"failed":0,"resumed":100,"per_second":2.00,"seconds_left":130}}
{"progress":{"records":400,"of":400,"failed":0,"resumed":100,"per_second":10.00,"seconds_left":0}}
`
	if out.String() != want {
		t.Errorf("%swant\n%s", &out, want)
	}
	out.Reset()
	b = newBatchProgress("none", false, &out)
	b.mode, b.now = "bar", func() time.Time { return clock }
	b.show(batch.Progress{Total: 400})
	clock = clock.Add(time.Minute)
	b.show(batch.Progress{Records: 100, Total: 400})
	if s := out.String(); !strings.Contains(s, "  0 % 0 records") ||
		!strings.Contains(s, " 25 % 100 records, 1.7/s, 3m0s left") {
		t.Errorf("%q", s)
	}
	clock = clock.Add(time.Minute)
	b.show(batch.Progress{Records: 300, Failed: 3, Total: -1}) // of a stream
	if s := out.String(); !strings.HasSuffix(s, "\r\x1b[K300 records, 3 failed, 2.5/s") {
		t.Errorf("%q", s)
	}
	if b.clear(); !strings.HasSuffix(out.String(), "\r\x1b[K") {
		t.Error("the bar stays")
	}
}

// The first report of a run says how many records there are and that none is done.
func TestBatchProgressOfFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lines := strings.Repeat("the [MASK] runs .\n   \n", 40) + strings.Repeat("x", 1<<20+1) + "\n"
	in := put(t, filepath.Join(dir, "in.txt"), lines)
	r := infillRun("", withTiny("batch", in, "-o", filepath.Join(dir, "out.jsonl"), "--seed", "1",
		"--steps", "1", "--chains", "1", "--progress", "json")...)
	var first struct{ Progress struct{ Records, Of int } }
	line, _, _ := strings.Cut(r.err, "\n")
	if r.code != exitSomeFailed || json.Unmarshal([]byte(line), &first) != nil ||
		first.Progress.Records != 0 || first.Progress.Of != 41 {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	r = infillRun(
		lines,
		withTiny("batch", "-", "--seed", "1", "--steps", "1", "--chains", "1", "--progress", "json")...)
	if !strings.Contains(r.err, `"records":0,"of":-1,`) || strings.Contains(r.err, "seconds_left") {
		t.Errorf("of a stream: %s", r.err)
	}
}
