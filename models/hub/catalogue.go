package hub

import (
	_ "embed"
	"encoding/json"
	"slices"
	"sync"
)

//go:embed catalogue.json
var builtin []byte

// Catalogue lists the models that have a short name, with the hashes of all their files.
var Catalogue = sync.OnceValue(func() []*Model {
	var all []*Model
	if err := json.Unmarshal(builtin, &all); err != nil {
		panic(err) // unreachable: a test parses it
	}
	return all
})

// find returns the model of the catalogue that has a name, nil if there is none.
func find(name string) *Model {
	for _, m := range Catalogue() {
		if m.Name == name {
			return m
		}
	}
	return nil
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
