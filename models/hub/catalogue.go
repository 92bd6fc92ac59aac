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
func find(name string) *Model { return first(func(m *Model) bool { return m.Name == name }) }

// ForScript is the first model of the catalogue for a script, nil if there is none.
func ForScript(script string) *Model {
	return first(func(m *Model) bool { return slices.Contains(m.Scripts, script) })
}

func first(is func(*Model) bool) *Model {
	if i := slices.IndexFunc(Catalogue(), is); i >= 0 {
		return Catalogue()[i]
	}
	return nil
}
