package main

import (
	"compress/gzip"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// folderOf makes a folder of files of all kinds. Some of their lines fail.
func folderOf(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "in")
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	var packed strings.Builder
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte("the [MASK] runs .\nthe [MASK] barks .\n")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"a.txt":       "the [MASK] sleeps .\nno blank\nthe dog [MASK] .\n",
		"b.jsonl":     `{"text":"the [MASK] runs .","top":1}` + "\n" + `{"text":"the cat [MASK] ."}` + "\n",
		"c.csv":       "id,text\n7,the [MASK] barks .\n8,none\n",
		"d.json":      `["the [MASK] .", {"text": "the [MASK] ran .", "steps": 3}]`,
		"e.txt.gz":    packed.String(),
		"README":      "the [MASK] .\n",
		".hidden.txt": "the [MASK] .\n",
		"sub/f.txt":   "the [MASK] .\n",
	} {
		put(t, filepath.Join(dir, name), text)
	}
	return dir
}

// filesOf are the files of a folder, but for manifests, with what is in them.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".manifest") {
			out[e.Name()] = get(t, filepath.Join(dir, e.Name()))
		}
	}
	return out
}

// Each file of a folder has the bytes that it has by itself, and a run that was stopped in the middle
// goes on to them.
func TestFolder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		args []string
		ext  map[string]string // of the output, by input
	}{
		{"batch", nil, nil},
		{"batch as Parquet", []string{"--output-format", "parquet", "--per", "filling"}, map[string]string{
			"a.txt": "a.parquet", "b.jsonl": "b.parquet", "c.csv": "c.parquet", "d.json": "d.parquet", "e.txt.gz": "e.parquet"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.ext == nil {
				c.ext = map[string]string{"a.txt": "a.jsonl", "b.jsonl": "b.jsonl", "c.csv": "c.jsonl",
					"d.json": "d.jsonl", "e.txt.gz": "e.jsonl.gz"}
			}
			in := folderOf(t)
			out, alone := filepath.Join(filepath.Dir(in), "out"), t.TempDir()
			run := func(args ...string) outcome {
				return infillRun("", withTiny(append(append(args, c.args...), "--seed", "5")...)...)
			}
			r := run("batch", in, "-o", out)
			if r.code != exitSomeFailed || !strings.Contains(r.err, "a.txt: line 2: ") ||
				!strings.Contains(r.err, "c.csv: line 3: ") || !strings.Contains(r.err, "passed over: README, sub\n") ||
				!strings.Contains(r.err, "infill: 5 files: 11 records, 2 of them errors\n") {
				t.Fatalf("exit %d: %s", r.code, r.err)
			}
			for name, as := range c.ext {
				if r := run("batch", filepath.Join(in, name), "-o", filepath.Join(alone, as)); r.code > exitSomeFailed {
					t.Fatalf("%s: exit %d: %s", name, r.code, r.err)
				}
			}
			want := filesOf(t, alone)
			if got := filesOf(t, out); !maps.Equal(got, want) {
				t.Errorf("%q, want %q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
			}
			// Nothing is written over.
			other := put(t, filepath.Join(out, "mine.txt"), "mine")
			if r := run("batch", in, "-o", out); r.code != exitUsage || strings.Count(r.err, "\n") != 1 ||
				!strings.Contains(r.err, "5 outputs exist in "+out+", the first "+filepath.Join(out, c.ext["a.txt"])+"; ") {
				t.Errorf("exit %d: %s", r.code, r.err)
			}
			// Stopped: the third file is not finished, the others are not there.
			for _, name := range []string{"c.csv", "d.json", "e.txt.gz"} {
				path := filepath.Join(out, c.ext[name])
				if name == "c.csv" && c.args == nil {
					put(t, path, want["c.jsonl"][:len(want["c.jsonl"])/2])
					continue
				}
				for _, p := range []string{path, path + ".manifest"} {
					if err := os.Remove(p); err != nil {
						t.Fatal(err)
					}
				}
			}
			if r := run("batch", in, "-o", out, "--resume"); r.code != exitSomeFailed ||
				!strings.Contains(r.err, "a.txt: 3 records, 1 of them an error, 3 from before") {
				t.Errorf("exit %d: %s", r.code, r.err)
			}
			want["mine.txt"] = get(t, other)
			if got := filesOf(t, out); !maps.Equal(got, want) {
				t.Error("resumed: other bytes")
			}
		})
	}
}

