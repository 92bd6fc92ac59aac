package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"infill/infill/settings"
	"infill/internal/disk"
	"infill/internal/nearest"
	"infill/internal/program"
	"infill/mlm"
	"infill/models"
	"infill/models/hub"
	"infill/models/weights"
)

// A source is where a model comes from.
type source struct {
	part string // name of a model that is part of the program, "" for one on the disk
	dir  string // of a model on the disk
	file string // the ONNX file in it, "" for the usual names
}

// resolveModel turns a model's name or path into its source. A file or folder of that name goes
// before the catalogue.
func resolveModel(name string) (source, error) {
	name = cmp.Or(name, settings.DefaultModel)
	if _, ok := models.Find(name); ok {
		return source{part: name}, nil
	}
	dir, file, err := mlm.Locate(name)
	switch {
	case err == nil:
		return source{dir: dir, file: file}, nil
	case strings.ContainsAny(name, `/\`) && !errors.Is(err, fs.ErrNotExist):
		return source{}, fmt.Errorf("model: %w", err)
	}
	catalogue, cache, cerr := modelShelf("")
	if cerr != nil {
		return source{}, cerr
	}
	m, cerr := catalogue.Find(name)
	if cerr != nil {
		err := unknownModel(catalogue, name)
		if strings.ContainsAny(name, `./\`) { // more likely a path, and no file is wrong usage
			err = errors.New(err.Error())
		}
		return source{}, err
	}
	if cache.State(m) != hub.Present {
		return source{}, fmt.Errorf("the model %s is not in the cache; infill model pull %s downloads "+
			"it (%s)", m.Name, m.Name, megabytes(m.Size()))
	}
	return source{dir: cache.Folder(m)}, nil
}

// modelShelf is the catalogue, with the models of a file or of INFILL_CATALOGUE, and the cache.
func modelShelf(file string) (*hub.Catalogue, hub.Cache, error) {
	if file == "" {
		file = os.Getenv(settings.EnvName("catalogue"))
	}
	catalogue, err := hub.Load(file)
	if err != nil {
		return nil, hub.Cache{}, hubError(err)
	}
	dir, err := disk.CacheDir("")
	return catalogue, hub.Cache{Dir: filepath.Join(dir, "models")}, err
}

// hubError makes the errors that the command line is to blame for usage errors. A file that cannot
// be read is trouble, as that of every flag is.
func hubError(err error) error {
	var file *fs.PathError
	if errors.Is(err, hub.ErrUnknown) || errors.Is(err, hub.ErrCatalogue) && !errors.As(err, &file) {
		return &program.UsageError{Text: err.Error()}
	}
	return err
}

func unknownModel(c *hub.Catalogue, name string) error {
	var names, longer []string
	for _, m := range models.All() {
		names = append(names, m.Name)
	}
	embedded := strings.Join(names, " and ")
	for _, m := range c.Models {
		names = append(names, m.Name)
		if strings.HasPrefix(m.Name, name) {
			longer = append(longer, m.Name)
		}
	}
	// The hub has an owner before the name.
	for _, s := range names {
		if base := filepath.Base(name); base != name && strings.EqualFold(base, s) {
			return usagef("no model and no folder is called %q; did you mean %s?", name, s)
		}
	}
	if len(longer) > 0 {
		return usagef("no model and no folder is called %q; there are %s", name, strings.Join(longer,
			", "))
	}
	if s := nearest.Name(name, names); s != "" {
		return usagef("no model and no folder is called %q; did you mean %s?", name, s)
	}
	return usagef("no model and no folder is called %q; the program has %s; infill model list "+
		"shows the others; or give the path of a folder with model.onnx", name, embedded)
}

// files are the source's files, the weights as other programs read them.
func (s source) files() fs.FS {
	if fsys, ok := models.Find(s.part); ok {
		return fsys
	}
	return weights.Expand(os.DirFS(s.dir))
}

// same reports whether another source has the same model, which is the given file of s. Without
// the name of a file, model.onnx is looked for first.
func (s source) same(other source, file string) bool {
	if other.file != s.file && cmp.Or(other.file, "model.onnx") != file {
		return false
	}
	if s.part != "" || other.part != "" {
		return s.part == other.part
	}
	return sameOnDisk(s.dir, other.dir)
}

// open loads the model. What was pulled must have the hash that it had then.
func (s source) open(ctx context.Context, opt mlm.Options) (*mlm.Model, error) {
	if s.part != "" {
		return mlm.Open(ctx, s.files(), opt)
	}
	m, err := mlm.OpenDir(ctx, s.dir, opt)
	if err != nil {
		return nil, err
	}
	if err := s.changed(m.Info()); err != nil {
		return nil, errors.Join(m.Close(), fmt.Errorf("%s: %s: %w", s.dir, m.Info().File, err))
	}
	return m, nil
}

// changed is an error if the ONNX file is that of a pulled model, and not what was pulled. A folder
// may have been named by its path: the folder of the file says which model it is. Without a
// catalogue there is none to compare with.
func (s source) changed(opened mlm.Info) error {
	catalogue, cache, err := modelShelf("")
	if err != nil {
		return nil
	}
	file := filepath.Join(s.dir, filepath.FromSlash(opened.File))
	for _, m := range catalogue.Models {
		folder := cache.Folder(m)
		for _, f := range m.Files {
			if !sameOnDisk(file, filepath.Join(folder, filepath.FromSlash(f.Path))) {
				continue
			}
			if want := cache.Expected(m, f); want != "" && want != opened.FileSHA256 {
				return fmt.Errorf("%w: it has SHA-256 %s, should have %s; infill model pull %s fetches it "+
					"again", hub.ErrMismatch, opened.FileSHA256, want, m.Name)
			}
			return nil
		}
		if s.file == "" && sameOnDisk(s.dir, folder) {
			return fmt.Errorf("%w: it is not a file of the model %s; infill model pull %s removes it",
				hub.ErrMismatch, m.Name, m.Name)
		}
	}
	return nil
}

// sameOnDisk reports whether two paths lead to one file or folder that is there.
func sameOnDisk(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// megabytes writes a size for people.
func megabytes(n int64) string {
	switch {
	case n < 1e6:
		return fmt.Sprintf("%.0f kB", max(float64(n)/1e3, 1))
	case n < 1e7:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.0f MB", float64(n)/1e6)
}
