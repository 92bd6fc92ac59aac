package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// No command writes over a file that it reads, or two results into one file.
func TestOwnInputs(t *testing.T) {
	t.Parallel()
	const text = "the dog sleeps in the house .\na cat runs in the house .\n"
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"gen.txt", "ref.txt", "out.manifest", "words.txt"} {
		put(t, at(name), text)
	}
	put(t, at("not.txt"), "a bird sings .\n")
	put(t, at("blanks.txt"), "the [MASK] runs .\n")
	put(t, at("theirs.manifest"), text)
	if err := os.Symlink(at("gen.txt"), at("link.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(at("folder"), 0o777); err != nil {
		t.Fatal(err)
	}
	before := files(t, dir)
	eval := []string{
		"eval", at("gen.txt"), "--reference", at("ref.txt"), "--exclude", at("not.txt"), "--force",
	}
	compare := withTiny(
		"compare", "--quiet", at("blanks.txt"), "--reference", at("ref.txt"), "--allow", at("words.txt"),
		"--force",
	)
	batch := withTiny("batch", "--quiet", "--seed", "1")
	fill := withTiny("fill", "the [MASK] runs .", "--trace")
	for _, c := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"report over the sentences", with(eval, "--html", at("gen.txt")), 2, "input itself"},
		{"report over the sentences by a link", with(eval, "--html", at("link.txt")), 2, "input itself"},
		{"report over a reference", with(eval, "--markdown", at("ref.txt")), 2, "input itself"},
		{"report over the sentences left out", with(eval, "--markdown", at("not.txt")), 2, "input itself"},
		{"two reports in one file", with(eval, "--markdown", at("r"), "--html", filepath.Join(dir, "folder", "..", "r")), 2, "same file"},
		{"report in a folder's place", with(eval, "--html", at("folder")), 3, "folder"},
		{"report called -", with(eval, "--html", "-"), 2, "standard output"},
		{"report in no folder", with(eval, "--html", at("none/r")), 3, at("none/r") + ": its folder"},
		{"report for a device", with(eval, "--html", os.DevNull), 2, "regular"},
		{"comparison over its sentences", with(compare, "--html", at("blanks.txt")), 2, "input itself"},
		{"comparison over a reference", with(compare, "--html", at("ref.txt")), 2, "input itself"},
		{"comparison over the word list", with(compare, "--html", at("words.txt")), 2, "input itself"},
		{"batch over its input", with(batch, at("gen.txt"), "--mask-words", "1", "-o", at("gen.txt"), "--force"), 2, "the output is the input itself"},
		{"batch over its input, resumed", with(batch, at("gen.txt"), "--mask-words", "1", "-o", at("gen.txt"), "--resume"), 2, "input"},
		{"batch over its word list", with(batch, at("blanks.txt"), "--allow", at("words.txt"), "-o", at("words.txt"), "--force"), 2, "input itself"},
		{"manifest over the input", with(batch, at("out.manifest"), "--mask-words", "1", "-o", at("out")), 2, "its manifest"},
		{"manifest over the input, with force", with(batch, at("out.manifest"), "--mask-words", "1", "-o", at("out"), "--force"), 2, "its manifest"},
		{"manifest over the input of score", withTiny("score", "--file", at("out.manifest"), "-o", at("out")), 2, "its manifest"},
		{"manifest over another's", with(batch, at("blanks.txt"), "-o", at("theirs")), 2, "move it away"},
		{"manifest over another's, resumed", with(batch, at("blanks.txt"), "-o", at("theirs"), "--resume"), 2, "move it away"},
		{"trace called -", with(fill, "-"), 2, "--trace -"},
		{"trace in a folder's place", with(fill, at("folder")), 3, "it is a folder"},
		{"trace over a file", with(fill, at("gen.txt")), 2, "exists"},
		{"trace in no folder", with(fill, at("none/t")), 3, "its folder"},
	} {
		r := infillRun("", c.args...)
		if r.code != c.code || !strings.Contains(r.err, c.says) || r.out != "" {
			t.Errorf("%s: exit %d, want %d; want %q in: %s%s", c.name, r.code, c.code, c.says, r.err, r.out)
		}
		if now := files(t, dir); now != before {
			t.Fatalf("%s: the files were\n%s\nand are\n%s", c.name, before, now)
		}
	}
	if _, err := os.Lstat("-"); err == nil {
		t.Error("a file called - was made")
	}
	// What is refused is no more than that.
	if r := infillRun("", with(eval, "--html", at("r.html"), "--markdown", at("r.md"))...); r.code != 0 {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	if r := infillRun("", with(batch, at("blanks.txt"), "-o", at("theirs"), "--force")...); r.code != 0 ||
		strings.Contains(get(t, at("theirs.manifest")), "dog") {
		t.Errorf("--force: exit %d, %s", r.code, r.err)
	}
	if r := infillRun("", with(batch, at("blanks.txt"), "-o", os.DevNull)...); r.code != 0 {
		t.Errorf("a device: exit %d, %s", r.code, r.err)
	}
}

func with(args []string, more ...string) []string {
	return append(append([]string{}, args...), more...)
}

// files lists a folder with all it holds.
func files(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(e.Name())
		if !e.IsDir() {
			b.WriteString(": " + get(t, filepath.Join(dir, e.Name())))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Standard input that is a file is an input like any other.
func TestStandardInputIsTheOutput(t *testing.T) {
	t.Parallel()
	const text = "the dog sleeps in the house .\na cat runs in the house .\n"
	for _, args := range [][]string{
		withTiny("batch", "-", "--mask-words", "1", "--seed", "1", "--force", "-o"),
		{"eval", "-", "--force", "--html"},
	} {
		path := put(t, filepath.Join(t.TempDir(), "in.txt"), text)
		cmd, errs := command(t, with(args, path)...)
		in, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdin = in
		_ = cmd.Run() // the exit code says what there is to know
		if err := in.Close(); err != nil {
			t.Fatal(err)
		}
		if cmd.ProcessState.ExitCode() != exitUsage ||
			!strings.Contains(errs.String(), "input itself (standard input)") ||
			get(t, path) != text {
			t.Errorf("%v: exit %d, %s; %q", args, cmd.ProcessState.ExitCode(), errs, get(t, path))
		}
	}
}
