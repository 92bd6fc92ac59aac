// Package models holds the default model: a small English masked language model that is part of the
// program, so that filling blanks needs neither network nor files.
//
// default/README.md is its card (data, licences, training, accuracy, limits); train/ is the
// program that made it.
package models

import (
	"embed"
	"io/fs"
)

//go:embed default/model.onnx default/model.safetensors default/config.json
//go:embed default/vocab.txt default/tokenizer_config.json default/README.md
var files embed.FS

// Default returns the default model's folder: model.onnx (the graph, whose weights are external
// data in model.safetensors), model.safetensors (float16), config.json, vocab.txt,
// tokenizer_config.json and the card README.md, all at the root. The files are read-only.
func Default() fs.FS {
	sub, err := fs.Sub(files, "default")
	if err != nil {
		panic(err) // unreachable: the folder's name is a valid constant
	}
	return sub
}
