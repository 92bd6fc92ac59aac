// Package open opens models by their names: those of the program, folders and files, and models of
// the hub that were pulled. They can use all devices that the module knows.
package open

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"infill/infill"
	"infill/infill/text"
	"infill/mlm"
	"infill/mlm/device/known"
	"infill/models"
	"infill/models/hub"
	"infill/models/weights"
)

// Engine opens a model and returns an engine on it. Without a name it is the default model, which
// is part of the program. A name is one that [Find] finds. The engine computes on all cores of the
// processor, and results do not depend on their number. Its precision is [mlm.Auto]. For other
// options of the model there are [Model] and [infill.New].
//
// Errors come from [Model], or wrap [text.ErrOption] for more than one name.
func Engine(name ...string) (*infill.Engine, error) {
	if len(name) > 1 {
		return nil, fmt.Errorf("%w: %d models to open; want one, or none for the default",
			text.ErrOption, len(name))
	}
	m, err := Model(context.Background(), strings.Join(name, ""),
		mlm.Options{Threads: min(runtime.GOMAXPROCS(0), mlm.MaxThreads), Precision: mlm.Auto,
			Forward: true})
	if err != nil {
		return nil, err
	}
	return infill.New(m), nil
}

// A Source is where a model comes from.
type Source struct {
	Part string // the name of a model that is part of the program, "" for one on the disk
	Dir  string // the folder of one on the disk
	File string // the ONNX file in it, "" for the usual names
}

// Find finds a model. The name is one of package models, "" for the default, a folder, an ONNX
// file, or a model of package hub that was pulled: a short name, OWNER/NAME or OWNER/NAME@REVISION.
// A file or folder of that name goes before those of the hub. file is the ONNX file in the folder,
// "" for the usual one. Nothing is downloaded.
//
// Errors wrap [hub.ErrUnknown] or [text.ErrOption], are of type *[hub.PullError], or come from
// the file system.
func Find(name, file string) (Source, error) {
	name = cmp.Or(name, models.All()[0].Name)
	if _, ok := models.Find(name); ok {
		return Source{Part: name, File: file}, nil
	}
	dir, own, err := mlm.Locate(name)
	switch {
	case err == nil && own != "" && file != "":
		return Source{}, fmt.Errorf("%w: two files of a model: %s and %s", text.ErrOption, name, file)
	case err == nil:
		return Source{Dir: dir, File: cmp.Or(own, file)}, nil
	// A file called OWNER has no folder NAME.
	case strings.ContainsAny(name, `/\`) && !errors.Is(err, fs.ErrNotExist) &&
		!errors.Is(err, syscall.ENOTDIR):
		return Source{}, fmt.Errorf("model: %w", err)
	}
	cache, err := hub.UserCache()
	if err != nil {
		return Source{}, err
	}
	dir, file, err = cache.Locate(name, file)
	if errors.Is(err, hub.ErrUnknown) {
		err = fmt.Errorf("%w, and no folder or file; the program has default and small", err)
	}
	return Source{Dir: dir, File: file}, err
}

// Files are the source's files, the weights as other programs read them.
func (s Source) Files() fs.FS {
	if fsys, ok := models.Find(s.Part); ok {
		return fsys
	}
	return weights.Expand(os.DirFS(s.Dir))
}

// Open loads the model. The source's File replaces o.File. Without o.Devices they are all that the
// module knows. A file that was pulled must still have the same hash. Errors come from [mlm.Open],
// or are of type *[hub.PullError].
func (s Source) Open(ctx context.Context, o mlm.Options) (*mlm.Model, error) {
	o = withDevices(o)
	o.File = s.File
	if s.Part != "" {
		return mlm.Open(ctx, s.Files(), o)
	}
	m, err := mlm.OpenDir(ctx, s.Dir, o)
	if err != nil {
		return nil, err
	}
	cache, err := hub.UserCache()
	if err != nil { // then there is none to compare with
		return m, nil
	}
	info := m.Info()
	if err := cache.Compare(s.Dir, info.File, info.FileSHA256, s.File != ""); err != nil {
		return nil, errors.Join(m.Close(), fmt.Errorf("%s: %s: %w", s.Dir, info.File, err))
	}
	return m, nil
}

// Model opens the model of a name, see [Find] and [Source.Open].
func Model(ctx context.Context, name string, o mlm.Options) (*mlm.Model, error) {
	file := o.File
	if file != "" {
		file = filepath.ToSlash(filepath.Clean(file))
	}
	s, err := Find(name, file)
	if err != nil {
		return nil, err
	}
	return s.Open(ctx, o)
}

// Network opens a network that predicts no words, see [mlm.OpenNetwork].
func Network(ctx context.Context, dir, output string, o mlm.Options) (*mlm.Network, error) {
	return mlm.OpenNetwork(ctx, dir, output, withDevices(o))
}

func withDevices(o mlm.Options) mlm.Options {
	if o.Devices == nil {
		o.Devices = known.Devices()
	}
	return o
}
