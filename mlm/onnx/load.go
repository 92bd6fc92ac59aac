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
	return p.whole(field{left: true, to: info.Size()})
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

// message decodes a message, whether its bytes were read or left in the file. Of one that was left,
// fields that leave selects are left too.
func (p *parser) message(m field, at string, leave func(protowire.Number, int64) bool,
	each func(field) error) error {
	if m.typ != protowire.BytesType {
		return m.wrong("a message")
	}
	for from := m.from; from < m.to; {
		var head []byte
		if !m.left {
			head = m.b[from-m.from:]
		} else {
			var err error
			if head, err = p.read(from, min(longestHead, m.to-from)); err != nil {
				return err
			}
		}
		num, typ, n := protowire.ConsumeTag(head)
		if n < 0 {
			return errorf(ErrFormat, at, "%v", protowire.ParseError(n))
		}
		f := field{num: num, typ: typ, at: at}
		k, size := f.number(head[n:])
		if k == 0 { // groups are not used by ONNX
			return errorf(ErrFormat, at, "field %d has wire type %d", num, typ)
		}
		from += int64(n + k)
		if k > 0 && size > uint64(m.to-from) {
			k = protowire.ConsumeFieldValue(num, typ, nil) // as of a message that ends
		}
		if k < 0 {
			return errorf(ErrFormat, at, "field %d: %v (truncated or damaged file)", num,
				protowire.ParseError(k))
		}
		f.from, f.to = from, from+int64(size)
		from = f.to
		var err error
		switch {
		case typ != protowire.BytesType:
		case !m.left:
			f.b = m.b[f.from-m.from : f.to-m.from : f.to-m.from]
		case leave != nil && leave(num, int64(size)):
			f.left = true
		default:
			f.b, err = p.read(f.from, int64(size))
		}
		if err == nil {
			err = each(f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// number reads the number that follows a tag, or the size of the bytes that follow. k is how many
// bytes it takes, 0 for a group and negative for an error of protowire.
func (f *field) number(b []byte) (k int, size uint64) {
	switch f.typ {
	case protowire.BytesType:
		size, k = protowire.ConsumeVarint(b)
	case protowire.VarintType:
		f.bits, k = protowire.ConsumeVarint(b)
	case protowire.Fixed32Type:
		var v uint32
		v, k = protowire.ConsumeFixed32(b)
		f.bits = uint64(v)
	case protowire.Fixed64Type:
		f.bits, k = protowire.ConsumeFixed64(b)
	}
	return k, size
}

// read gives n bytes at offset off of the file.
func (p *parser) read(off, n int64) ([]byte, error) {
	b := make([]byte, n)
	k, err := p.src.ReadAt(b, off)
	switch {
	case int64(k) == n:
		return b, nil
	case errors.Is(err, io.EOF):
		return nil, errorf(ErrFormat, "model", "the file became shorter while it was read")
	}
	return nil, &Error{Kind: ErrFormat, At: "model", What: "reading the file", Err: err}
}

// leftData records where the data of a tensor lies in the model file.
func (p *parser) leftData(t *Tensor, f field) {
	t.Origin = Origin{File: p.file, Offset: f.from, Length: f.to - f.from}
	t.data, t.ext = nil, &external{p.dir, t.Origin, true}
}
