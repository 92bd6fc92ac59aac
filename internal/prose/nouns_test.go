package prose

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var lower = flag.Bool("nouns", false, "lower the numbers of nouns.txt to what the packages have")

// vague stands in a doc comment where a noun says more: "A Record is the outcome of an item".
var vague = regexp.MustCompile(`(?i)\b(what|(those|that) of|those that)\b`)

// vagueComments finds the doc comments of a file with a vague word.
func vagueComments(t *testing.T, name, source string) (found []Finding) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	add := func(doc *ast.CommentGroup) {
		if text := plain(doc.Text()); vague.MatchString(strings.Join(strings.Fields(text), " ")) {
			found = append(found, Finding{files.Position(doc.Pos()).Line, "write the noun", shorten(text)})
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.File:
			add(n.Doc)
		case *ast.GenDecl:
			add(n.Doc)
		case *ast.FuncDecl:
			add(n.Doc)
			return false
		case *ast.TypeSpec:
			add(n.Doc)
		case *ast.ValueSpec:
			add(n.Doc)
		case *ast.Field:
			add(n.Doc)
		}
		return true
	})
	return found
}

// TestNouns counts, by package, the doc comments that say "what" or "those of" and the like.
// nouns.txt has the most that a package may have. The flag -nouns lowers its numbers, and raises
// none.
func TestNouns(t *testing.T) {
	t.Parallel()
	const list = "nouns.txt"
	have, where := map[string]int{}, map[string][]string{}
	for name, text := range tree(t, ".go") {
		if strings.HasSuffix(name, "_test.go") || generated(name, text) || !forUsers(name) {
			continue
		}
		for _, f := range vagueComments(t, name, text) {
			pkg := path.Dir(name)
			have[pkg]++
			where[pkg] = append(where[pkg], fmt.Sprintf("%s:%v", name, f))
		}
	}
	old, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	may, out := map[string]int{}, ""
	for line := range strings.Lines(string(old)) {
		var pkg string
		var n int
		if _, err := fmt.Sscan(line, &pkg, &n); err != nil {
			t.Fatalf("%s: %q: %v", list, line, err)
		}
		may[pkg] = n
		if n = min(n, have[pkg]); n > 0 {
			out += fmt.Sprintf("%-36s %3d\n", pkg, n)
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(have)) {
		if have[pkg] > may[pkg] {
			t.Errorf("%s has %d doc comments with “what”, “those of” and the like, and may have %d:\n%s",
				pkg, have[pkg], may[pkg], strings.Join(where[pkg], "\n"))
		}
	}
	if *lower {
		if err := os.WriteFile(list, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestVagueComments(t *testing.T) {
	t.Parallel()
	source := "// Package p is what it is.\npackage p\n\n// A is the sum of B. It is that\n// of C.\nvar A int\n\n" +
		"// T is a noun.\ntype T struct {\n\t// F are those that fit.\n\tF int // what\n}\n\n// what comes first\n\nfunc f() {\n\t// what\n}\n"
	var lines []int
	for _, f := range vagueComments(t, "p.go", source) {
		lines = append(lines, f.Line)
	}
	if want := []int{1, 4, 10}; !slices.Equal(lines, want) {
		t.Errorf("lines %v, want %v", lines, want)
	}
}
