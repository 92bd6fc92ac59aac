// Package weights keeps a model's weights in 8 bits on disk and gives them back as the safetensors
// file in float16 that the model's graph refers to.
//
// A matrix is stored by rows: int8 numbers from -127 to 127, and one float32 scale a row, the
// largest absolute value of the row divided by 127. So a weight is off by at most half a scale.
// Vectors are stored in float16 as they are. A model of 45 million parameters takes 45 MB in place
// of 90.
//
// The stored file is a safetensors file itself. A matrix NAME is the tensor NAME of type I8 and the
// tensor NAME.scale of type F32. The file that is given back has the tensors in the order of their
// names, all F16, and a header without spaces but for those at its end that fill it to a multiple
// of eight bytes. models/train/export.py writes both the same way, byte by byte, since a graph
// refers to weights by their offsets.
package weights

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strings"
)

const (
	// Stored is the name of the file with the weights in 8 bits.
	Stored = "model.int8.safetensors"
	// Given is the name under which they are read, in float16.
	Given = "model.safetensors"

	scaleSuffix = ".scale"
	maxHeader   = 1 << 24
)

// ErrFormat is a stored file that cannot be read: what is wrong comes with it.
var ErrFormat = errors.New("weights in 8 bits")

// entry is a tensor in the header of a safetensors file.
type entry struct {
	Type    string   `json:"dtype"`
	Shape   []int    `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

// tensor is a tensor of the given file and where its parts are stored.
type tensor struct {
	begin, end int64 // in the given file
	rows, cols int64
	data       []byte // int8 [rows, cols], or float16 [rows·cols] where scale is nil
	scale      []byte // float32 [rows]
}

// file is the given file: its header, and the tensors in their order.
type file struct {
	header  []byte
	tensors []tensor
	size    int64
}

// parse reads a stored file. data is kept.
func parse(data []byte) (*file, error) {
	entries, body, err := header(data)
	if err != nil {
		return nil, err
	}
	f := &file{}
	var text strings.Builder
	text.WriteByte('{')
	at := int64(0)
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		e := entries[name]
		if base, ok := strings.CutSuffix(name, scaleSuffix); ok && entries[base].Type == "I8" {
			continue
		}
		t, err := stored(name, e, entries, body)
		if err != nil {
			return nil, err
		}
		t.begin, t.end = at, at+2*t.rows*t.cols
		at = t.end
		f.tensors = append(f.tensors, t)
		if text.Len() > 1 {
			text.WriteByte(',')
		}
		given, err := json.Marshal(entry{"F16", e.Shape, [2]int64{t.begin, t.end}})
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrFormat, name, err)
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrFormat, name, err)
		}
		text.Write(key)
		text.WriteByte(':')
		text.Write(given)
	}
	text.WriteByte('}')
	text.WriteString(strings.Repeat(" ", -text.Len()&7))
	f.header = append(binary.LittleEndian.AppendUint64(nil, uint64(text.Len())), text.String()...)
	f.size = int64(len(f.header)) + at
	for i := range f.tensors {
		f.tensors[i].begin += int64(len(f.header))
		f.tensors[i].end += int64(len(f.header))
	}
	return f, nil
}

// header splits a safetensors file into its entries, without metadata, and its body.
func header(data []byte) (map[string]entry, []byte, error) {
	if len(data) < 8 {
		return nil, nil, fmt.Errorf("%w: %d bytes cannot be a safetensors file", ErrFormat, len(data))
	}
	n := binary.LittleEndian.Uint64(data)
	if n > maxHeader || n > uint64(len(data)-8) {
		return nil, nil, fmt.Errorf("%w: a header of %d bytes in a file of %d", ErrFormat, n, len(data))
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data[8:8+n], &raw); err != nil {
		return nil, nil, fmt.Errorf("%w: header: %w", ErrFormat, err)
	}
	delete(raw, "__metadata__")
	entries := make(map[string]entry, len(raw))
	for name, text := range raw {
		var e entry
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, nil, fmt.Errorf("%w: tensor %q: %w", ErrFormat, name, err)
		}
		entries[name] = e
	}
	return entries, data[8+n:], nil
}

// stored finds the parts of a tensor.
func stored(name string, e entry, entries map[string]entry, body []byte) (t tensor, err error) {
	t.rows, t.cols = 1, 1
	for i, n := range e.Shape {
		if n < 0 || n > math.MaxInt32 {
			return t, fmt.Errorf("%w: tensor %q has a shape of %v", ErrFormat, name, e.Shape)
		}
		if i == 0 {
			t.rows = int64(n)
		} else if t.cols *= int64(n); t.cols > math.MaxInt32 {
			return t, fmt.Errorf("%w: tensor %q has a shape of %v", ErrFormat, name, e.Shape)
		}
	}
	size := map[string]int64{"I8": 1, "F16": 2}[e.Type]
	if size == 0 {
		return t, fmt.Errorf("%w: tensor %q has the type %q, want I8 or F16", ErrFormat, name, e.Type)
	}
	if t.data, err = part(name, e, body, size*t.rows*t.cols); err != nil || e.Type == "F16" {
		return t, err
	}
	s, ok := entries[name+scaleSuffix]
	if !ok || s.Type != "F32" {
		return t, fmt.Errorf("%w: tensor %q has no %s%s of type F32", ErrFormat, name, name, scaleSuffix)
	}
	t.scale, err = part(name+scaleSuffix, s, body, 4*t.rows)
	return t, err
}

// part is a tensor's bytes.
func part(name string, e entry, body []byte, want int64) ([]byte, error) {
	begin, end := e.Offsets[0], e.Offsets[1]
	if begin < 0 || end < begin || end > int64(len(body)) || end-begin != want {
		return nil, fmt.Errorf("%w: tensor %q has bytes %d to %d of %d, want %d of them", ErrFormat,
			name, begin, end, len(body), want)
	}
	return body[begin:end], nil
}

// ReadAt fills b with the bytes of the given file at off.
func (f *file) ReadAt(b []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, fs.ErrInvalid
	}
	if off < int64(len(f.header)) {
		n = copy(b, f.header[off:])
	}
	i, _ := slices.BinarySearchFunc(f.tensors, off+int64(n), func(t tensor, at int64) int {
		if t.end <= at {
			return -1
		}
		return 1
	})
	for ; i < len(f.tensors) && n < len(b); i++ {
		t := &f.tensors[i]
		first := off + int64(n) - t.begin
		n += t.read(b[n:min(int64(len(b)), int64(n)+t.end-t.begin-first)], first)
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// read fills b, which lies within the tensor, with its bytes from first on.
func (t *tensor) read(b []byte, first int64) int {
	if t.scale == nil {
		return copy(b, t.data[first:])
	}
	var half [256]uint16 // of the row's numbers
	row := int64(-1)
	for n := 0; n < len(b); {
		number, odd := (first+int64(n))/2, (first+int64(n))%2 == 1
		if r := number / t.cols; r != row {
			row = r
			scale := math.Float32frombits(binary.LittleEndian.Uint32(t.scale[4*r:]))
			for q := range half {
				half[q] = float16(float32(int8(q)) * scale)
			}
		}
		whole := min(int64(len(b)-n)/2, (row+1)*t.cols-number)
		switch {
		case odd:
			b[n] = byte(half[t.data[number]] >> 8)
			n++
		case whole == 0:
			b[n] = byte(half[t.data[number]])
			n++
		default:
			out := b[n : n+2*int(whole)]
			for i, q := range t.data[number : number+whole] {
				binary.LittleEndian.PutUint16(out[2*i:], half[q])
			}
			n += len(out)
		}
	}
	return len(b)
}

// float16 rounds to the nearest half-precision number, to even in the middle; what is too large
// becomes infinite.
func float16(x float32) uint16 {
	bits := math.Float32bits(x)
	sign := uint16(bits >> 16 & 0x8000)
	switch abs := bits & 0x7fffffff; {
	case abs >= 0x47800000: // 65536 and more, infinities, NaN
		if abs > 0x7f800000 {
			return sign | 0x7e00
		}
		return sign | 0x7c00
	case abs < 0x38800000: // below 2⁻¹⁴: multiples of 2⁻²⁴
		return sign | uint16(math.RoundToEven(float64(math.Float32frombits(abs))*(1<<24)))
	default:
		abs += 0xfff + abs>>13&1
		return sign | uint16(abs>>13-(127-15)<<10)
	}
}
