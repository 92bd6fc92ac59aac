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

// A file of 400 lines fits into one read of the disk. Its progress counts the
// finished records, and the time left follows from their rate.
func TestBatchProgress(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	b := newBatchProgress("json", false, 1000, &out)
	var clock time.Time
	b.now = func() time.Time { return clock }
	step := func(records int) {
		clock = clock.Add(10 * time.Second)
		b.show(batch.Progress{Records: records, Resumed: 100, Total: 400})
	}
	step(100)
	step(100)
	step(140)
	step(399)
	clock = clock.Add(-10*time.Second + time.Millisecond) // the end is shown, however soon it comes
	step(400)
	want := `{"progress":{"records":100,"of":400,"failed":0,"resumed":100,"per_second":0.00}}
{"progress":{"records":100,"of":400,"failed":0,"resumed":100,"per_second":0.00}}
{"progress":{"records":140,"of":400,"failed":0,"resumed":100,"per_second":2.00,"seconds_left":130}}
{"progress":{"records":399,"of":400,"failed":0,"resumed":100,"per_second":9.97,"seconds_left":0}}
{"progress":{"records":400,"of":400,"failed":0,"resumed":100,"per_second":10.00,"seconds_left":0}}
`
	if out.String() != want {
		t.Errorf("%swant\n%s", &out, want)
	}
	out.Reset()
	b = newBatchProgress("none", false, 1000, &out)
	b.Mode, b.now = "bar", func() time.Time { return clock }
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
	if b.Clear(); !strings.HasSuffix(out.String(), "\r\x1b[K") {
		t.Error("the bar stays")
	}
}

// After two rounds of records, or a slow one, a long run says once when it will end.
func TestBatchEstimate(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 3, 1, 22, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		mode    string
		quiet   bool
		total   int
		step    time.Duration // of one record
		at      int           // the records after which it is said, 0 for never
		want    string
		resumed int
	}{
		{"none", false, 1000, time.Second, 8, "infill: 1.0 sentences a second, 992 are left: done in about " +
			"17m, at 22:16\n", 0},
		{"none", false, 100_000, 10 * time.Second, 4,
			"infill: 0.10 sentences a second, 99996 are left: done in about 11 days 14 h, at 11:46 on 13 March\n", 0},
		{"none", false, 1000, 15 * time.Second, 4,
			"infill: 0.07 sentences a second, 896 are left: done in about 3h44m, at 01:45 on 2 March\n", 100},
		{"json", true, 1000, time.Second, 8, `{"estimate":{"records":8,"of":1000,"per_second":1.00,` +
			`"seconds_left":992,"end":"2026-03-01T22:16:40Z"}}` + "\n", 0},
		{"none", false, 30, time.Second, 0, "", 0},  // is over too soon
		{"none", true, 1000, time.Second, 0, "", 0}, // quiet
		{"none", false, -1, time.Second, 0, "", 0},  // of a stream
	} {
		var out bytes.Buffer
		b := newBatchProgress("none", c.quiet, 4, &out)
		clock := begin
		b.Mode, b.now, b.Last = c.mode, func() time.Time { return clock }, begin.Add(time.Hour*1000)
		said := 0
		for n := range 20 {
			b.show(batch.Progress{Records: c.resumed + n, Resumed: c.resumed, Total: c.total})
			if said == 0 && out.Len() > 0 {
				said = n
			}
			clock = clock.Add(c.step)
		}
		if said != c.at || out.String() != c.want {
			t.Errorf("after %d records %q; want %q after %d", said, &out, c.want, c.at)
		}
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
