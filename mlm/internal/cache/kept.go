package cache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"infill/internal/disk"
	"infill/mlm/internal/source"
	"infill/mlm/onnx"
	"infill/models/weights"
)

// ErrEntry: a file of the cache is damaged, cut short, or of something else.
var ErrEntry = errors.New("not an entry of this cache")

// Weights of a stored model are kept in float16, in a file that the runtime maps. In memory they
// would lie beside what the runtime makes of them. All graphs of the model share the file. It has
// the bytes of weights.Given and ends with
//
//	keptMagic, SHA-256 of the key, SHA-256 of the model (both 32 bytes)
//
// The key is the hash of the model's files as they are stored, or of its card. The hash of the
// model, as hashModel has it, is computed where the file's size and time are not those that it was
// last computed for. What is used gets another time after recheck, so that damage is found then.

// keptMagic changes with the layout, and with the numbers that package weights gives.
const keptMagic = "infill weights 1"

const keptEnd = len(keptMagic) + 2*sha256.Size

// WithWeights has open make something of a folder, with its weights from the cache if they are
// stored in few bits and are to be had there. file is the model file, "" for the usual one. open
// also gives the hash of the model that it found.
func WithWeights[T io.Closer](ctx context.Context, s *Shelf, from source.Folder, file string,
	open func(source.Folder) (x T, model string, err error)) (T, error) {
	for try := 0; try < 2; try++ { // what is damaged is written again
		e := s.entry(ctx, from.FS, file)
		if e == nil {
			break
		}
		k, err := e.keep(ctx)
		if k == nil {
			if err != nil && ctx.Err() == nil {
				from.Unkept = err.Error()
			}
			break
		}
		over := keptFS{e.stored, k}
		x, model, err := open(source.Folder{FS: over, Name: from.Name, Kept: k})
		if err == nil && model == k.Model {
			if !k.Checked {
				e.remember(e.path, e.key)
			}
			return x, nil
		}
		if err == nil {
			_ = x.Close()
		} else if over.whole(ctx) { // something else is wrong, or may be
			break
		}
		_ = os.Remove(filepath.Join(k.Dir, k.Name)) // a file that is mapped stays on some systems
	}
	x, _, err := open(from)
	return x, err
}

// keep finds the weights of a stored model in the cache, or writes them. It gives nil if they are
// not to be had there, and an error if they ought to be. Where it can be seen that they cannot be
// written they are not expanded first.
func (e *entry) keep(ctx context.Context) (*source.Kept, error) {
	if k := e.read(); k != nil {
		k.Checked = e.seen(e.path, e.key)
		return k, nil
	}
	given := weights.Expand(e.stored)
	err := e.room(given)
	if err == nil {
		err = e.keepWeights(ctx, e.path, e.key, e.file, given)
	}
	switch {
	case errors.Is(err, errNotKept):
		return nil, nil
	case err != nil:
		return nil, err
	}
	e.prune()
	k := e.read()
	if k == nil {
		return nil, fmt.Errorf("%w: %s", ErrEntry, e.path)
	}
	return k, nil
}

// Unkept says why the weights of a model in fsys cannot be kept, "" if they can or need not be.
func (s *Shelf) Unkept(ctx context.Context, fsys fs.FS, file string) string {
	e := s.entry(ctx, fsys, file)
	if e == nil || e.read() != nil {
		return ""
	}
	if err := e.room(weights.Expand(e.stored)); err != nil && !errors.Is(err, errNotKept) {
		return err.Error()
	}
	return ""
}

// An entry is where weights of a stored model are kept, or would be.
type entry struct {
	*Shelf
	stored    fs.FS // the model's folder, with its stored file
	path, key string
	file      string // the model file, below its folder
}

// entry is the entry of a stored model, nil if the cache has none for it.
func (s *Shelf) entry(ctx context.Context, fsys fs.FS, file string) *entry {
	stored, card, ok := weights.Source(fsys)
	if !ok {
		return nil
	}
	info, err := fs.Stat(stored, weights.Stored)
	// Sixteen bits are made of four.
	if err != nil || s == nil || 4*info.Size() < s.max.Least {
		return nil
	}
	files, err := source.Find(stored, file)
	if err != nil {
		return nil
	}
	key, err := source.Hash(ctx, stored, files.Name, card)
	if err != nil {
		return nil
	}
	return &entry{s, stored, s.path("weights of "+key, weightsSuffix), key, files.Name}
}

