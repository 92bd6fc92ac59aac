package onnx

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"google.golang.org/protobuf/encoding/protowire"

	"infill/internal/disk"
)

// leaveMin is the size in bytes from which on Load leaves the data of an initializer in the file.
const leaveMin = 64 << 10

// Load reads and checks the model file name of dir. Large weights are not read: they stay where
// they are, as external data do, and are read when asked for, so that a model takes little memory
// whatever its size. The file must not change while the model is in use. Use os.Root's FS for dir,
// so that symbolic links out of the folder are refused.
func Load(dir fs.FS, name string) (*Model, error) {
	m, err := load(dir, name, leaveMin)
	if err == nil {
		err = m.Check()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

// load leaves data of at least leave bytes in the file.
func load(dir fs.FS, name string, leave int64) (*Model, error) {
	f, err := disk.OpenFS(dir, name)
	if err != nil {
		return nil, fmt.Errorf("reading model: %w", err)
	}
	defer f.Close() //nolint:errcheck // opened for reading
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading model: %w", err)
	}
	if info.Size() > maxModelFile {
		return nil, errorf(errLimit, "model", "%d bytes, more than an ONNX file can have; "+
			"export with external data", info.Size())
	}
	r, ok := f.(io.ReaderAt)
	if !ok || info.Size() < leave {
		data, err := io.ReadAll(io.LimitReader(f, maxModelFile+1))
		if err != nil {
			return nil, fmt.Errorf("reading model: %w", err)
		}
		return Parse(data, name, dir)
	}
	p := &parser{file: name, dir: dir, sizes: map[string]int64{name: info.Size()}, src: r,
		leave: leave}
	m := &Model{}
	return p.finish(m, p.stream(0, info.Size(), "model", onlyGraph,
		func(f field) error { return p.model(m, f) }))
}

// What stays in the file at each level of a message, given a field's number and size.
func onlyGraph(num protowire.Number, _ int64) bool { return num == 7 }

func (p *parser) largeInitializers(num protowire.Number, size int64) bool {
	return num == 5 && size >= p.leave
}

func (p *parser) largeData(num protowire.Number, size int64) bool {
	return num == 9 && size >= p.leave
}

// longestHead is the largest number of bytes that a tag and a length or number can have.
const longestHead = 20

// stream decodes the fields of the message that is bytes from to to of the file. Fields that leave
// selects are handed on as ranges of the file, the others with their bytes.
func (p *parser) stream(from, to int64, at string, leave func(protowire.Number, int64) bool,
	each func(field) error) error {
	for from < to {
		head, err := p.peek(from, min(longestHead, to-from))
		if err != nil {
			return err
		}
		num, typ, n := protowire.ConsumeTag(head)
		if n < 0 {
			return errorf(ErrFormat, at, "%v", protowire.ParseError(n))
		}
		f := field{num: num, typ: typ, at: at}
		if typ != protowire.BytesType {
			// A number: it lies in the head, or the message ends within it.
			k := protowire.ConsumeFieldValue(num, typ, head[n:])
			if k < 0 {
				return errorf(ErrFormat, at, "field %d: %v (truncated or damaged file)", num,
					protowire.ParseError(k))
			}
			if err := p.fields(head[:n+k:n+k], at, each); err != nil {
				return err
			}
			from += int64(n + k)
			continue
		}
		size, k := protowire.ConsumeVarint(head[n:])
		if k < 0 {
			return errorf(ErrFormat, at, "field %d: %v (truncated or damaged file)", num,
				protowire.ParseError(k))
		}
		from += int64(n + k)
		if size > uint64(to-from) {
			return errorf(ErrFormat, at, "field %d: %v (truncated or damaged file)", num,
				io.ErrUnexpectedEOF)
		}
		f.from, f.to = from, from+int64(size)
		from = f.to
		if leave(num, int64(size)) {
			f.left = true
		} else if f.b, err = p.read(f.from, int64(size)); err != nil {
			return err
		}
		if err := each(f); err != nil {
			return err
		}
	}
	return nil
}

// message decodes an embedded message, whether it was read or left in the file.
func (p *parser) message(f field, at string, leave func(protowire.Number, int64) bool,
	each func(field) error) error {
	if f.left {
		return p.stream(f.from, f.to, at, leave, each)
	}
	return p.nested(f, at, each)
}

// window is how much is read ahead for the heads of fields.
const window = 32 << 10

// peek gives n bytes at offset off of the file, valid until the next call.
func (p *parser) peek(off, n int64) ([]byte, error) {
	if off < p.seenAt || off+n > p.seenAt+int64(len(p.seen)) {
		if p.room == nil {
			p.room = make([]byte, window)
		}
		k, err := p.src.ReadAt(p.room, off)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, &Error{Kind: ErrFormat, At: "model", What: "reading the file", Err: err}
		}
		p.seen, p.seenAt = p.room[:k], off
		if int64(k) < n {
			return nil, errorf(ErrFormat, "model", "the file became shorter while it was read")
		}
	}
	return p.seen[off-p.seenAt : off-p.seenAt+n], nil
}

// read gives n bytes at offset off of the file, to keep. They become the base that origins are
// counted from.
func (p *parser) read(off, n int64) ([]byte, error) {
	b := make([]byte, n)
	if n <= window {
		seen, err := p.peek(off, n)
		if err != nil {
			return nil, err
		}
		copy(b, seen)
	} else if k, err := p.src.ReadAt(b, off); int64(k) < n {
		return nil, &Error{Kind: ErrFormat, At: "model", What: "reading the file", Err: err}
	}
	p.base, p.baseAt = b, off
	return b, nil
}

// leftData records where the data of a tensor lies in the model file.
func (p *parser) leftData(t *Tensor, f field) {
	t.Origin = Origin{File: p.file, Offset: f.from, Length: f.to - f.from}
	t.data, t.ext = nil, &external{p.dir, t.Origin, true}
}
