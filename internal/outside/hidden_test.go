package outside

import (
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"infill/internal/testmode"
)

// TestHiddenTypes: users can name, and go doc shows, every type that they are handed. It looks for
// exported functions, methods, fields, variables and constants whose type is not exported.
func TestHiddenTypes(t *testing.T) {
	t.Parallel()
	root := testmode.Root(t)
	module := modulePath(t, root)
	exports := map[string]string{}
	list := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "./...")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[name] = file
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	imports := importer.ForCompiler(token.NewFileSet(), "gc", open)
	found := map[string]bool{}
	for path := range exports {
		pkg, ours := strings.CutPrefix(path, module+"/")
		if !ours || doesNotShip(pkg) || exports[path] == "" { // "": nothing but tests
			continue
		}
		p, err := imports.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range p.Scope().Names() {
			hidden(p.Scope().Lookup(name), pkg, module, found)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		t.Errorf("%s has a type that is not exported", name)
	}
}

// hidden notes in found what of an object, its fields and its methods has a hidden type.
func hidden(o types.Object, in, module string, found map[string]bool) {
	if !o.Exported() {
		return
	}
	name := in + "." + o.Name()
	kind, isType := o.(*types.TypeName)
	if !isType {
		found[name] = found[name] || hides(o.Type(), module)
		if !found[name] {
			delete(found, name)
		}
		return
	}
	switch u := kind.Type().Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			hidden(f, name, module, found)
		}
	case *types.Interface:
		for m := range u.Methods() {
			hidden(m, name, module, found)
		}
	}
	if named, ok := kind.Type().(*types.Named); ok {
		for m := range named.Methods() {
			hidden(m, name, module, found)
		}
	}
}

// hides reports whether a type of the module without an exported name is part of a type.
func hides(t types.Type, module string) bool {
	switch t := t.(type) {
	case *types.Named:
		o := t.Obj()
		hidden := !o.Exported() && o.Pkg() != nil && strings.HasPrefix(o.Pkg().Path(), module+"/")
		return hidden || slices.ContainsFunc(slices.Collect(t.TypeArgs().Types()),
			func(a types.Type) bool { return hides(a, module) })
	case *types.Map:
		return hides(t.Key(), module) || hides(t.Elem(), module)
	case interface{ Elem() types.Type }:
		return hides(t.Elem(), module)
	case *types.Signature:
		for _, of := range []*types.Tuple{t.Params(), t.Results()} {
			for v := range of.Variables() {
				if hides(v.Type(), module) {
					return true
				}
			}
		}
	}
	return false
}
