package onnx

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/bits"

	"infill/internal/binary16"
)

// Tensor is a TensorProto. Its elements are little-endian bytes: a slice of the model file, bytes
// of our own, or a range of an external file that is read on demand.
type Tensor struct {
	Name string
	Dims []int64
	Type DataType

	data []byte // nil for external data, and for what was left in the model file
	ext  *external
	half *Tensor // the same numbers in 16 bits: they are widened when they are read

	// Origin tells where the data lies on disk, if it does: MarshalExternal uses it.
	Origin Origin
}

// Origin is a range of a file below the model's folder. File is slash-separated. Empty means none.
type Origin struct {
	File           string
	Offset, Length int64
}

type external struct {
	dir fs.FS
	Origin
	inside bool // in the model file itself
}

// NewTensor makes a tensor from little-endian bytes, which it keeps. If dims and t ask for
// another number of bytes, reading the data gives an errGraph.
func NewTensor(name string, t DataType, dims []int64, data []byte) *Tensor {
	return &Tensor{Name: name, Dims: dims, Type: t, data: data}
}

// fits is an error unless have is the number of bytes that the shape asks for.
func (t *Tensor) fits(have int64) error {
	n, err := elements(t.Dims)
	if err != nil {
		return errorf(errLimit, tensorAt(t.Name), "%v", err)
	}
	if want := t.Type.Bytes(n); have != want {
		return errorf(errGraph, tensorAt(t.Name),
			"%d bytes of data where shape %v of %v needs %d", have, t.Dims, t.Type, want)
	}
	return nil
}

// stored is the number of bytes of the data.
func (t *Tensor) stored() int64 {
	switch {
	case t.half != nil:
		return 2 * t.half.stored()
	case t.ext != nil:
		return t.ext.Length
	}
	return int64(len(t.data))
}

// Wide is a tensor of 16-bit floating numbers as a float32 one of another name. Nothing is widened
// before it is read.
func (t *Tensor) Wide(name string) *Tensor {
	return &Tensor{Name: name, Dims: t.Dims, Type: Float, half: t}
}

// Source is where the data are read from, and whether they are in memory.
func (t *Tensor) Source() (from Origin, inMemory bool) {
	switch {
	case t.half != nil:
		return t.half.Source()
	case t.ext != nil:
		return t.ext.Origin, false
	}
	return t.Origin, t.Origin.File == ""
}

// Ints makes a tensor of an integer type.
func Ints(name string, t DataType, dims []int64, v ...int64) *Tensor {
	return NewTensor(name, t, dims, packInts(v, t.Size()))
}

// Floats makes a float32 tensor.
func Floats(name string, dims []int64, v ...float32) *Tensor {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return NewTensor(name, Float, dims, b)
}

// elements multiplies dims, refusing negative ones and products above maxElements.
func elements(dims []int64) (int64, error) {
	if len(dims) > maxRank {
		return 0, fmt.Errorf("rank %d is above %d", len(dims), maxRank)
	}
	n, zero := uint64(1), false
	for _, d := range dims {
		if d < 0 {
			return 0, fmt.Errorf("negative dimension %d", d)
		}
		if d == 0 {
			zero = true
			continue
		}
		hi, lo := bits.Mul64(n, uint64(d))
		if hi != 0 || lo > maxElements {
			return 0, fmt.Errorf("shape %v has too many elements", dims)
		}
		n = lo
	}
	if zero {
		return 0, nil
	}
	return int64(n), nil
}

// Rows is the part of t whose first index is from from to to-1, under another name. It shares the
// DataReader of t, whose first dimension is at least to.
func (t *Tensor) Rows(name string, from, to int64) *Tensor {
	out := *t
	out.Name, out.Dims = name, append([]int64{to - from}, t.Dims[1:]...)
	width := t.ByteLen() / t.Dims[0]
	switch {
	case t.half != nil:
		out.half = t.half.Rows(name, from, to)
	case t.ext == nil:
		out.data = t.data[from*width : to*width]
	default:
		ext := *t.ext
		ext.Offset, ext.Length = ext.Offset+from*width, (to-from)*width
		out.ext = &ext
	}
	if t.Origin.File != "" {
		out.Origin.Offset, out.Origin.Length = t.Origin.Offset+from*width, (to-from)*width
	}
	return &out
}

// Len is the number of elements.
func (t *Tensor) Len() int64 {
	n, err := elements(t.Dims)
	if err != nil {
		return 0
	}
	return n
}

// ByteLen is the number of bytes of the data.
func (t *Tensor) ByteLen() int64 { return t.Type.Bytes(t.Len()) }

// IsExternal reports whether the data lies outside the model file.
func (t *Tensor) IsExternal() bool { return t.ext != nil && !t.ext.inside }

// Bytes gives the little-endian elements. They must not be changed: they may alias the model file.
// Data that is not in memory is read again at each call.
func (t *Tensor) Bytes() ([]byte, error) {
	if err := t.fits(t.stored()); err != nil {
		return nil, err
	}
	if t.ext == nil && t.half == nil {
		return t.data, nil
	}
	b := make([]byte, t.stored())
	if err := t.readInto(b); err != nil {
		return nil, err
	}
	return b, nil
}

