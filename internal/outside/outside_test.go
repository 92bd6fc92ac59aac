// Package outside tests the module as its users meet it: a program in a module of
// its own, and a copy of the repository under another module path.
package outside

import (
	"bytes"
	"encoding/json"
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
	program := guideProgram(t)
	commands := regexp.MustCompile("(?m)^go (mod (?:init|edit) [^#\n]*)").FindAllSubmatch(
		file(t, "docs/guide/library.md"), -1)
	if len(commands) != 2 {
		t.Fatalf("library.md has %d commands in place of 2", len(commands))
	}
	readmeLines(t, program)
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
	write(t, filepath.Join(dir, "go.sum"), string(file(t, "go.sum")))
	write(t, filepath.Join(dir, "main.go"), program)
	goRun(t, dir, "vet", ".")
	fiveFillings(t, goRun(t, dir, "run", "."))
}

// guideProgram is the program of the guide to the library.
func guideProgram(t *testing.T) string {
	t.Helper()
	guide := file(t, "docs/guide/library.md")
	m := regexp.MustCompile("(?s)```go\n(package main\n.*?)```").FindSubmatch(guide)
	if m == nil {
		t.Fatal("library.md has no program")
	}
	return string(m[1])
}

// fiveFillings looks for what that program prints.
func fiveFillings(t *testing.T, out string) {
	t.Helper()
	line := regexp.MustCompile(`(?m)^ *-\d+\.\d\d  He drank his \w+ and read the \w+\.$`)
	if got := len(line.FindAllString(out, -1)); got != 5 {
		t.Errorf("%d fillings in place of 5:\n%s", got, out)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// readmeLines looks for the lines of README's block for Go in a program, in their order.
func readmeLines(t *testing.T, program string) {
	t.Helper()
	block := regexp.MustCompile("(?s)```go\n(.*?)```").FindSubmatch(file(t, "README.md"))
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
