package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"

	"infill/internal/disk"
	"infill/mlm/onnx"
)

// Hashes are SHA-256 of a model: of its file alone, and of the file followed by its external files
// in the order of their names. Without external data they are the same.
type Hashes struct{ File, All string }

// Hash reads the model file and its external ones once.
func (f Files) Hash(ctx context.Context, external ...string) (Hashes, error) {
	h := sha256.New()
	if err := hashInto(ctx, h, f.FS, f.Name); err != nil {
		return Hashes{}, err
	}
	file := hex.EncodeToString(h.Sum(nil)) // h goes on as it was
	if err := hashInto(ctx, h, f.FS, external...); err != nil {
		return Hashes{}, err
	}
	return Hashes{file, hex.EncodeToString(h.Sum(nil))}, nil
}

// Hash is the SHA-256 of the content of files, one after the other.
func Hash(ctx context.Context, fsys fs.FS, files ...string) (string, error) {
	h := sha256.New()
	if err := hashInto(ctx, h, fsys, files...); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func hashInto(ctx context.Context, h hash.Hash, fsys fs.FS, files ...string) error {
	buf := make([]byte, 1<<20)
	for _, f := range files {
		r, err := disk.OpenFS(fsys, f)
		if err != nil {
			return fmt.Errorf("%w: %w", onnx.ErrExternal, err)
		}
		_, err = io.CopyBuffer(h, disk.Stoppable(ctx, r), buf)
		_ = r.Close()
		if err != nil {
			return fmt.Errorf("%w: %s: %w", onnx.ErrExternal, f, err)
		}
	}
	return nil
}
