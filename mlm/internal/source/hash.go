package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"slices"

	"infill/internal/disk"
	"infill/mlm/onnx"
)

// Exists reports whether one of the files is there.
func Exists(fsys fs.FS, names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		_, err := fs.Stat(fsys, n)
		return err == nil
	})
}

// Hashes are SHA-256 of a model: of its file alone, and of the file followed by its external files
// in the order of their names. Without external data they are the same.
type Hashes struct{ File, All string }

// HashModel reads every file once.
func HashModel(ctx context.Context, fsys fs.FS, name string, external []string) (Hashes, error) {
	h := sha256.New()
	if err := HashInto(ctx, h, fsys, name); err != nil {
		return Hashes{}, err
	}
	file := hex.EncodeToString(h.Sum(nil)) // h goes on as it was
	if err := HashInto(ctx, h, fsys, external...); err != nil {
		return Hashes{}, err
	}
	return Hashes{file, hex.EncodeToString(h.Sum(nil))}, nil
}

// Hash is the SHA-256 of the content of files, one after the other.
func Hash(ctx context.Context, fsys fs.FS, files []string) (string, error) {
	h := sha256.New()
	if err := HashInto(ctx, h, fsys, files...); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func HashInto(ctx context.Context, h hash.Hash, fsys fs.FS, files ...string) error {
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

// External lists, sorted, the files beside the model that hold weights.
func External(name string, m *onnx.Model) []string {
	var out []string
	add := func(t *onnx.Tensor) {
		if t != nil && t.IsExternal() && t.Origin.File != name && !slices.Contains(out, t.Origin.File) {
			out = append(out, t.Origin.File)
		}
	}
	onnx.Each(m.Graph, func(g *onnx.Graph) {
		for _, t := range g.Initializers {
			add(t)
		}
		for _, n := range g.Nodes {
			for _, a := range n.Attrs {
				add(a.T) // of a Constant
			}
		}
	})
	slices.Sort(out)
	return out
}
