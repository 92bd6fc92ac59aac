package outside

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"infill/internal/testmode"
)

// helpers are the packages that do not ship: tests, their helpers, the lab, and what makes releases.
var helpers = []string{
	"internal/ort/orttest", "internal/outside", "internal/prose", "internal/testmode",
	"infill/batch/input/inputtest", "lab", "mlm/device/devicetest",
	"models/hub/hubtest",
	"models/train", "server/browser", "tokenize/tokenizetest",
}

// doesNotShip reports whether a package is one of helpers, or below one.
func doesNotShip(pkg string) bool {
	return slices.ContainsFunc(helpers, func(h string) bool {
		return pkg == h || strings.HasPrefix(pkg, h+"/")
	})
}

// architecture reads docs/architecture.md.
func architecture(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testmode.Root(t), "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sources parses the Go files of the module that are no tests, by package.
func sources(t *testing.T, mode parser.Mode) map[string][]*ast.File {
	t.Helper()
	root := testmode.Root(t)
	packages := map[string][]*ast.File{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == "testdata" || d.Name() == "dist" ||
				strings.HasPrefix(d.Name(), ".") && name != root {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, mode)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(name))
		dir = filepath.ToSlash(dir)
		packages[dir] = append(packages[dir], file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return packages
}

// TestImports holds the imports of every package against imports.txt and the table of
// docs/architecture.md.
func TestImports(t *testing.T) {
	t.Parallel()
	_, table, ok := strings.Cut(architecture(t), "<!-- packages")
	table, _, ok2 := strings.Cut(table, "<!-- end of packages -->")
	if !ok || !ok2 {
		t.Fatal("docs/architecture.md has no table of packages")
	}
	name := regexp.MustCompile("`([^`]+)`")
	var order []string
	allowed := map[string][]string{}
	for line := range strings.Lines(table) {
		if m := name.FindStringSubmatch(line); m != nil && strings.HasPrefix(line, "|") {
			order = append(order, m[1])
		}
	}
	list, err := os.ReadFile("imports.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(list)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		pkg, imports, _ := strings.Cut(line, ":")
		at := slices.Index(order, pkg)
		if at < 0 || allowed[pkg] != nil {
			t.Errorf("%s is not in the table, or twice in the list", pkg)
			continue
		}
		for _, own := range strings.Fields(imports) {
			if !strings.Contains(own, ".") && !slices.Contains(order[:at], own) {
				t.Errorf("%s may import %s, which is not above it in the table", pkg, own)
			}
			allowed[pkg] = append(allowed[pkg], own)
		}
	}
	module := modulePath(t, testmode.Root(t))
	for pkg, files := range sources(t, parser.ImportsOnly) {
		if doesNotShip(pkg) {
			continue
		}
		if !slices.Contains(order, pkg) {
			t.Errorf("%s is not in the table", pkg)
			continue
		}
		for _, file := range files {
			for _, spec := range file.Imports {
				imported, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					t.Fatal(err)
				}
				own, inside := strings.CutPrefix(imported, module+"/")
				if first, _, _ := strings.Cut(imported, "/"); !inside && !strings.Contains(first, ".") {
					continue // the standard library
				}
				if !slices.ContainsFunc(allowed[pkg], func(a string) bool {
					return inside && own == a || !inside && strings.HasPrefix(imported+"/", a+"/")
				}) {
					t.Errorf("%s imports %s, which the list does not allow", pkg, imported)
				}
			}
		}
	}
	for _, pkg := range order {
		if _, err := os.Stat(filepath.Join(testmode.Root(t), filepath.FromSlash(pkg))); err != nil {
			t.Errorf("the table has %s: %v", pkg, err)
		}
	}
}

// TestImportsOfEngine: who fills with an open model carries neither the hub nor devices with it.
func TestImportsOfEngine(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("go", "list", "-deps", "./infill")
	cmd.Dir = testmode.Root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	module := modulePath(t, cmd.Dir)
	for _, pkg := range []string{"models", "models/hub", "mlm/device/known", "mlm/device/cuda",
		"infill/open"} {
		if slices.Contains(strings.Fields(string(out)), module+"/"+pkg) {
			t.Errorf("package infill needs %s", pkg)
		}
	}
}

// TestLab: the lab uses what any other program could.
func TestLab(t *testing.T) {
	t.Parallel()
	module, files := modulePath(t, testmode.Root(t)), 0
	for pkg, all := range sources(t, parser.ImportsOnly) {
		if !strings.HasPrefix(pkg, "lab/") {
			continue
		}
		for _, file := range all {
			files++
			for _, spec := range file.Imports {
				if strings.HasPrefix(strings.Trim(spec.Path.Value, `"`), module+"/internal/") {
					t.Errorf("%s imports %s", pkg, spec.Path.Value)
				}
			}
		}
	}
	if files < 100 {
		t.Errorf("only %d files", files)
	}
}

// TestArchitectureNames looks up every file, package and exported name that
// docs/architecture.md and CONTRIBUTING.md write as code.
func TestArchitectureNames(t *testing.T) {
	t.Parallel()
	root := testmode.Root(t)
	guide, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	exported := exportedNames(sources(t, 0))
	file := regexp.MustCompile(`^[\w.-]+(/[\w.-]+)*(\.(go|md|sh|svg|onnx)|/)$`)
	qualified := regexp.MustCompile(`^(\w+)\.([A-Z]\w*)$`)
	files, names := 0, 0
	for _, m := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(
		architecture(t)+string(guide), -1) {
		code := m[1]
		if file.MatchString(code) && strings.Contains(code, "/") {
			files++
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(code))); err != nil {
				t.Errorf("%s does not exist", code)
			}
		}
		if q := qualified.FindStringSubmatch(code); q != nil {
			names++
			if !exported[q[1]+"."+q[2]] {
				t.Errorf("%s is not an exported name", code)
			}
		}
	}
	if files < 40 || names < 5 {
		t.Errorf("only %d files and %d names found", files, names)
	}
}

// exportedNames lists "package.Name" and, for methods, "Type.Name". A package goes by
// the last part of its path.
func exportedNames(packages map[string][]*ast.File) map[string]bool {
	names := map[string]bool{}
	for pkg, files := range packages {
		pkg = path.Base(pkg)
		for _, f := range files {
			for _, d := range f.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					names[receiver(d, pkg)+"."+d.Name.Name] = true
				case *ast.GenDecl:
					for _, s := range d.Specs {
						switch s := s.(type) {
						case *ast.TypeSpec:
							names[pkg+"."+s.Name.Name] = true
						case *ast.ValueSpec:
							for _, n := range s.Names {
								names[pkg+"."+n.Name] = true
							}
						}
					}
				}
			}
		}
	}
	return names
}

// receiver is the name of a method's type, or else the package.
func receiver(d *ast.FuncDecl, pkg string) string {
	if d.Recv == nil {
		return pkg
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if generic, ok := typ.(*ast.IndexExpr); ok {
		typ = generic.X
	}
	if id, ok := typ.(*ast.Ident); ok {
		return id.Name
	}
	return pkg
}
