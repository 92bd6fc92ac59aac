package main

import (
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
	const says = `no field "text": --text-field NAME` + "\n"
	for _, c := range []struct {
		name string
		code int
		args []string
	}{
		{"batch", exitSomeFailed, withTiny("batch", in)},
		{"score", exitSomeFailed, withTiny("score", "--file", in)},
		{"augment", exitSomeFailed, withTiny("augment", in)},
		{"tune", exitTrouble, withTiny("tune", in)},
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
	r := infillRun("", withTiny("trigger", in)...)
	if r.code != exitUsage || !strings.Contains(r.err,
		`no field "text", no field "label": --text-field NAME, --label-field NAME`) {
		t.Errorf("trigger: exit %d: %s", r.code, r.err)
	}
	r = infillRun("", withTiny("compare", in)...)
	if r.code != exitUsage || strings.Contains(r.err, "--text-field") {
		t.Errorf("compare: exit %d: %s", r.code, r.err)
	}
}
