package outside

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"go/parser"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"infill/internal/testmode"
)

var budgets = flag.Bool("budgets", false, "write budget.txt again, with what every package has")

// size is what a package may have.
type size struct{ lines, doc int }

// add is the size of two packages together.
func (s size) add(o size) size { return size{s.lines + o.lines, s.doc + o.doc} }

// TestBudget holds every package against budget.txt: lines of Go without tests, and lines that
// "go doc -all" prints of it, which is what its users have to know. A change that needs more changes the number in the same commit,
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
			t.Errorf("%s is not in budget.txt: it has %d lines, and %d of go doc", pkg, is.lines, is.doc)
		case is.lines > limit.lines || is.doc > limit.doc:
			t.Errorf("%s has %d lines and %d of go doc, and its budget is %d and %d", pkg,
				is.lines, is.doc, limit.lines, limit.doc)
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
	for pkg := range sources(t, parser.ImportsOnly) {
		if doesNotShip(pkg) {
			continue
		}
		s := size{doc: docLines(t, filepath.Join(root, filepath.FromSlash(pkg)))}
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

// docLines counts the lines that go doc prints of the package in a folder.
func docLines(t *testing.T, dir string) int {
	t.Helper()
	cmd := exec.Command("go", "doc", "-all")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go doc of %s: %v", dir, err)
	}
	return bytes.Count(out, []byte("\n"))
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
		if _, err := fmt.Sscan(lines.Text(), &pkg, &s.lines, &s.doc); err != nil {
			t.Fatalf("budget.txt: %q: %v", lines.Text(), err)
		}
		out[pkg] = s
	}
	return out
}

func writeBudgets(t *testing.T, have map[string]size) {
	t.Helper()
	var b strings.Builder
	b.WriteString("# What a package may have: lines of Go without tests, lines that go doc -all prints.\n" +
		"# TestBudget holds it. Who needs more changes a number here, and the commit says why.\n")
	for _, pkg := range slices.Sorted(maps.Keys(have)) {
		s := have[pkg]
		fmt.Fprintf(&b, "%-36s %6d %5d\n", pkg, s.lines, s.doc)
	}
	if err := os.WriteFile(budgetFile, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
