// Package models holds the models that are part of the program: small English masked language
// models, so that filling blanks needs neither network nor files.
//
// Each has a folder, whose README.md is its card (data, licences, training, accuracy, limits).
// train/ is the program that made them.
package models

import (
	"embed"
	"io/fs"

	"infill/models/weights"
)

//go:embed default/model.onnx default/model.safetensors default/config.json
//go:embed default/vocab.txt default/tokenizer_config.json default/README.md
var files embed.FS

// An Embedded is a model that is part of the program.
type Embedded struct {
	Name string
	// Note says in a line what the model is for.
	Note string
}

// All lists the models of the program, the default one first.
func All() []Embedded {
	return []Embedded{
		{"default", "English, lower case, small; its card says what it was trained on"},
	}
}

// Find returns the folder of a model of the program: model.onnx (the graph, whose weights are
// external data in model.safetensors), model.safetensors (float16), config.json, vocab.txt,
// tokenizer_config.json and the card README.md, all at the root. The files are read-only. ok is
// false if the program has no model of that name.
func Find(name string) (fsys fs.FS, ok bool) {
	for _, m := range All() {
		if m.Name == name {
			sub, err := fs.Sub(files, name)
			if err != nil {
				panic(err) // unreachable: the folder's name is a valid constant
			}
			return weights.Expand(sub), true
		}
	}
	return nil, false
}

// Default returns the folder of the default model, as Find describes it.
func Default() fs.FS {
	fsys, _ := Find(All()[0].Name)
	return fsys
}
