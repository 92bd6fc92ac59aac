// Package unpack reads compressed input. What it is, the bytes say: names lie.
package unpack

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// MaxWindow bounds the memory that zstd data can ask for, in bytes. It is the largest
// window that the zstd command reads without being told to.
const MaxWindow = 128 << 20

// ErrDamaged is compressed data that begins well and cannot be read to its end.
var ErrDamaged = errors.New("damaged compressed data")

// A Reader reads input, decompressed if it was compressed.
type Reader struct {
	// Format is "gzip", "zstd", or "" for data that are read as they are.
	Format string
	r      io.Reader
	close  func()
}

// New looks at the first bytes of r, as few as it takes, and decompresses gzip and zstd
// from then on. Errors wrap [ErrDamaged].
func New(r io.Reader) (*Reader, error) {
	br := bufio.NewReaderSize(r, 1<<16)
	u := &Reader{r: br, close: func() {}}
	switch {
	case starts(br, "\x1f\x8b", 0xff):
		z, err := gzip.NewReader(br)
		if err != nil {
			return nil, fmt.Errorf("%w: gzip: %w", ErrDamaged, err)
		}
		u.Format, u.r = "gzip", z
	case starts(br, "\x28\xb5\x2f\xfd", 0xff), starts(br, "\x50\x2a\x4d\x18", 0xf0):
		z, err := zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(MaxWindow))
		if err != nil {
			return nil, fmt.Errorf("%w: zstd: %w", ErrDamaged, err)
		}
		u.Format, u.r, u.close = "zstd", z, z.Close
	}
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

// Read implements io.Reader. Errors of the compressed data wrap [ErrDamaged] and the
// cause; those of what lies below come as they are.
func (u *Reader) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if u.Format != "" && err != nil && err != io.EOF {
		err = fmt.Errorf("%w: %s: %w", ErrDamaged, u.Format, err)
	}
	return n, err
}

// Close frees the decoder. What lies below stays open.
func (u *Reader) Close() error {
	u.close()
	return nil
}
