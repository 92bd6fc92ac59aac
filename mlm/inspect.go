package mlm

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"infill/mlm/onnx"
	"infill/mlm/onnxgrad"
	"infill/tokenize"
)

// Inspect recognises what it can of a model without opening it: parts that are missing or broken are
// named in problems, the others are described. file is as in [Options]. What was recognised has passed the
// same checks as in [Open]; that the runtime accepts the model is not among them.
func Inspect(fsys fs.FS, file string) (info Info, problems []error) {
	name, err := findModelFile(fsys, file)
	if err != nil {
		name = file
		problems = append(problems, err)
	}
	info = Info{File: name}
	var parsed *onnx.Model
	if err == nil {
		if parsed, err = onnx.Load(fsys, name); err != nil {
			problems = append(problems, err)
		}
	}
	if parsed != nil {
		problems = append(problems, inspectGraph(fsys, name, parsed, &info)...)
	}
	files := beside(fsys, name)
	cfg, err := readConfig(files)
	if err != nil {
		problems = append(problems, err)
	}
	info.Architecture = cfg.architecture()
	tok, err := tokenize.Load(files)
	if err != nil {
		return info, append(problems, fmt.Errorf("the tokenizer: %w", err))
	}
	info.Tokens, info.MaskID, info.Mask = tok.VocabSize(), tok.MaskID(), tok.Token(tok.MaskID())
	info.MaxLength = longest(cfg.positions(), tok.MaxLength())
	if info.Vocab > 0 {
		if err := checkVocabulary(info.Tokens, info.Vocab, !exists(files, "tokenizer.json"), cfg); err != nil {
			problems = append(problems, err)
		}
	}
	return info, problems
}

// InspectDir is [Inspect] for a folder of the disk, out of which no link leads.
func InspectDir(dir, file string) (Info, []error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Info{}, []error{fmt.Errorf("%w: %w", ErrNoModel, err)}
	}
	defer func() { _ = root.Close() }()
	return Inspect(root.FS(), file)
}

// inspectGraph describes a graph that has been read.
func inspectGraph(fsys fs.FS, name string, m *onnx.Model, info *Info) (problems []error) {
	sum, err := hashModel(fsys, name, m)
	if err != nil {
		problems = append(problems, err)
	}
	*info = describe(name, m, sum)
	m = onnxgrad.Widen(m)
	if err := inspect(info, m); err != nil {
		return append(problems, fmt.Errorf("%s: %w", name, err))
	}
	info.Head = headName(m)
	if info.NoGradients = integerProducts(info); info.NoGradients != "" {
		return problems
	}
	g, err := onnxgrad.Derive(m, onnxgrad.Options{})
	if err != nil {
		info.NoGradients = err.Error()
		var ferr error
		if g, ferr = onnxgrad.Derive(m, onnxgrad.Options{ForwardOnly: true}); ferr != nil {
			var op *onnxgrad.OpError
			if !errors.As(ferr, &op) && !errors.Is(ferr, onnxgrad.ErrEmbedding) { // those run as they are
				problems = append(problems, fmt.Errorf("%s: %w", name, ferr))
			}
			return problems
		}
	}
	info.Vocab, info.Hidden, info.Embedding, info.Tied, info.Gradients = g.Vocabulary, g.Dimension, g.Embedding, g.Tied, g.Gradient
	if info.Tied && info.Head != info.Embedding { // exported twice, one of them transposed
		info.Parameters -= stored(m, info.Head)
	}
	return problems
}

// beside is the folder of the tokenizer and config.json: the model file's, or that above its onnx folder.
func beside(fsys fs.FS, name string) fs.FS {
	if dir := path.Dir(name); dir != "." && fs.ValidPath(dir) {
		if sub, err := fs.Sub(fsys, dir); err == nil && exists(sub, "vocab.txt", "tokenizer.json", "vocab.json") {
			return sub
		}
	}
	return fsys
}
