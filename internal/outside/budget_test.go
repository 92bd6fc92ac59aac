package outside

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"infill/internal/testmode"
)

var budgets = flag.Bool("budgets", false,
	"write budget.txt again, with what every package has and 3 % more")

// size is what a package may have.
type size struct{ lines, names int }

// add is the size of two packages together.
func (s size) add(o size) size { return size{s.lines + o.lines, s.names + o.names} }

// roomy is a size with 3 % more, rounded up.
func (s size) roomy() size { return size{s.lines + (s.lines*3+99)/100, s.names + (s.names*3+99)/100} }

// TestBudget holds every package against budget.txt: lines of Go without tests, and exported names
// of the package's top level. A change that needs more changes the number in the same commit,
// whose body says what it is worth. A package that shrinks lowers its number with -budgets.
func TestBudget(t *testing.T) {
	t.Parallel()
	have := sizes(t)
	if *budgets {
		writeBudgets(t, have)
	}
	may := readBudgets(t)
	for pkg, is := range have {
		limit, ok := may[pkg]
		switch {
		case !ok:
			t.Errorf("%s is not in budget.txt: it has %d lines and %d names", pkg, is.lines, is.names)
		case is.lines > limit.lines || is.names > limit.names:
			t.Errorf("%s has %d lines and %d exported names, and its budget is %d and %d", pkg,
				is.lines, is.names, limit.lines, limit.names)
		}
	}
	for pkg := range may {
		if _, ok := have[pkg]; !ok {
			t.Errorf("budget.txt has %s, which is gone", pkg)
		}
	}
}

// sizes measures the packages that ship, and those of the main module together as "total".
func sizes(t *testing.T) map[string]size {
	t.Helper()
	root := testmode.Root(t)
	out := map[string]size{}
	for pkg, files := range sources(t, parser.SkipObjectResolution) {
		if doesNotShip(pkg) {
			continue
		}
		var s size
		for _, f := range files {
			s.names += exported(f)
		}
		paths, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pkg), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			s.lines += bytes.Count(text, []byte("\n"))
		}
		out[pkg] = s
		if !strings.HasPrefix(pkg, "beam/") {
			out["total"] = out["total"].add(s)
		}
	}
	return out
}

// exported counts the exported names of a file's top level, none in a command.
func exported(f *ast.File) (n int) {
	count := func(names ...*ast.Ident) {
		for _, name := range names {
			if name.IsExported() && f.Name.Name != "main" {
				n++
			}
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				count(d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					count(s.Name)
				case *ast.ValueSpec:
					count(s.Names...)
				}
			}
		}
	}
	return n
}

func TestExported(t *testing.T) {
	t.Parallel()
	const text = "const A, b = 1, 2\nvar C int\ntype D struct{ E int }\nfunc (D) F() {}\nfunc G() {}\n"
	for head, want := range map[string]int{"package p\n": 4, "package main\n": 0} {
		f, err := parser.ParseFile(token.NewFileSet(), "p.go", head+text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := exported(f); got != want {
			t.Errorf("%q: %d names, want %d", head, got, want)
		}
	}
}

const budgetFile = "budget.txt"

func readBudgets(t *testing.T) map[string]size {
	t.Helper()
	file, err := os.Open(budgetFile)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // it was read
	out := map[string]size{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if lines.Text() == "" || strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		var pkg string
		var s size
		if _, err := fmt.Sscan(lines.Text(), &pkg, &s.lines, &s.names); err != nil {
			t.Fatalf("budget.txt: %q: %v", lines.Text(), err)
		}
		out[pkg] = s
	}
	return out
}

func writeBudgets(t *testing.T, have map[string]size) {
	t.Helper()
	var b strings.Builder
	b.WriteString("# What a package may have: lines of Go without tests, exported names of its top level.\n" +
		"# TestBudget holds it. Who needs more changes a number here, and the commit says why.\n")
	for _, pkg := range slices.Sorted(maps.Keys(have)) {
		s := have[pkg].roomy()
		fmt.Fprintf(&b, "%-36s %6d %4d\n", pkg, s.lines, s.names)
	}
	if err := os.WriteFile(budgetFile, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
