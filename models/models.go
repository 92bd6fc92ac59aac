// Package models holds the models that are part of the program: English masked language models, so
// that filling blanks needs neither network nor files.
//
// Each has a folder, whose README.md is its card (data, licences, training, accuracy, limits).
// train/ is the program that made them.
package models

import (
	"embed"
	"io/fs"

	"infill/models/weights"
)

//go:embed default/model.onnx default/model.stored.safetensors default/config.json
//go:embed default/lengths.safetensors small/lengths.safetensors
//go:embed default/vocab.txt default/tokenizer_config.json default/README.md default/LICENSE
//go:embed small/model.onnx small/model.stored.safetensors small/config.json
//go:embed small/vocab.txt small/tokenizer_config.json small/README.md
var files embed.FS

// An Embedded is a model that is part of the program.
type Embedded struct {
	Name string
	// Note says in a line what the model is for.
	Note string
	// Licence is the SPDX identifier of the licence of the weights.
	Licence string
}

// Bytes is what the model's files take in the program.
func (m Embedded) Bytes() (n int64) {
	list, err := files.ReadDir(m.Name)
	if err != nil {
		return 0
	}
	for _, d := range list {
		if info, err := d.Info(); err == nil {
			n += info.Size()
		}
	}
	return n
}

// All lists the models of the program, the default one first.
func All() []Embedded {
	return []Embedded{
		{"default", "English, lower case: BERT-base, taught to fill gaps, in 4 bits", "Apache-2.0"},
		{"small", "English, lower case: 9 million parameters, many times as fast", "MIT"},
	}
}

// Find returns the folder of a model of the program: model.onnx (the graph, whose weights are
// external data in model.safetensors), model.safetensors (float16), lengths.safetensors,
// config.json, vocab.txt, tokenizer_config.json, the card README.md, and LICENSE where it is not
// that of the program, all at the root. The files are read-only. ok is false if the program has no
// model of that name.
func Find(name string) (fsys fs.FS, ok bool) {
	for _, m := range All() {
		if m.Name == name {
			sub, err := fs.Sub(files, name)
			if err != nil {
				panic(err) // unreachable: the folder's name is a valid constant
			}
			return weights.Carded(sub, "README.md"), true // tests compare it with the files
		}
	}
	return nil, false
}

// Default returns the folder of the model that fills best, as Find describes it.
func Default() fs.FS { return find(0) }

// Small returns the folder of the model that fills fastest, as Find describes it.
func Small() fs.FS { return find(1) }

func find(i int) fs.FS {
	fsys, _ := Find(All()[i].Name)
	return fsys
}
