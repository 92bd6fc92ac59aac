package report

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds the memory that a zstd file can ask for, in bytes.
const maxWindow = 128 << 20

// OpenFile opens a file to be read; .gz and .zst are decompressed, as infill batch
// writes them.
func OpenFile(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if st, err := f.Stat(); err == nil && st.IsDir() {
		_ = f.Close()
		return nil, fmt.Errorf("%s: is a folder; name the files in it", path)
	}
	switch filepath.Ext(path) {
	case ".gz":
		z, err := gzip.NewReader(f)
		if err != nil {
			_ = f.Close()
			return nil, fmt.Errorf("%s: %w: not gzip, whatever its name says (%w)", path, ErrFormat, err)
		}
		return &compressed{z, func() error { return errors.Join(z.Close(), f.Close()) }}, nil
	case ".zst":
		z, err := zstd.NewReader(f, zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderConcurrency(1))
		if err != nil {
			_ = f.Close()
			return nil, fmt.Errorf("%s: %w: %w", path, ErrFormat, err)
		}
		return &compressed{z, func() error { z.Close(); return f.Close() }}, nil
	}
	return f, nil
}

// compressed reads what a file decompresses to.
type compressed struct {
	io.Reader
	close func() error
}

func (c *compressed) Close() error { return c.close() }
