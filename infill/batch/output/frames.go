package output

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"infill/internal/textline"
)

// frameRecords is the number of records in a frame of a compressed output; the
// last frame has what is left. An output without records is one frame without any.
const frameRecords = 64

// maxFrame bounds a frame, and a record, in bytes.
const maxFrame = 256 << 20

// A framing is how records become bytes of a file: one by one in plain text,
// frameRecords at a time when compressed.
type framing interface {
	// records is the number of records of a whole frame.
	records() int
	// encode makes a frame of records that end in newlines.
	encode(records []byte) ([]byte, error)
	// next reads a frame and returns its records and its length in the
	// file. The error is io.EOF at the end of the file, errTorn for a frame
	// that is not whole.
	next(r *bufio.Reader) (records []byte, n int64, err error)
}

var errTorn = errors.New("a frame is not whole")

// A frameReader reads frames of a file. What a decompressor says of a file that cannot be read is
// that a frame is torn, and torn frames are cut off. So it remembers what the file said.
type frameReader struct {
	framing
	file *notingReader
	buf  *bufio.Reader
}

func newFrameReader(f framing, file io.Reader) *frameReader {
	n := &notingReader{r: file}
	return &frameReader{f, n, bufio.NewReaderSize(n, 1<<16)}
}

// next is framing.next, or the error of the file.
func (r *frameReader) next() ([]byte, int64, error) {
	records, n, err := r.framing.next(r.buf)
	if err != nil && r.file.err != nil {
		err = r.file.err
	}
	return records, n, err
}

// notingReader remembers the first error that is not the end of the file.
type notingReader struct {
	r   io.Reader
	err error
}

func (n *notingReader) Read(p []byte) (int, error) {
	k, err := n.r.Read(p)
	if err != nil && err != io.EOF && n.err == nil {
		n.err = err
	}
	return k, err
}

// framingOf goes by the suffix of the name.
func framingOf(path string) (framing, error) {
	switch suffixOf(path) {
	case ".gz":
		return gzipFrames{}, nil
	case ".zst":
		e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true),
			zstd.WithZeroFrames(true))
		if err != nil {
			return nil, err
		}
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxFrame))
		if err != nil {
			return nil, err
		}
		return &zstdFrames{e, d}, nil
	}
	return plainFrames{}, nil
}

type plainFrames struct{}

func (plainFrames) records() int                    { return 1 }
func (plainFrames) encode(b []byte) ([]byte, error) { return b, nil }

func (plainFrames) next(r *bufio.Reader) ([]byte, int64, error) {
	line, err := textline.Read(r, maxFrame)
	switch {
	case errors.Is(err, textline.ErrTooLong):
		return nil, 0, errTorn
	case err != nil:
		return nil, 0, err
	case line[len(line)-1] != '\n':
		return nil, 0, errTorn
	}
	return line, int64(len(line)), nil
}

type gzipFrames struct{}

func (gzipFrames) records() int { return frameRecords }

func (gzipFrames) encode(b []byte) ([]byte, error) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(b); err != nil {
		return nil, err
	}
	err := z.Close()
	return out.Bytes(), err
}

// countingByteReader counts what a decompressor takes; being a ByteReader, it
// is not read past the end of a frame.
type countingByteReader struct {
	r *bufio.Reader
	n int64
}

func (c *countingByteReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func (c *countingByteReader) ReadByte() (byte, error) {
	b, err := c.r.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

func (gzipFrames) next(r *bufio.Reader) ([]byte, int64, error) {
	if _, err := r.Peek(1); err == io.EOF {
		return nil, 0, io.EOF
	}
	c := &countingByteReader{r: r}
	z, err := gzip.NewReader(c)
	if err != nil {
		return nil, 0, errTorn
	}
	z.Multistream(false)
	b, err := io.ReadAll(io.LimitReader(z, maxFrame))
	if err != nil || len(b) == maxFrame {
		return nil, 0, errTorn
	}
	return b, c.n, nil
}

type zstdFrames struct {
	e *zstd.Encoder
	d *zstd.Decoder
}

func (*zstdFrames) records() int { return frameRecords }

func (z *zstdFrames) encode(b []byte) ([]byte, error) { return z.e.EncodeAll(b, nil), nil }

// next walks the blocks of a frame (RFC 8878, section 3.1.1) to find its end.
func (z *zstdFrames) next(r *bufio.Reader) ([]byte, int64, error) {
	head, err := r.Peek(zstd.HeaderMaxSize)
	if len(head) == 0 {
		return nil, 0, err
	}
	var h zstd.Header
	if h.Decode(head) != nil || h.Skippable {
		return nil, 0, errTorn
	}
	var frame []byte
	take := func(n int) []byte {
		at := len(frame)
		if at+n > maxFrame {
			return nil
		}
		frame = append(frame, make([]byte, n)...)
		if _, err := io.ReadFull(r, frame[at:]); err != nil {
			return nil
		}
		return frame[at:]
	}
	if take(h.HeaderSize) == nil {
		return nil, 0, errTorn
	}
	for last := false; !last; {
		b := take(3)
		if b == nil {
			return nil, 0, errTorn
		}
		v := binary.LittleEndian.Uint32([]byte{b[0], b[1], b[2], 0})
		last = v&1 == 1
		size := int(v >> 3)
		if v>>1&3 == 1 { // a run of one byte
			size = 1
		}
		if size > 0 && take(size) == nil {
			return nil, 0, errTorn
		}
	}
	if h.HasCheckSum && take(4) == nil {
		return nil, 0, errTorn
	}
	b, err := z.d.DecodeAll(frame, nil)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", errTorn, err)
	}
	return b, int64(len(frame)), nil
}