// readInto fills dst, of ByteLen bytes, with the data.
func (t *Tensor) readInto(dst []byte) error {
	if err := t.fits(t.stored()); err != nil {
		return err
	}
	switch {
	case t.half != nil:
		b, err := t.half.Bytes()
		if err != nil {
			return err
		}
		for i := range len(b) / 2 {
			h := binary.LittleEndian.Uint16(b[2*i:])
			wide := uint32(h) << 16
			if t.half.Type == Float16 {
				wide = math.Float32bits(binary16.Widen(h))
			}
			binary.LittleEndian.PutUint32(dst[4*i:], wide)
		}
		return nil
	case t.ext == nil:
		copy(dst, t.data)
		return nil
	}
	r, err := t.Open()
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // opened for reading
	_, err = r.ReadAt(dst, 0)
	return err
}

// DataReader gives access to the elements of a tensor without holding them all in memory.
type DataReader struct {
	t *Tensor
	f fs.File
	r io.ReaderAt
}

// Open gives access to the data, wherever they are. Close it after use.
func (t *Tensor) Open() (*DataReader, error) {
	if err := t.fits(t.stored()); err != nil {
		return nil, err
	}
	d := &DataReader{t: t}
	if t.ext == nil {
		b, err := t.Bytes()
		d.r = bytes.NewReader(b)
		return d, err
	}
	f, err := t.ext.dir.Open(t.ext.File)
	if err != nil {
		return nil, d.bad(err)
	}
	if r, ok := f.(io.ReaderAt); ok {
		d.f, d.r = f, io.NewSectionReader(r, t.ext.Offset, t.ext.Length)
		return d, nil
	}
	defer f.Close() //nolint:errcheck // opened for reading
	if _, err := io.CopyN(io.Discard, f, t.ext.Offset); err != nil {
		return nil, d.bad(err)
	}
	all := make([]byte, t.ext.Length)
	if _, err := io.ReadFull(f, all); err != nil {
		return nil, d.bad(err)
	}
	d.r = bytes.NewReader(all)
	return d, nil
}

// ReadAt fills dst with the bytes at off. All of them must lie within the data.
func (d *DataReader) ReadAt(dst []byte, off int64) (int, error) {
	n, err := d.r.ReadAt(dst, off)
	if n < len(dst) {
		return n, d.bad(err)
	}
	return n, nil
}

// Close releases the file, if the data are in one.
func (d *DataReader) Close() error {
	if d.f == nil {
		return nil
	}
	return d.f.Close()
}

func (d *DataReader) bad(err error) error {
	what := "reading the data"
	if d.t.ext != nil {
		what = "reading " + d.t.ext.File
	}
	return &Error{Kind: ErrExternal, At: tensorAt(d.t.Name), What: what, Err: err}
}

// Float64s converts a tensor of any floating or integer type to float64.
func (t *Tensor) Float64s() ([]float64, error) {
	b, err := t.Bytes()
	if err != nil {
		return nil, err
	}
	out := make([]float64, t.Len())
	for i := range out {
		switch t.Type {
		case Float:
			out[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
		case Double:
			out[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		case Float16:
			out[i] = float64(binary16.Widen(binary.LittleEndian.Uint16(b[2*i:])))
		case BFloat16:
			out[i] = float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(b[2*i:])) << 16))
		default:
			v, ok := integerAt(t.Type, b, i)
			if !ok {
				return nil, errorf(errUnsupported, tensorAt(t.Name), "cannot read %v as numbers", t.Type)
			}
			out[i] = float64(v)
		}
	}
	return out, nil
}

// Ints converts a tensor of any integer or bool type to int64. Unsigned 64-bit values wrap.
func (t *Tensor) Ints() ([]int64, error) {
	b, err := t.Bytes()
	if err != nil {
		return nil, err
	}
	out := make([]int64, t.Len())
	for i := range out {
		v, ok := integerAt(t.Type, b, i)
		if !ok {
			return nil, errorf(errUnsupported, tensorAt(t.Name), "cannot read %v as integers", t.Type)
		}
		out[i] = v
	}
	return out, nil
}

func integerAt(t DataType, b []byte, i int) (int64, bool) {
	switch t {
	case Int64, typeUint64:
		return int64(binary.LittleEndian.Uint64(b[8*i:])), true
	case Int32:
		return int64(int32(binary.LittleEndian.Uint32(b[4*i:]))), true
	case typeUint32:
		return int64(binary.LittleEndian.Uint32(b[4*i:])), true
	case typeInt16:
		return int64(int16(binary.LittleEndian.Uint16(b[2*i:]))), true
	case typeUint16:
		return int64(binary.LittleEndian.Uint16(b[2*i:])), true
	case Int8:
		return int64(int8(b[i])), true
	case Uint8:
		return int64(b[i]), true
	case typeUint4:
		return int64(b[i/2] >> (4 * (i % 2)) & 15), true
	case typeInt4:
		return int64(int8(b[i/2]<<(4-4*(i%2))) >> 4), true
	case Bool:
		if b[i] != 0 {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}

func tensorAt(name string) string { return fmt.Sprintf("tensor %q", name) }

func packInts(v []int64, size int) []byte {
	b := make([]byte, 0, len(v)*size)
	for _, x := range v {
		switch size {
		case 1:
			b = append(b, byte(x))
		case 2:
			b = binary.LittleEndian.AppendUint16(b, uint16(x))
		case 4:
			b = binary.LittleEndian.AppendUint32(b, uint32(x))
		default:
			b = binary.LittleEndian.AppendUint64(b, uint64(x))
		}
	}
	return b
}
