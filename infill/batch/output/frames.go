package output

import (
	"bytes"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// frameRecords is the number of records in a frame of a compressed output, which a reader can begin
// at; the last frame has what is left. An output without records is one frame without any. Tests
// have less.
var frameRecords = 64

// packed says that an output of this name is compressed.
func packed(path string) bool { return suffixOf(path) == ".gz" || suffixOf(path) == ".zst" }

// packing compresses what is written as the name of an output says. Of records each Write has one,
// and a frame has frameRecords of them.
func packing(path string, w io.Writer, records bool) (io.WriteCloser, error) {
	if !packed(path) {
		return unpacked{w}, nil
	}
	if suffixOf(path) == ".gz" {
		if !records {
			return gzip.NewWriter(w), nil
		}
		return &frames{w: w, encode: gzipped}, nil
	}
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true),
		zstd.WithZeroFrames(true))
	if err != nil || !records {
		return z, err
	}
	encode := func(b []byte) ([]byte, error) { return z.EncodeAll(b, nil), nil }
	return &frames{w: w, encode: encode}, nil
}

func gzipped(b []byte) ([]byte, error) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(b); err != nil {
		return nil, err
	}
	err := z.Close()
	return out.Bytes(), err
}

type unpacked struct{ io.Writer }

func (unpacked) Close() error { return nil }

// frames writes records in frames of their own.
type frames struct {
	w       io.Writer
	encode  func(records []byte) ([]byte, error)
	waiting []byte // records, until their frame is full
	number  int    // of them
	any     bool   // a frame was written
}

func (f *frames) Write(record []byte) (int, error) {
	f.waiting = append(f.waiting, record...)
	if f.number++; f.number < frameRecords {
		return len(record), nil
	}
	return len(record), f.frame()
}

func (f *frames) frame() error {
	b, err := f.encode(f.waiting)
	if err != nil {
		return err
	}
	f.waiting, f.number, f.any = f.waiting[:0], 0, true
	_, err = f.w.Write(b)
	return err
}

// Close writes the last frame. A file has one at least: one of no bytes is not compressed.
func (f *frames) Close() error {
	if f.number > 0 || !f.any {
		return f.frame()
	}
	return nil
}
