package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/internal/testmode"
)

// A variable of the environment means the same in all commands: flags that share it take the same
// values, and none of them is a text in one place and a file in another.
func TestOneMeaningOfVariables(t *testing.T) {
	t.Parallel()
	type meaning struct{ path, arg, of string }
	seen := map[string]meaning{}
	cmdline.Each(newRoot(console.IO{}), func(c *cli.Command) {
		for _, f := range optionsOf(c) {
			if f.Env == "" {
				continue // it has no variable
			}
			v := f.Value
			m := meaning{c.HelpName, argOf(f), fmt.Sprint(v.Kind, v.Min, v.Max, v.Above, v.Choices)}
			before, ok := seen[f.Env]
			if !ok {
				seen[f.Env] = m
				continue
			}
			if before.of != m.of || before.arg != m.arg {
				t.Errorf("%s: %s has %s (%s), %s has %s (%s)", f.Env, before.path, before.arg, before.of,
					m.path, m.arg, m.of)
			}
		}
	})
	for name, file := range testVariables(t) {
		asUsers := name == "INFILL_ORT" || name == "INFILL_HUB" // they are read as users set them
		if flag, ok := seen[name]; ok && !asUsers {
			t.Errorf("%s is read by %s, and is a flag of %s", name, file, flag.path)
		}
	}
	for _, name := range []string{"INFILL_SEED", "INFILL_STEPS", "INFILL_TEXT", "INFILL_FORCE"} {
		var users []string
		cmdline.Each(newRoot(console.IO{}), func(c *cli.Command) {
			for _, f := range optionsOf(c) {
				if f.Env == name {
					users = append(users, c.Name)
				}
			}
		})
		want := map[string][]string{
			"INFILL_SEED":  {"fill", "batch", "augment", "cloze", "compare"},
			"INFILL_STEPS": {"fill", "batch", "augment", "cloze", "compare"},
			"INFILL_FORCE": {"batch", "augment", "score", "eval", "cloze", "compare"},
		}[name]
		if !reflect.DeepEqual(users, want) {
			t.Errorf("%s is of %q, want %q", name, users, want)
		}
	}
}

// testVariables lists the variables of the environment that tests and their helpers read, each with
// a file that does.
func testVariables(t *testing.T) map[string]string {
	t.Helper()
	root, read := testmode.Root(t), regexp.MustCompile(`(?:Getenv\(|[eE]nv = )"(\w+)"`)
	found := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		helper := strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testmode")
		if err != nil || d.IsDir() || !helper {
			return err
		}
		for _, m := range read.FindAllStringSubmatch(get(t, path), -1) {
			found[m[1]] = path
		}
		return nil
	})
	if err != nil || len(found) < 10 || found["TEST_INFILL_SHARED"] == "" {
		t.Fatalf("%d variables, %v: %v", len(found), found, err)
	}
	return found
}

// A full disk is an error of help too.
func TestHelpErrors(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"fill", "--help"}, {"--version"}, {"version"}} {
		var errs bytes.Buffer
		code := runLine(t.Context(), console.IO{In: strings.NewReader(""), Out: full{}, Err: &errs}, args)
		if code != exitTrouble || !strings.Contains(errs.String(), "no space left") {
			t.Errorf("%q: exit %d: %s", args, code, &errs)
		}
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "/dev/full", Err: syscall.ENOSPC}
}

// No message names a Go type or function.
func TestErrorsInWords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(tinyModel)); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "config.json"), `{"vocab_size":"many"}`)
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"fill", "--no-repeat=x", "a [MASK]"}, "for flag --no-repeat: want off|blanks|text"},
		{[]string{"fill", "--model", dir, "a [MASK]"}, `"vocab_size" is a text, want a whole number`},
		{[]string{"cloze", "--mask-rate", "x"}, "for flag --mask-rate: want a number from 0 to 1"},
	} {
		r := infillRun("", c.args...)
		if r.code == 0 || !strings.Contains(r.err, c.says) || strings.Contains(r.err, "Go ") ||
			strings.Contains(r.err, "strconv") {
			t.Errorf("%q: exit %d: %s", c.args, r.code, r.err)
		}
	}
}

// A stream has no number of bytes.
func TestMismatchOfStreams(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := put(t, filepath.Join(dir, "in.txt"), "the [MASK] sleeps .\n")
	out := filepath.Join(dir, "out.jsonl")
	args := withTiny("batch", "--steps", "1", "--chains", "1", "--seed", "1", "--quiet", "-o", out)
	if r := infillRun("", append(args, in)...); r.code != 0 {
		t.Fatal(r.err)
	}
	r := infillRun(get(t, in), append(args, "--resume")...)
	if r.code != exitUsage || !strings.Contains(r.err, "is standard input;") ||
		strings.Contains(r.err, "-1") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}