func (e *entry) read() *source.Kept { return readKept(e.path, e.key, e.file) }

// room reports whether the weights in the given form can be written: errNotKept if they are too
// large for the cache, an error of disk.Room if the disk is in the way.
func (e *entry) room(given fs.FS) error {
	info, err := fs.Stat(given, weights.Given)
	if err != nil || info.Size() > e.max.Bytes/2-int64(keptEnd) {
		return errors.Join(errNotKept, err)
	}
	return disk.Room(e.dir, info.Size()+int64(keptEnd))
}

// errNotKept: weights that this cache has no place or no form for.
var errNotKept = errors.New("weights are not kept")

// keepWeights writes the weights of a model in the given form.
func (s *Shelf) keepWeights(ctx context.Context, path, key, name string, given fs.FS) error {
	m, err := onnx.Load(given, name)
	if err != nil {
		return err
	}
	if !slices.Equal(m.External(name), []string{weights.Given}) {
		return fmt.Errorf("%w: other files have some", errNotKept)
	}
	in, err := disk.OpenFS(given, weights.Given)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // opened for reading
	file, err := disk.OpenFS(given, name)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // opened for reading
	model := sha256.New()
	if _, err := io.Copy(model, disk.Stoppable(ctx, file)); err != nil {
		return err
	}
	return s.writeFunc(path, func(w io.Writer) error {
		if _, err := io.CopyBuffer(io.MultiWriter(w, model), disk.Stoppable(ctx, in),
			make([]byte, 1<<20)); err != nil {
			return err
		}
		of := sha256.Sum256([]byte(key))
		_, err := w.Write(slices.Concat([]byte(keptMagic), of[:], model.Sum(nil)))
		return err
	})
}

// readKept finds the entry in a file. It gives nil if there is none of that key.
func readKept(path, key, file string) *source.Kept {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return nil
	}
	path = filepath.Join(dir, filepath.Base(path))
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() < int64(keptEnd) {
		return nil
	}
	f, err := disk.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // opened for reading
	k := &source.Kept{Dir: dir, Name: filepath.Base(path), Size: info.Size() - int64(keptEnd),
		File: file}
	end := make([]byte, keptEnd)
	if _, err := f.ReadAt(end, k.Size); err != nil {
		return nil
	}
	of := sha256.Sum256([]byte(key))
	head := keptMagic + string(of[:])
	if string(end[:len(head)]) != head {
		return nil
	}
	k.Model = hex.EncodeToString(end[len(head):])
	return k
}

// keptFS is a stored folder with the weights of the cache in their given form.
type keptFS struct {
	fs.FS
	k *source.Kept
}

// whole reports whether the weights are those that they should be.
func (f keptFS) whole(ctx context.Context) bool {
	sum, err := source.Hash(ctx, f, f.k.File, weights.Given)
	return err == nil && sum == f.k.Model || ctx.Err() != nil
}

// Open opens a file of the folder.
func (f keptFS) Open(name string) (fs.File, error) {
	if name != weights.Given {
		return f.FS.Open(name)
	}
	file, err := disk.Open(filepath.Join(f.k.Dir, f.k.Name))
	if err != nil {
		return nil, err
	}
	return &keptFile{io.NewSectionReader(file, 0, f.k.Size), file}, nil
}

// keptFile is the given file, opened: the entry without its end.
type keptFile struct {
	*io.SectionReader
	file *os.File
}

func (f *keptFile) Stat() (fs.FileInfo, error) {
	info, err := f.file.Stat()
	return keptInfo{info, f.Size()}, err
}

func (f *keptFile) Close() error { return f.file.Close() }

type keptInfo struct {
	fs.FileInfo
	size int64
}

func (i keptInfo) Name() string { return weights.Given }
func (i keptInfo) Size() int64  { return i.size }
