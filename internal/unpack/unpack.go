// Package unpack reads compressed input. The bytes say what it is: names lie.
package unpack

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds the memory that zstd data can ask for, in bytes. It is the largest
// window that the zstd command reads without being told to.
const maxWindow = 128 << 20

// ErrDamaged is compressed data that begin well and cannot be read to their end.
var ErrDamaged = errors.New("damaged compressed data")

// A Reader reads input, decompressed if it was compressed.
type Reader struct {
	// Format is "gzip", "zstd", or "" for data that are read as they are.
	Format string
	r      io.Reader
	close  func() error
}

// New looks at the first bytes of r, as few as it takes, and decompresses gzip and zstd
// from then on. r stays open when the Reader is closed. Errors wrap [ErrDamaged], but for that of a
// nil reader.
func New(r io.Reader) (*Reader, error) {
	if r == nil {
		return nil, errors.New("there is no reader to read from; pass a file or os.Stdin")
	}
	br := bufio.NewReaderSize(r, 64<<10)
	u := &Reader{r: br, close: func() error { return nil }}
	switch {
	case starts(br, "\x1f\x8b", 0xff):
		z, err := gzip.NewReader(br)
		if err != nil {
			return nil, fmt.Errorf("%w: gzip: %w", ErrDamaged, err)
		}
		u.Format, u.r = "gzip", z
	case starts(br, "\x28\xb5\x2f\xfd", 0xff), starts(br, "\x50\x2a\x4d\x18", 0xf0):
		z, err := zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, fmt.Errorf("%w: zstd: %w", ErrDamaged, err)
		}
		u.Format, u.r, u.close = "zstd", z, func() error { z.Close(); return nil }
	}
	return u, nil
}

// Open opens a file, a pipe or a device to be read. Errors name path; those of damaged
// data wrap [ErrDamaged].
func Open(path string) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		_ = f.Close()
		return nil, fmt.Errorf("%s: is a folder; name the files in it", path)
	}
	u, err := New(f)
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	decoder := u.close
	u.close = func() error { return errors.Join(decoder(), f.Close()) }
	return u, nil
}

// starts reports whether the data begin with magic. Of the first byte only the bits of
// first count: a zstd frame that is skipped has one of sixteen. No byte is waited for
// that the bytes before have ruled out, so that a line typed at a terminal goes through.
func starts(r *bufio.Reader, magic string, first byte) bool {
	for n := 1; n <= len(magic); n++ {
		b, err := r.Peek(n)
		if err != nil {
			return false
		}
		last := b[n-1]
		if n == 1 {
			last &= first
		}
		if last != magic[n-1] {
			return false
		}
	}
	return true
}

// Read implements io.Reader. While data are decompressed, errors wrap [ErrDamaged] and
// the cause.
func (u *Reader) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if u.Format != "" && err != nil && err != io.EOF {
		err = fmt.Errorf("%w: %s: %w", ErrDamaged, u.Format, err)
	}
	return n, err
}

// Close frees the decoder and closes what [Open] opened.
func (u *Reader) Close() error { return u.close() }
