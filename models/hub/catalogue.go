package hub

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

//go:embed catalogue.json
var builtin []byte

// Catalogue lists the models that have a short name. Their files are pinned, but for a few.
var Catalogue = sync.OnceValue(func() []*Model {
	var all []*Model
	if err := json.Unmarshal(builtin, &all); err != nil {
		panic(err) // unreachable: a test parses it
	}
	return all
})

// Find returns the model of the catalogue that has a name. An error wraps [ErrUnknown].
func Find(name string) (*Model, error) {
	for _, m := range Catalogue() {
		if m.Name == name {
			return m, nil
		}
	}
	return nil, fmt.Errorf("%w: %q", ErrUnknown, name)
}

// alias names, in words, the models of the catalogue that are a repository's, "" if there is none.
func alias(id string) string {
	var names []string
	for _, m := range Catalogue() {
		if slices.ContainsFunc(m.Files, func(f *File) bool {
			return isExport(f.Path) && strings.HasPrefix(f.URL, "{hub}/"+id+"/resolve/")
		}) {
			names = append(names, m.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "; the same model is known as " + strings.Join(names, " and ")
}

// ForScript is the first model of the catalogue for a script, nil if there is none.
func ForScript(script string) *Model {
	for _, m := range Catalogue() {
		if slices.Contains(m.Scripts, script) {
			return m
		}
	}
	return nil
}
