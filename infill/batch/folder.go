package batch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"infill/infill/batch/input"
	"infill/infill/batch/output"
	"infill/infill/settings"
)

// ErrFolder is a folder whose files cannot become those of another.
var ErrFolder = errors.New("no files to work through")

// A Pair is a file of a folder, and the output that it becomes.
type Pair struct{ Input, Output string }

// extensions are those of outputs.
var extensions = map[settings.Format]string{
	settings.FormatJSONL: ".jsonl", settings.FormatJSON: ".json", settings.FormatCSV: ".csv",
	settings.FormatTSV: ".tsv", settings.FormatParquet: ".parquet",
}

// Folder lists the files of a folder in the order of their names, with the outputs in another
// folder that have the same names and the extension of the layout's format, JSON lines for
// FormatAuto. Compressed files have compressed outputs, if the format is one that can be. format is
// that of the files. With FormatAuto only those are listed whose names say one, see
// [settings.FormatOf], and a file of Arrow is an error. Hidden files, folders, what is not a
// regular file, and what infill puts beside a file are never listed; passed are their names, but
// for hidden ones and manifests. Neither folder is touched. The error wraps [ErrFolder],
// [output.ErrIsInput], [table.ErrTable] for Arrow, or is that of reading the folder.
func Folder(l output.Layout, from, to string, format settings.Format) (pairs []Pair,
	passed []string, err error) {
	l.Format = max(l.Format, settings.FormatJSONL)
	entries, err := os.ReadDir(from) // in order
	if err != nil {
		return nil, nil, err
	}
	if err := placeOfFolder(from, to); err != nil {
		return nil, nil, err
	}
	of := map[string]string{} // the input of each output
	var inputs []os.FileInfo
	for _, e := range entries {
		name := e.Name()
		path := filepath.Join(from, name)
		if format == settings.FormatAuto && input.Arrow(name) {
			return nil, nil, fmt.Errorf("%s: %w", path, input.Foreign(name)) // not passed over unseen
		}
		info, err := os.Stat(path)
		switch {
		case strings.HasPrefix(name, "."), strings.HasSuffix(name, output.ManifestPath("")):
			continue
		case err != nil || !info.Mode().IsRegular(), besideOutput(name),
			format == settings.FormatAuto && settings.FormatOf(name) == settings.FormatAuto:
			passed = append(passed, name)
			continue
		}
		out := nameOf(l, name)
		if other, ok := of[out]; ok {
			return nil, nil, fmt.Errorf("%w: %s and %s in %s would both become %s; rename one of them",
				ErrFolder, other, name, from, out)
		}
		of[out] = name
		pairs, inputs = append(pairs, Pair{path, filepath.Join(to, out)}), append(inputs, info)
	}
	if len(pairs) == 0 {
		return nil, nil, fmt.Errorf("%w: %s has none whose name says what it holds, such as .txt or "+
			".jsonl; name them so, or name their format", ErrFolder, from)
	}
	return pairs, passed, placeOfPairs(pairs, inputs)
}

// placeOfPairs refuses outputs that would write over an input of any of them, through a link.
func placeOfPairs(pairs []Pair, inputs []os.FileInfo) error {
	for _, p := range pairs {
		own := []string{p.Output, output.ManifestPath(p.Output), output.PartPath(p.Output)}
		for _, path := range own {
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
	return strings.HasSuffix(name, output.ManifestPath("")) ||
		strings.HasSuffix(name, output.PartPath(""))
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
