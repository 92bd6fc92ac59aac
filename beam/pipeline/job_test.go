package pipeline

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"

	"infill/infill/batch/input"
	"infill/infill/batch/output"
	"infill/infill/settings"
	"infill/infill/table"
)

// write writes a file and returns its path.
func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// names lists a folder.
func names(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range list {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}

// newJob is a job that can be run.
func newJob(t *testing.T, dir string) *Job {
	t.Helper()
	s, err := NewSettings(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Job{
		Source: Source{Path: write(t, filepath.Join(dir, "in.txt"), "A ___.\n")},
		Output: filepath.Join(dir, "out"), Settings: s,
		ChunkLines: DefaultChunkLines, ShardLines: DefaultShardLines,
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(j *Job, dir string)
		kind   error
		says   string
	}{
		"nothing":   {func(*Job, string) {}, nil, ""},
		"no output": {func(j *Job, _ string) { j.Output = "" }, ErrJob, "output"},
		"no lines":  {func(j *Job, _ string) { j.ChunkLines = 0 }, ErrJob, "chunks of 0 lines"},
		"no input": {func(j *Job, dir string) { j.Source.Path = filepath.Join(dir, "none") },
			fs.ErrNotExist, "none"},
		"a folder": {func(j *Job, dir string) { j.Source.Path = dir }, ErrJob, "is a folder"},
		"a table": {func(j *Job, dir string) {
			j.Source.Path = write(t, filepath.Join(dir, "a.csv"), "text\nx\n")
		}, input.ErrNoLines, "convert it to JSON lines"},
		"Parquet": {func(j *Job, dir string) {
			j.Source.Path = write(t, filepath.Join(dir, "a.parquet"), "PAR1")
		}, table.ErrTable, "convert it to JSON lines"},
		"no folder": {func(j *Job, dir string) { j.Output = filepath.Join(dir, "none", "out") },
			fs.ErrNotExist, "make it first"},
		"not writable": {func(j *Job, dir string) {
			j.Output = filepath.Join(write(t, filepath.Join(dir, "file"), ""), "out")
		}, nil, "output"},
		"it is there": {func(j *Job, dir string) { write(t, ShardPath(j.Output, 7), "old") },
			output.ErrExists, "out-00007.jsonl; overwrite it"},
		"failed ones are there": {func(j *Job, dir string) {
			write(t, ShardPath(FailedPrefix(j.Output), 0), "old")
			write(t, SummaryPath(j.Output), "old")
		}, output.ErrExists, "out-failed-00000.jsonl and 1 other file"},
		"a name with marks": {func(j *Job, dir string) {
			j.Output = filepath.Join(dir, "[a]*")
			write(t, ShardPath(j.Output, 0), "old")
		}, output.ErrExists, "[a]*-00000.jsonl"},
		"it is the input": {func(j *Job, dir string) {
			j.Source.Path, j.Force = write(t, ShardPath(j.Output, 0), "A ___.\n"), true
		}, output.ErrIsInput, "out-00000.jsonl"},
		"an unknown file system": {func(j *Job, _ string) { j.Output = "no-such://x/y" }, nil, "no-such"},
	} {
		dir := t.TempDir()
		j := newJob(t, dir)
		c.change(j, dir)
		before := names(t, dir)
		err := j.Check(context.Background())
		switch {
		case (err == nil) != (c.says == ""):
			t.Errorf("%s: %v", name, err)
		case err != nil && (c.kind != nil && !errors.Is(err, c.kind) ||
			!strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
		if after := names(t, dir); after != before {
			t.Errorf("%s: the folder had %s, has %s", name, before, after)
		}
	}
}

// The check writes a file to see whether it can, and removes it. A file of the user's is
// left alone, whatever it is called.
func TestCheckKeepsFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := newJob(t, dir)
	mine := write(t, j.Output+".trial", "A ___ of mine.\n")
	before := names(t, dir)
	for _, input := range []string{j.Source.Path, mine} {
		j.Source.Path = input
		if err := j.Check(context.Background()); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(mine); err != nil || string(b) != "A ___ of mine.\n" {
			t.Errorf("input %s: %q, %v", input, b, err)
		}
	}
	if after := names(t, dir); after != before {
		t.Errorf("the folder had %s, has %s", before, after)
	}
}

// Force removes the output of an earlier, larger run, and nothing else.
func TestCheckForce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := newJob(t, dir)
	j.Force = true
	for _, path := range []string{ShardPath(j.Output, 0), ShardPath(j.Output, 12345),
		ShardPath(FailedPrefix(j.Output), 3), SummaryPath(j.Output)} {
		write(t, path, "old")
	}
	write(t, j.Output+"-more-00000.jsonl", "another's")
	before := names(t, dir)
	if err := j.Check(context.Background()); err != nil || names(t, dir) != before {
		t.Fatalf("%v, %s", err, names(t, dir))
	}
	j.Force = false
	if err := j.Clear(context.Background()); err != nil || names(t, dir) != before {
		t.Fatalf("%v, %s", err, names(t, dir))
	}
	j.Force = true
	if err := j.Clear(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); got != "in.txt out-more-00000.jsonl" {
		t.Errorf("left are %s", got)
	}
}

// A shard is in the order of the input, whatever order its parts have, and a second attempt
// replaces it.
func TestWriteShard(t *testing.T) {
	t.Parallel()
	prefix := filepath.Join(t.TempDir(), "out")
	f := &writeFn{Prefix: prefix}
	for range 2 {
		parts := []Part{{5, [][]byte{[]byte("c")}}, {2, [][]byte{[]byte("a"), []byte("b")}}, {9, nil}}
		next := func(p *Part) bool {
			if len(parts) == 0 {
				return false
			}
			*p, parts = parts[0], parts[1:]
			return true
		}
		var file File
		err := f.ProcessElement(context.Background(), 3, next, func(w File) { file = w })
		if want := (File{prefix + "-00003.jsonl", 3, 3}); err != nil || file != want {
			t.Fatalf("%+v, %v", file, err)
		}
		if text, err := os.ReadFile(file.Path); err != nil || string(text) != "a\nb\nc\n" {
			t.Errorf("%q, %v", text, err)
		}
	}
	if got := names(t, filepath.Dir(prefix)); got != "out-00003.jsonl" {
		t.Errorf("the folder has %s", got)
	}
	// What cannot be put in its place leaves nothing behind.
	if err := os.MkdirAll(filepath.Join(prefix+"-00004.jsonl", "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	err := f.ProcessElement(context.Background(), 4, func(*Part) bool { return false }, nil)
	if err == nil || !strings.Contains(err.Error(), "writing "+prefix+"-00004.jsonl") {
		t.Errorf("%v", err)
	}
	if got := names(t, filepath.Dir(prefix)); got != "out-00003.jsonl out-00004.jsonl" {
		t.Errorf("the folder has %s", got)
	}
}

// Bundles of a process share the model, and those with the same settings all that belongs to it.
func TestFillerIsShared(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	filler := func(chosen ...Setting) string {
		s, err := NewSettings(append(chosen, Setting{"model", "small"}, Setting{"seed", "1"},
			Setting{"threads", "1"}))
		if err != nil {
			t.Fatal(err)
		}
		f, err := s.Filler(ctx, "test")
		if err != nil {
			t.Fatal(err)
		}
		again, err := s.Filler(ctx, "test")
		if err != nil || again != f {
			t.Errorf("a second filler, %v", err)
		}
		shared.Lock()
		defer shared.Unlock()
		for key, m := range shared.models {
			if m == f.Model {
				return key
			}
		}
		t.Error("a model that is not shared")
		return ""
	}
	if a, b := filler(), filler(Setting{"steps", "7"}); a != b || len(shared.models) != 1 {
		t.Errorf("%d models, %s and %s", len(shared.models), a, b)
	}
	for _, name := range []string{"/nowhere/model", "none.onnx"} {
		s, err := NewSettings([]Setting{{"model", name}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Filler(ctx, "test"); !errors.Is(err, ErrModel) ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("%v", err)
		}
	}
	// No file that a setting names is passed over.
	rate := Setting{"mask-rate", "0.5"}
	for _, chosen := range [][]Setting{
		{{"energy", "words:/nowhere=1"}}, {{"start", "/nowhere"}}, {{"keep-file", "/nowhere"}, rate},
		{{"stop-words", "/nowhere"}, rate, {"mask-class", "content"}},
	} {
		s, err := NewSettings(append(chosen, Setting{"model", "small"}, Setting{"threads", "1"}))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Filler(ctx, "test"); !errors.Is(err, settings.ErrSetting) ||
			!strings.Contains(err.Error(), "the same path on every worker") {
			t.Errorf("%v: %v", chosen, err)
		}
	}
}