// Without a seed one is chosen for all files, said once, and taken over.
func TestFolderSeed(t *testing.T) {
	t.Parallel()
	in := folderOf(t)
	out := filepath.Join(filepath.Dir(in), "out")
	args := withTiny("batch", in, "-o", out, "--method", "sample", "--chains", "2", "--steps", "3")
	r := infillRun("", args...)
	if strings.Count(r.err, "repeat with") != 1 || r.code != exitSomeFailed {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	want := filesOf(t, out)
	for _, name := range []string{"a.jsonl", "a.jsonl.manifest"} {
		if err := os.Remove(filepath.Join(out, name)); err != nil {
			t.Fatal(err)
		}
	}
	if r := infillRun("", append(args, "--resume")...); r.code != exitSomeFailed || !maps.Equal(filesOf(t, out), want) {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// A file that cannot be read costs itself alone, whether that shows at its beginning or later.
func TestFolderErrors(t *testing.T) {
	t.Parallel()
	in := folderOf(t)
	at := func(name string) string { return filepath.Join(filepath.Dir(in), name) }
	run := func(args ...string) outcome {
		return infillRun("", withTiny(append([]string{"batch", in, "--seed", "1"}, args...)...)...)
	}
	for _, c := range []struct {
		args []string
		says string
	}{
		{nil, "--output FOLDER names another"},
		{[]string{"-o", "-"}, "is a folder"},
		{[]string{"-o", in}, "name another folder"},
		{[]string{"-o", at("x"), "--shard", "0/2"}, "--shard is for a file"},
		{[]string{"-o", at("x"), "--allow", "-"}, "none can be standard input"},
		{[]string{"-o", at("x"), "--max-errors", "0"}, ""},
	} {
		r := run(c.args...)
		if c.says == "" {
			if r.code != exitStopped {
				t.Errorf("%q: exit %d: %s", c.args, r.code, r.err)
			}
			continue
		}
		if r.code != exitUsage || !strings.Contains(r.err, c.says) {
			t.Errorf("%q: exit %d: %s", c.args, r.code, r.err)
		}
		if _, err := os.Stat(at("x")); err == nil {
			t.Fatalf("%q made the folder", c.args)
		}
	}
	// One line may fail: that of the first file. The second one is in the third file.
	if r := run("-o", at("y"), "--max-errors", "1"); r.code != exitStopped || !strings.Contains(r.err, "c.jsonl has 1 record") ||
		!strings.Contains(r.err, "--resume") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	put(t, filepath.Join(in, "b2.json"), `["the [MASK] .", "the`)
	put(t, filepath.Join(in, "bad.parquet"), "PAR1")
	put(t, filepath.Join(in, "h.csv"), "id,texts\n1,the [MASK]\n")
	put(t, filepath.Join(in, "nest.json"), `[["a [MASK] day"]]`)
	r := run("-o", at("z"))
	if r.code != exitUsage || !strings.Contains(r.err, "b2.json: unreadable JSON: element 2: ") ||
		!strings.Contains(r.err, "bad.parquet: unreadable table") || !strings.Contains(r.err, "--text-field NAME\n") ||
		!strings.Contains(r.err, "5 files: 11 records") ||
		!strings.HasSuffix(r.err, ": b2.json, bad.parquet, h.csv, nest.json\n") || len(filesOf(t, at("z"))) != 5 {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	if r := infillRun("", "batch", in, in, "-o", at("w")); r.code != exitUsage ||
		!strings.Contains(r.err, "one file, or a folder of them") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// Variants differ within a file, and files do not know of each other.
func TestFolderAugment(t *testing.T) {
	t.Parallel()
	in := t.TempDir()
	for _, name := range []string{"a.txt", "b.txt"} {
		put(t, filepath.Join(in, name), "the dog sleeps in the house .\n")
	}
	out := filepath.Join(t.TempDir(), "out")
	r := infillRun("", withTiny("augment", in, "-o", out, "--seed", "1", "--mask-words", "1", "-n", "2",
		"--output-format", "csv", "--progress", "json")...)
	files := filesOf(t, out)
	if r.code != exitOK || files["a.csv"] == "" || files["a.csv"] != files["b.csv"] ||
		!strings.Contains(r.err, `{"progress":{"file":"b.txt","records":1,`) {
		t.Errorf("exit %d: %s %q", r.code, r.err, files)
	}
}

// What is wrong with the outputs of all files alike is said once. Manifests are the program's own.
func TestFolderOtherRun(t *testing.T) {
	t.Parallel()
	in, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	for _, name := range []string{"a.txt", "b.txt", "c.txt", "d.txt.manifest"} {
		put(t, filepath.Join(in, name), "the [MASK] sleeps .\n")
	}
	run := func(args ...string) outcome {
		return infillRun("", withTiny(append([]string{"batch", in, "-o", out, "--seed", "1"}, args...)...)...)
	}
	if r := run(); r.code != exitOK || strings.Contains(r.err, "manifest") {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	want := filesOf(t, out)
	r := run("--resume", "--top", "2")
	if r.code != exitUsage || strings.Count(r.err, "--top was 5, is 2") != 1 ||
		!strings.HasSuffix(r.err, "not filled, as said above: a.txt, b.txt, c.txt\n") ||
		!maps.Equal(filesOf(t, out), want) {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// An output that is another of the inputs, by a link, is never written over.
func TestFolderForceOverInput(t *testing.T) {
	t.Parallel()
	in, out := t.TempDir(), t.TempDir()
	put(t, filepath.Join(in, "a.txt"), "the [MASK] sleeps .\n")
	other := put(t, filepath.Join(in, "b.txt"), "the [MASK] runs .\n")
	if err := os.Symlink(other, filepath.Join(out, "a.jsonl")); err != nil {
		t.Skip(err)
	}
	r := infillRun("", withTiny("batch", in, "-o", out, "--force", "--seed", "1")...)
	if r.code != exitUsage || !strings.Contains(r.err, "the output is the input itself") ||
		get(t, other) != "the [MASK] runs .\n" {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}
