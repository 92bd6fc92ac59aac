// Package outside tests the module as its users meet it: a program in a module of
// its own, and a copy of the repository under another module path.
package outside

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"infill/internal/testmode"
)

// offline are the settings under which go takes modules from its cache only. Its other settings are
// the same as in make, so that go does not compile again what make compiled.
var offline = []string{"GOPROXY=off", "GOFLAGS=-ldflags=-w", "GOSUMDB=off", "GOWORK=off"}

// goRun runs the go command in a folder, offline, and returns what it printed.
// Modules that are missing in the cache skip the test.
func goRun(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("go", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), offline...)
	var out, log bytes.Buffer
	c.Stdout, c.Stderr = &out, &log
	if err := c.Run(); err != nil {
		if strings.Contains(log.String(), "module lookup disabled by GOPROXY=off") {
			testmode.Missing(t, "a module in the module cache (go mod download): "+log.String())
		}
		t.Fatalf("go %s: %v\n%s%s", strings.Join(args, " "), err, out.String(), log.String())
	}
	return out.String()
}

// TestGuideProgram vets, builds and runs the program of the guide to the library as an outside
// module, with the commands that stand there. README has lines of it.
func TestGuideProgram(t *testing.T) {
	t.Parallel()
	root := testmode.Root(t)
	text, err := os.ReadFile(filepath.Join(root, "docs", "guide", "library.md"))
	if err != nil {
		t.Fatal(err)
	}
	program := regexp.MustCompile("(?s)```go\n(package main\n.*?)```").FindSubmatch(text)
	commands := regexp.MustCompile("(?m)^go (mod (?:init|edit) [^#\n]*)").FindAllSubmatch(text, -1)
	if program == nil || len(commands) != 2 {
		t.Fatalf("library.md has no program, or %d commands in place of 2", len(commands))
	}
	readmeLines(t, root, string(program[1]))
	dir := t.TempDir()
	for _, c := range commands {
		args := strings.Fields(string(c[1]))
		for i, a := range args {
			args[i] = strings.Replace(a, "../infill", root, 1)
		}
		goRun(t, dir, args...)
	}
	// In place of go mod tidy, which also wants modules that only tests of other
	// modules need and that the cache may lack.
	require(t, root, dir)
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"main.go": program[1], "go.sum": sums} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	goRun(t, dir, "vet", ".")
	out := goRun(t, dir, "run", ".")
	line := regexp.MustCompile(`(?m)^ *-\d+\.\d\d  He drank his \w+ and read the \w+\.$`)
	if got := len(line.FindAllString(out, -1)); got != 5 {
		t.Errorf("%d fillings in place of 5:\n%s", got, out)
	}
}

// readmeLines looks for the lines of README's block for Go in a program, in their order.
func readmeLines(t *testing.T, root, program string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```go\n(.*?)```").FindSubmatch(text)
	if block == nil {
		t.Fatal("README.md has no block for Go")
	}
	rest := program
	for line := range strings.Lines(string(block[1])) {
		_, after, ok := strings.Cut(rest, "\t"+line)
		if !ok {
			t.Errorf("the program of library.md lacks %q", line)
			continue
		}
		rest = after
	}
}

// require adds what a module requires, other than itself, to another.
func require(t *testing.T, from, to string) {
	t.Helper()
	var mod struct {
		Require []struct{ Path, Version string }
	}
	if err := json.Unmarshal([]byte(goRun(t, from, "mod", "edit", "-json")), &mod); err != nil {
		t.Fatal(err)
	}
	args := []string{"mod", "edit"}
	for _, r := range mod.Require {
		args = append(args, "-require="+r.Path+"@"+r.Version)
	}
	goRun(t, to, args...)
}

