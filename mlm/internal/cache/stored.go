package cache

import (
	"context"
	"crypto/sha256"
	"io/fs"
	"os"
	"path/filepath"

	"infill/internal/disk"
	"infill/mlm/internal/source"
	"infill/models/weights"
)

// widened is how many times float16 goes into what products read.
const widened = 2

// storedKey tells a model with weights in few bits from others, without unpacking them: the hash of
// its graph and of the card, which states their hashes, or else of the weights as they are stored.
// "" is another model.
func storedKey(ctx context.Context, fsys fs.FS, file string) string {
	inner, card, ok := weights.Source(fsys)
	if !ok {
		return ""
	}
	key, err := source.Hash(ctx, inner, file, card)
	if err != nil {
		return ""
	}
	return key
}

// storedNote is the note of a stored model: its hash, and the name of its weights in the cache.
func (s *Shelf) storedNote(key string) (path string, model, weights string) {
	path = s.path("stored "+key, noteSuffix)
	const sum = 2 * sha256.Size
	b := readSmall(path, 2*sum+int64(len(weightsSuffix))+sha256.Size)
	if len(b) <= sum+sha256.Size {
		return path, "", ""
	}
	text := b[:len(b)-sha256.Size]
	if end := sha256.Sum256([]byte(key + string(text))); string(end[:]) != string(b[len(text):]) {
		return path, "", ""
	}
	return path, string(text[:sum]), string(text[sum:])
}

// Hashes gives the hashes of a model's files. If the model is stored in few bits and kept here its
// weights are not unpacked for them.
func (s *Shelf) Hashes(ctx context.Context, files source.Files, external ...string) (source.Hashes,
	error) {
	if s != nil {
		if key := storedKey(ctx, files.FS, files.Name); key != "" {
			if _, model, _ := s.storedNote(key); model != "" {
				h, err := files.Hash(ctx)
				return source.Hashes{File: h.File, All: model}, err
			}
		}
	}
	return files.Hash(ctx, external...)
}

// Unkept says why the weights of a model in fsys cannot be kept, "" if they are, can be or need not
// be.
func (s *Shelf) Unkept(ctx context.Context, fsys fs.FS, file string) string {
	if s == nil {
		return ""
	}
	files, err := source.Find(fsys, file)
	if err != nil {
		return ""
	}
	key := storedKey(ctx, fsys, files.Name)
	info, err := fs.Stat(fsys, weights.Given)
	if key == "" || err != nil || widened*info.Size() < s.max.Least || info.Size() > s.max.Bytes/2 {
		return ""
	}
	if _, _, name := s.storedNote(key); isWeights(name) {
		if info, err := os.Lstat(filepath.Join(s.dir, name)); err == nil && info.Mode().IsRegular() {
			return ""
		}
	}
	if err := disk.Room(s.dir, info.Size()); err != nil {
		return err.Error()
	}
	return ""
}
