package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/console"
)

// Libraries know nothing of this command: no string of theirs names one of its flags or
// subcommands.
func TestLibrariesNameNoFlags(t *testing.T) {
	t.Parallel()
	app := newRoot(console.IO{})
	speaks, flags := commandLine(app), flagNames(app.Subcommands)
	root := filepath.Join("..", "..")
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."),
			d.IsDir() && (d.Name() == "testdata" || d.Name() == "dist" || path == filepath.Join(root, "lab")):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		if file.Name.Name == "main" || strings.HasPrefix(path, filepath.Join(root, "cmd")) {
			return nil
		}
		files++
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			text = styleVariable.ReplaceAllString(text, "")
			if err != nil {
				t.Errorf("%s: %v", set.Position(lit.Pos()), err)
			} else if what := speaks.FindString(text); what != "" && !otherTools(text, flags) {
				t.Errorf("%s: %q is the command's business: %s", set.Position(lit.Pos()), what, lit.Value)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 100 {
		t.Errorf("only %d files of libraries were read", files)
	}
	// The expression finds what it is for.
	for _, text := range []string{"use --ban", "-o FILE", "infill model pull x", "infill doctor --install", "the command line", "a flag"} {
		if !speaks.MatchString(text) {
			t.Errorf("%q is not found", text)
		}
	}
}

// styleVariable is a variable of a style sheet, which looks like a flag.
var styleVariable = regexp.MustCompile(`var\(--[a-z-]+\)`)

// otherTools says that a text is an argument of another program: a flag alone that no command of
// ours has.
func otherTools(text string, ours map[string]bool) bool {
	name, ok := strings.CutPrefix(text, "--")
	return ok && !strings.ContainsAny(name, " \n") && !ours[name]
}

func flagNames(cmds []*cli.Command) map[string]bool {
	names := map[string]bool{}
	for _, c := range cmds {
		for _, f := range c.Flags {
			for _, n := range f.Names() {
				names[n] = true
			}
		}
		for n := range flagNames(c.Subcommands) {
			names[n] = true
		}
	}
	return names
}

// commandLine matches a flag of any command, the name of a command after infill, and the words flag
// and command line.
func commandLine(app *cli.Command) *regexp.Regexp {
	var commands []string
	var walk func(list []*cli.Command)
	walk = func(list []*cli.Command) {
		for _, c := range list {
			commands = append(commands, regexp.QuoteMeta(c.Name))
			walk(c.Subcommands)
		}
	}
	walk(app.Subcommands)
	return regexp.MustCompile(
		`(^|[^-\w])--([a-z][a-z-]+|$)|(^|\s)-o\b|\binfill (` + strings.Join(commands, "|") +
			`)\b|\b[Cc]ommand[- ]line|\bflags?\b|\bsubcommand`,
	)
}