// modulePath is the path of the module in a folder, from its go.mod.
func modulePath(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^module (\S+)$`).FindSubmatch(text)
	if m == nil {
		t.Fatalf("%s: go.mod names no module", dir)
	}
	return string(m[1])
}

// TestRenameModule gives a copy of the repository another path. Every import of every module in it,
// those of tests too, must then lead to a package of the copy, no other line of Go may differ, and
// the guide must tell programs to require the new path. So the copy compiles if this repository
// does. The long run compiles a module of it that requires another, and runs the other tests of this
// package in it.
func TestRenameModule(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("perl"); err != nil {
		testmode.Missing(t, "the program perl")
	}
	const path = "example.org/someone/renamed"
	old := modulePath(t, testmode.Root(t))
	dir := copyTree(t)
	c := exec.Command(filepath.Join(dir, "scripts", "rename-module.sh"), path)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	guide, err := os.ReadFile(filepath.Join(dir, "docs", "guide", "library.md"))
	if err != nil {
		t.Fatal(err)
	}
	// A module within requires the module by its new path.
	for within, least := range map[string]int{".": 60, "lab": 60, "beam": 30, "server/browser": 1} {
		t.Run(within, func(t *testing.T) {
			in := filepath.Join(dir, filepath.FromSlash(within))
			if got, want := modulePath(t, in), strings.TrimSuffix(path+"/"+within, "/."); got != want {
				t.Errorf("the module is %s, want %s", got, want)
			}
			list := strings.Fields(goRun(t, in, "list", "-deps", "-test", "./..."))
			own := 0
			for _, p := range list {
				if strings.HasPrefix(p, path) {
					own++
				}
				if p == old || strings.HasPrefix(p, old+"/") {
					t.Errorf("it needs %s", p)
				}
			}
			if own < least {
				t.Errorf("%d packages under the new path", own)
			}
			if testmode.All() && within == "server/browser" { // others take minutes
				goRun(t, in, "vet", "./...")
			}
		})
	}
	edit := "\ngo mod edit -require=" + path + "@v0.0.0 -replace=" + path + "=../infill "
	if !strings.Contains(string(guide), edit) {
		t.Errorf("library.md of the copy lacks the line%s", edit)
	}
	imports := regexp.MustCompile(
		`^\s*(import\s+)?([\w.]+\s+)?"` + regexp.QuoteMeta(old) + `/[^"]*"(\s*//.*)?$`)
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".go" {
			return err
		}
		rel, err1 := filepath.Rel(dir, name)
		was, err2 := os.ReadFile(filepath.Join(testmode.Root(t), rel))
		is, err3 := os.ReadFile(name)
		lines, now := strings.Split(string(was), "\n"), strings.Split(string(is), "\n")
		if len(lines) != len(now) {
			t.Errorf("%s has %d lines, and had %d", rel, len(now), len(lines))
			return errors.Join(err1, err2, err3)
		}
		for i, line := range lines {
			if imports.MatchString(line) {
				line = strings.Replace(line, `"`+old+"/", `"`+path+"/", 1)
			}
			if now[i] != line {
				t.Errorf("%s:%d: %q, want %q", rel, i+1, now[i], line)
			}
		}
		return errors.Join(err1, err2, err3)
	})
	if err != nil {
		t.Fatal(err)
	}
	if testmode.All() {
		goRun(t, dir, "test", "-skip", "^TestRenameModule$", "./internal/outside")
	}
}

// copyTree copies the repository without what neither git nor the build needs.
func copyTree(t *testing.T) string {
	t.Helper()
	root, dir := testmode.Root(t), t.TempDir()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		skip := strings.HasPrefix(d.Name(), ".") && rel != "." ||
			rel == "bin" || rel == filepath.Join("models", "teacher")
		switch {
		case skip && d.IsDir():
			return filepath.SkipDir
		case skip || !d.IsDir() && !d.Type().IsRegular():
			return nil
		case d.IsDir():
			return os.MkdirAll(filepath.Join(dir, rel), 0o700)
		}
		return copyFile(name, filepath.Join(dir, rel))
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	info, err := os.Stat(from)
	return errors.Join(err, os.WriteFile(to, data, info.Mode().Perm()|0o200))
}
