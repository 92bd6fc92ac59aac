package batch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"infill/infill/batch/input"
	"infill/infill/batch/output"
	"infill/infill/settings"
	"infill/infill/table"
)

// ErrFolder is a folder whose files cannot become those of another.
var ErrFolder = errors.New("no files to work through")

// A Pair is a file of a folder, and the output that it becomes.
type Pair struct{ Input, Output string }

// extensions are the endings of the names of outputs.
var extensions = map[settings.Format]string{
	settings.FormatJSONL: ".jsonl", settings.FormatJSON: ".json", settings.FormatCSV: ".csv",
	settings.FormatTSV: ".tsv", settings.FormatParquet: ".parquet",
}

// A Folder is files that become those of another folder, each as if it were given by itself.
type Folder struct {
	Pairs  []Pair      // in the order of their names
	Passed []string    // names of files that are passed over
	Mode   output.Mode // of each output

	input  input.Options
	layout output.Layout
	looks  []look // of each pair
}

// A look is what is known of a file before any is worked through.
type look struct {
	lines bool  // it has lines with settings of their own
	bad   error // it cannot be read, which ends none of the others
}

// A Result is what became of a file of a folder.
type Result struct {
	Pair
	Progress Progress
	Err      error
	// Own says that the file or its output caused the error. The other files go on.
	Own bool
}

// OpenFolder finds the files of a folder, with the outputs in another folder that have the same
// names and the extension of the layout's format, JSON lines for FormatAuto. Compressed files have
// compressed outputs, if the format is one that can be. If the format of inputs is FormatAuto, only
// those are listed whose names say one, see [settings.FormatOf], and a file of Arrow is an error.
// Hidden files, folders, what is not a regular file, and what infill puts beside a file are never
// listed. They are passed over, and named but for hidden ones and manifests. Neither folder is
// touched. The error wraps [ErrFolder], [output.ErrIsInput], [table.ErrTable] for Arrow, or says
// why the folder could not be read.
func OpenFolder(from, to string, in input.Options, l output.Layout) (*Folder, error) {
	f := &Folder{input: in, layout: l}
	l.Format = max(l.Format, settings.FormatJSONL)
	entries, err := os.ReadDir(from) // in order
	if err != nil {
		return nil, err
	}
	if err := placeOfFolder(from, to); err != nil {
		return nil, err
	}
	ending, _ := output.Beside("")
	of := map[string]string{} // the input of each output
	var inputs []os.FileInfo
	for _, e := range entries {
		name := e.Name()
		path := filepath.Join(from, name)
		if in.Format == settings.FormatAuto && input.Arrow(name) {
			return nil, fmt.Errorf("%s: %w", path, input.Foreign(name)) // not passed over unseen
		}
		info, err := os.Stat(path)
		switch {
		case strings.HasPrefix(name, "."), strings.HasSuffix(name, ending):
			continue
		case err != nil || !info.Mode().IsRegular(), besideOutput(name),
			in.Format == settings.FormatAuto && settings.FormatOf(name) == settings.FormatAuto:
			f.Passed = append(f.Passed, name)
			continue
		}
		out := nameOf(l, name)
		if other, ok := of[out]; ok {
			return nil, fmt.Errorf("%w: %s and %s in %s would both become %s; rename one of them",
				ErrFolder, other, name, from, out)
		}
		of[out] = name
		f.Pairs, inputs = append(f.Pairs, Pair{path, filepath.Join(to, out)}), append(inputs, info)
	}
	if len(f.Pairs) == 0 {
		return nil, fmt.Errorf("%w: %s has none whose name says what it holds, such as .txt or "+
			".jsonl; name them so, or name their format", ErrFolder, from)
	}
	if err := placeOfPairs(f.Pairs, inputs); err != nil {
		return nil, err
	}
	return f, nil
}

