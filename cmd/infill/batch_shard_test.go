package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Every shard is a process, and one of them is killed and goes on. One after the other they are the
// output of the whole. So is what --join makes of them.
func TestShardedBatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := sentenceFile(t, dir, 100)
	args := func(out string, more ...string) []string {
		return append(withTiny("batch", in, "-o", out, "--quiet", "--seed", "5", "--chains", "4",
			"--steps", "24"), more...)
	}
	whole := filepath.Join(dir, "whole.jsonl")
	if r := infillRun("", args(whole)...); r.code != exitSomeFailed {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	join := []string{"batch", "--join", "-o", filepath.Join(dir, "joined.jsonl")}
	var cat string
	for i := range 3 {
		out := filepath.Join(dir, fmt.Sprintf("part-%d.jsonl", i))
		join = append(join, out)
		shard := []string{"--shard", fmt.Sprintf("%d/3", i), "--ok-if-lines-fail"}
		if i == 1 {
			cmd, errs := command(t, args(out, append(shard, "--threads", "1")...)...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for range 3000 {
				if strings.Count(get(t, out), "\n") >= 3 {
					break
				}
				time.Sleep(time.Millisecond)
			}
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			if r := infillRun("", join...); r.code != exitUsage || !strings.Contains(r.err, "missing: 2") {
				t.Errorf("exit %d: %s (of the killed shard: %s)", r.code, r.err, errs)
			}
			shard = append(shard, "--resume")
		}
		if r := infillRun("", args(out, shard...)...); r.code != 0 {
			t.Fatalf("exit %d: %s", r.code, r.err)
		}
		cat += get(t, out)
	}
	if want := get(t, whole); cat != want || strings.Count(want, "\n") != 100 {
		t.Error("the shards one after the other are not the output of the whole")
	}
	if r := infillRun("", join...); r.code != 0 || !strings.Contains(r.err,
		"joined.jsonl: 100 records, 2 of them errors") {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	if get(t, filepath.Join(dir, "joined.jsonl")) != cat {
		t.Error("--join makes another file")
	}
	// The joined file is one that the whole run could go on with.
	if r := infillRun("", args(filepath.Join(dir, "joined.jsonl"), "--resume",
		"--ok-if-lines-fail")...); r.code != 0 {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	// Another run's shard.
	other := filepath.Join(dir, "other.jsonl")
	if r := infillRun("", args(other, "--shard", "2/3", "--top", "1", "--ok-if-lines-fail")...); r.code != 0 {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	join[len(join)-1] = other
	if r := infillRun("", append(join, "--force")...); r.code != exitUsage || !strings.Contains(r.err,
		"--top is 1 in "+other+", and 5 in ") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// infill score cuts its file the same way.
func TestShardedScore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := put(t, filepath.Join(dir, "in.txt"), "the dog sleeps .\n\nthe cat sings .\nthe dog runs .")
	var cat string
	for i := range 4 {
		r := infillRun("", withTiny("score", "--file", in, "--shard", fmt.Sprintf("%d/4", i))...)
		if r.code != 0 {
			t.Fatalf("exit %d: %s", r.code, r.err)
		}
		cat += r.out
	}
	if r := infillRun("", withTiny("score", "--file", in)...); r.out != cat ||
		strings.Count(cat, "\n") != 3 {
		t.Errorf("%q, the whole is %q", cat, r.out)
	}
}

func TestShardRefusals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := sentenceFile(t, dir, 5)
	out := filepath.Join(dir, "out.jsonl")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{in, "-o", out, "--shard", "0/2"}, "--seed"},
		{[]string{in, "-o", out, "--shard", "2/2", "--seed", "1"}, "counted from 0"},
		{[]string{"-", "-o", out, "--shard", "1/2", "--seed", "1"}, "standard input: shard 1/2: "},
		{[]string{in, "-o", out, "--shard", "1/2", "--seed", "1", "--limit", "1"}, "limit"},
		{[]string{in, "-o", out + ".csv", "--shard", "1/2", "--seed", "1"}, "JSON lines"},
		{[]string{in, "--join"}, "-o FILE"},
		{[]string{in, "--join", "-o", "-"}, "cat does it"},
		{[]string{"--join", "-o", out}, "needs the outputs of all shards"},
		{[]string{in, "--join", "-o", out, "--top", "3"}, "--top is for filling"},
		{[]string{in, "--join", "-o", out}, "has no manifest"},
	} {
		r := infillRun("text\n", withTiny(append([]string{"batch"}, c.args...)...)...)
		if c.args[1] == "--join" || c.args[0] == "--join" {
			r = infillRun("", append([]string{"batch"}, c.args...)...)
		}
		if r.code != exitUsage || !strings.Contains(r.err, c.want) {
			t.Errorf("%q: exit %d: %s", c.args, r.code, r.err)
		}
		if _, err := os.Lstat(out); err == nil {
			t.Fatalf("%q began an output", c.args)
		}
	}
}

// Engines feed parts to standard input, and take an exit code other than 0 for a task that has to
// be repeated. An input's own number of a line is kept beside that of the part.
func TestOKIfLinesFail(t *testing.T) {
	t.Parallel()
	const lines = `{"text":"no blank","line":41,"id":"a"}` + "\n" +
		`{"text":"the [MASK] sleeps .","line":42,"id":"b"}` + "\n"
	args := withTiny("batch", "-", "--seed", "1", "--steps", "2", "--quiet")
	if r := infillRun(lines, args...); r.code != exitSomeFailed {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	r := infillRun(lines, append(args, "--ok-if-lines-fail")...)
	if r.code != 0 || !strings.Contains(r.out, `"input_fields":{"line":41}`) ||
		!strings.Contains(r.out, `"input_fields":{"line":42}`) || !strings.Contains(r.out, "no_blank") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
	if r := infillRun("", args...); r.code != exitUsage {
		t.Errorf("an empty part: exit %d: %s", r.code, r.err)
	}
	if r := infillRun("", append(args, "--ok-if-lines-fail")...); r.code != 0 || r.out != "" || r.err != "" {
		t.Errorf("an empty part: exit %d: %q, %s", r.code, r.out, r.err)
	}
	if r := infillRun(lines, append(args, "--ok-if-lines-fail", "--strict")...); r.code != exitStopped {
		t.Errorf("--strict: exit %d: %s", r.code, r.err)
	}
}
