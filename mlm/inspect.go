package mlm

import (
	"context"
	"fmt"
	"io/fs"

	"infill/mlm/internal/source"
	"infill/mlm/onnx"
	"infill/mlm/onnxgrad"
	"infill/tokenize"
)

// Inspect recognises what it can of a model without opening it: parts that are missing or broken
// are named in problems, the others are described. file is as in [Options]. What was recognised has
// passed the same checks as in [Open]; that the runtime accepts the model is not among them.
func Inspect(fsys fs.FS, file string) (info Info, problems []error) {
	files, err := source.Find(fsys, file)
	if fsys == nil {
		return Info{File: file}, []error{err}
	}
	f := &facts{Info: Info{File: file}}
	if err != nil {
		problems = append(problems, err)
	} else {
		problems = append(problems, f.inspectGraph(files)...)
	}
	cfg, err := files.Config()
	if err != nil {
		problems = append(problems, err)
	}
	f.addConfig(cfg)
	tok, err := tokenize.Load(files.Beside)
	if err != nil {
		f.addWarnings()
		return f.Info, append(problems, fmt.Errorf("the tokenizer: %w", err))
	}
	f.addTokenizer(tok, files)
	if f.Vocab > 0 {
		if err := f.check(); err != nil {
			problems = append(problems, err)
		}
	}
	f.addWarnings()
	return f.Info, problems
}

// InspectDir is [Inspect] for a folder of the disk, with the links that [OpenDir] follows.
func InspectDir(dir, file string) (Info, []error) {
	from, done, err := source.Open(dir)
	if err != nil {
		return Info{}, []error{err}
	}
	defer done()
	return Inspect(from.FS, file)
}

// inspectGraph reads the model file and describes its graph.
func (f *facts) inspectGraph(files source.Files) (problems []error) {
	name := files.Name
	f.File = name
	m, err := onnx.Load(files.FS, name)
	if err != nil {
		return []error{err}
	}
	sum, err := files.Hash(context.Background(), m.External(name)...)
	if err != nil {
		problems = append(problems, err)
	}
	x, err := f.addFile(name, onnxgrad.Widen(m), nil)
	f.SHA256, f.FileSHA256 = sum.All, sum.File
	if err != nil {
		return append(problems, fmt.Errorf("%s: %w", name, err))
	}
	if f.NoGradients = x.NoDerivative(); f.NoGradients == "" {
		_, a, err := differentiate(x.Freed(), onnxgrad.Options{})
		switch {
		case err == nil:
			f.addGraph(a)
		case !f.runsAsIs(err):
			problems = append(problems, fmt.Errorf("%s: %w", name, err))
		}
	}
	f.addHead(x)
	f.newHead = x.NewHead()
	return problems
}