// Check opens each file and looks at the place of its output, before any work is done. It returns
// what ends the whole. What is a file's own is a [Result] of Run.
func (f *Folder) Check() (wrong []error) {
	f.looks = make([]look, len(f.Pairs))
	for i, p := range f.Pairs {
		in, err := input.Open(p.Input, nil, f.input)
		if err == nil {
			f.looks[i].lines = in.Format().JSON()
			err = in.Close()
		}
		if own(err, p) {
			f.looks[i].bad, err = err, nil
		}
		if err == nil && f.Mode == output.Create {
			err = f.layout.Free(p.Output)
		}
		if err != nil {
			wrong = append(wrong, err)
		}
	}
	return wrong
}

// Run works through the files that Check has seen by do, one after the other, and ends after an
// error that is not a file's own. lines says that the file is of JSON, and its lines may have
// settings.
func (f *Folder) Run(do func(p Pair, lines bool) (Progress, error)) iter.Seq[Result] {
	return func(yield func(Result) bool) {
		for i, p := range f.Pairs {
			r := Result{Pair: p, Err: f.looks[i].bad}
			if r.Err == nil {
				r.Progress, r.Err = do(p, f.looks[i].lines)
			}
			r.Own = own(r.Err, p)
			if !yield(r) || r.Err != nil && !r.Own {
				return
			}
		}
	}
}

// own reports whether the file or its output caused the error, so that others may go on.
func own(err error, p Pair) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, ErrTooMany) {
		return false
	}
	var path *fs.PathError
	return input.Damaged(err) || errors.Is(err, table.ErrTable) || errors.Is(err, input.ErrNotLines) ||
		errors.Is(err, output.ErrMismatch) || errors.Is(err, output.ErrManifest) ||
		errors.Is(err, table.ErrCell) || errors.As(err, &path) && path.Path == p.Input
}

// placeOfPairs refuses outputs that would write over an input of any of them, through a link.
func placeOfPairs(pairs []Pair, inputs []os.FileInfo) error {
	for _, p := range pairs {
		manifest, part := output.Beside(p.Output)
		for _, path := range []string{p.Output, manifest, part} {
			info, err := os.Stat(path)
			if err != nil {
				continue // what cannot be read is refused when it is opened
			}
			for i, in := range inputs {
				if os.SameFile(info, in) {
					return fmt.Errorf("%w: %s is %s; name another folder", output.ErrIsInput, path, pairs[i].Input)
				}
			}
		}
	}
	return nil
}

// placeOfFolder refuses a folder that outputs cannot be put into.
func placeOfFolder(from, to string) error {
	is, err := os.Stat(to)
	switch {
	case errors.Is(err, os.ErrNotExist):
		if _, err := os.Stat(filepath.Dir(filepath.Clean(to))); err != nil {
			return fmt.Errorf("%s: its folder: %w; make it first", to, err)
		}
		return nil
	case err != nil:
		return err
	case !is.IsDir():
		return fmt.Errorf("%w: %s is not a folder, and the outputs of one go into another", ErrFolder, to)
	}
	if was, err := os.Stat(from); err != nil || os.SameFile(was, is) {
		return errors.Join(err, fmt.Errorf("%w: %s; name another folder", output.ErrIsInput, to))
	}
	return nil
}

// besideOutput reports whether a file is one that a run has beside its output.
func besideOutput(name string) bool {
	manifest, part := output.Beside("")
	return strings.HasSuffix(name, manifest) || strings.HasSuffix(name, part)
}

// nameOf is the name of the output of a file.
func nameOf(l output.Layout, name string) string {
	packed := ""
	if ext := strings.ToLower(filepath.Ext(name)); ext == ".gz" || ext == ".zst" {
		name = name[:len(name)-len(ext)]
		if l.Format != settings.FormatParquet {
			packed = ext
		}
	}
	if settings.FormatOf(name) != settings.FormatAuto {
		name = name[:len(name)-len(filepath.Ext(name))]
	}
	return name + extensions[l.Format] + packed
}
