// Package weights keeps a model's weights in 8 or 4 bits on disk and gives them back as the
// safetensors file in float16 that the model's graph refers to.
//
// The stored file is a safetensors file itself. A matrix NAME [rows, columns] is a tensor of that
// name and one of scales, NAME.scale, F32 or F16, of the shape [rows] or [rows, groups]. The
// columns of a row form groups of equal size, and a weight is its number times the scale of its
// group. The numbers are of type I8, or four bits wide. Then the type is U8, the shape
// [rows, columns/2], and a byte holds two numbers from -8 to 7, each with 8 added, the first in
// the lower half. All other tensors are F16 and stay as they are. 110 million weights take 58 MB in
// 4 bits with groups of 64, and 219 MB in float16.
//
// The file that is given back has the tensors in the order of their names, all F16, and a header
// without spaces but for those at its end that fill it to a multiple of eight bytes.
// models/train/export.py writes both the same way, byte by byte, since a graph refers to weights by
// their offsets.
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

	"infill/internal/binary16"
)

const (
	// Stored is the name of the file with the weights in few bits.
	Stored = "model.stored.safetensors"
	// Given is the name under which they are read, in float16.
	Given = "model.safetensors"
	// Lengths is the name of a small file beside a model, which infill/lengths reads and writes.
	Lengths = "lengths.safetensors"

	scaleSuffix = ".scale"
	maxHeader   = 1 << 24
	maxElements = 1 << 56 // of a tensor: twice as many still have an int64 number of bits
)

// errFormat is a stored file that cannot be read: what is wrong comes with it.
var errFormat = errors.New("stored weights")

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
	data       part  // the numbers, as float16 where there are no scales
	bits       int64 // of a number: 4 or 8
	scale      part  // [rows, cols/group], empty where there are none
	wide       bool  // the scales are float32
	group      int64 // columns that share a scale
}

// part is a range of bytes behind the header of the stored file.
type part struct{ begin, end int64 }

// file is the given file: its header, and the tensors in their order.
type file struct {
	header  []byte
	tensors []tensor
	size    int64
	part    func(part) ([]byte, error) // reads what follows the header of the stored file
}

// parse reads the header of a stored file. The rest is read with the tensors.
func parse(inner fs.FS) (*file, error) {
	in, err := inner.Open(Stored)
	if err != nil {
		return nil, err
	}
	defer in.Close() //nolint:errcheck // opened for reading
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	head := make([]byte, min(8, info.Size()))
	if _, err := io.ReadFull(in, head); err != nil {
		return nil, err
	}
	n, err := headerSize(head, info.Size())
	if err != nil {
		return nil, err
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(in, text); err != nil {
		return nil, err
	}
	entries, err := header(text)
	if err != nil {
		return nil, err
	}
	f := &file{part: func(p part) ([]byte, error) { return readPart(inner, info.Size(), 8+n, p) }}
	return f, f.given(entries, info.Size()-8-n)
}

// readPart reads a part of the stored file, counted from start. Nothing is kept: a model would hold
// it in memory for as long as it is open, and reads it once.
func readPart(inner fs.FS, size, start int64, p part) (b []byte, err error) {
	in, err := inner.Open(Stored)
	if err != nil {
		return nil, err
	}
	defer in.Close() //nolint:errcheck // opened for reading
	if info, err := in.Stat(); err != nil {
		return nil, err
	} else if info.Size() != size {
		return nil, fmt.Errorf("%w: %d bytes, and %d before", errFormat, info.Size(), size)
	}
	if s, ok := in.(io.Seeker); ok {
		_, err = s.Seek(start+p.begin, io.SeekStart)
	} else {
		_, err = io.CopyN(io.Discard, in, start+p.begin)
	}
	if err == nil {
		b = make([]byte, p.end-p.begin)
		_, err = io.ReadFull(in, b)
	}
	return b, err
}

// given makes the header and the list of tensors of the given file. body is how many bytes follow
// the header of the stored one.
func (f *file) given(entries map[string]entry, body int64) error {
	given := map[string]entry{}
	at := int64(0)
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		e := entries[name]
		base, ok := strings.CutSuffix(name, scaleSuffix)
		if kind := entries[base].Type; ok && (kind == "I8" || kind == "U8") {
			continue
		}
		t, err := stored(name, e, entries, body)
		if err != nil {
			return err
		}
		t.begin, t.end = at, at+2*t.rows*t.cols
		at = t.end
		f.tensors = append(f.tensors, t)
		shape := slices.Clone(e.Shape)
		if e.Type == "U8" {
			shape[len(shape)-1] *= 2
		}
		given[name] = entry{"F16", shape, [2]int64{t.begin, t.end}}
	}
	text, err := json.Marshal(given) // in the order of the names, too
	if err != nil {
		return fmt.Errorf("%w: %w", errFormat, err)
	}
	text = append(text, strings.Repeat(" ", -len(text)&7)...)
	f.header = append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)
	f.size = int64(len(f.header)) + at
	for i := range f.tensors {
		f.tensors[i].begin += int64(len(f.header))
		f.tensors[i].end += int64(len(f.header))
	}
	return nil
}

// headerSize is the size of the header of a safetensors file. head are its first eight bytes.
func headerSize(head []byte, size int64) (int64, error) {
	if len(head) < 8 {
		return 0, fmt.Errorf("%w: %d bytes cannot be a safetensors file", errFormat, size)
	}
	n := binary.LittleEndian.Uint64(head)
	if n > maxHeader || n > uint64(size-8) {
		return 0, fmt.Errorf("%w: a header of %d bytes in a file of %d", errFormat, n, size)
	}
	return int64(n), nil
}

// header reads the entries of a safetensors file, without metadata.
func header(text []byte) (map[string]entry, error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, fmt.Errorf("%w: header: %w", errFormat, err)
	}
	delete(raw, "__metadata__")
	entries := make(map[string]entry, len(raw))
	for name, text := range raw {
		var e entry
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, fmt.Errorf("%w: tensor %q: %w", errFormat, name, err)
		}
		entries[name] = e
	}
	return entries, nil
}

// Floats reads the tensors of a small safetensors file, of the types F16 and F32, by their names.
func Floats(data []byte) (map[string][]float32, error) {
	n, err := headerSize(data[:min(8, len(data))], int64(len(data)))
	if err != nil {
		return nil, err
	}
	entries, err := header(data[8 : 8+n])
	if err != nil {
		return nil, err
	}
	body := data[8+n:]
	out := map[string][]float32{}
	for name, e := range entries {
		size := map[string]int64{"F16": 2, "F32": 4}[e.Type]
		if size == 0 {
			return nil, fmt.Errorf("%w: tensor %q has the type %q, want F16 or F32", errFormat, name, e.Type)
		}
		rows, cols, err := matrix(name, e)
		if err != nil {
			return nil, err
		}
		p, err := partOf(name, e, int64(len(body)), size*rows*cols)
		if err != nil {
			return nil, err
		}
		raw := body[p.begin:p.end]
		x := make([]float32, rows*cols)
		for i := range x {
			if size == 2 {
				x[i] = binary16.Widen(binary.LittleEndian.Uint16(raw[2*i:]))
			} else {
				x[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
			}
		}
		out[name] = x
	}
	return out, nil
}

// widths are the bits of an element of a stored tensor.
var widths = map[string]int64{"U8": 4, "I8": 8, "F16": 16}

// stored finds the parts of a tensor.
func stored(name string, e entry, entries map[string]entry, body int64) (t tensor, err error) {
	bits := widths[e.Type]
	if bits == 0 {
		return t, fmt.Errorf("%w: tensor %q has the type %q, want I8, U8 or F16", errFormat, name,
			e.Type)
	}
	if t.rows, t.cols, err = matrix(name, e); err != nil {
		return t, err
	}
	if bits == 4 {
		if len(e.Shape) != 2 {
			return t, fmt.Errorf("%w: tensor %q has a shape of %v, want rows and pairs of columns",
				errFormat, name, e.Shape)
		}
		t.cols *= 2
	}
	t.data, err = partOf(name, e, body, t.rows*t.cols*bits/8)
	if err != nil || bits == 16 {
		return t, err
	}
	t.bits, t.group = bits, t.cols
	scales := name + scaleSuffix
	s, ok := entries[scales]
	if !ok || s.Type != "F32" && s.Type != "F16" {
		return t, fmt.Errorf("%w: tensor %q has no %s of type F32 or F16", errFormat, name, scales)
	}
	rows, groups, err := matrix(scales, s)
	if err == nil && (rows != t.rows || groups < 1 || t.cols%groups != 0) {
		err = fmt.Errorf("%w: tensor %q has scales of the shape %v, want [%d] or [%d, groups]",
			errFormat, name, s.Shape, t.rows, t.rows)
	}
	if err != nil {
		return t, err
	}
	t.wide, t.group = s.Type == "F32", t.cols/groups
	size := int64(2)
	if t.wide {
		size = 4
	}
	t.scale, err = partOf(scales, s, body, size*rows*groups)
	return t, err
}

// matrix is a shape as rows of columns; what follows the first dimension counts as columns.
func matrix(name string, e entry) (rows, cols int64, err error) {
	rows, cols = 1, 1
	for i, n := range e.Shape {
		if i == 0 {
			rows = int64(n)
		} else {
			cols *= int64(n)
		}
		if n < 0 || n > math.MaxInt32 || cols > math.MaxInt32 {
			return 0, 0, fmt.Errorf("%w: tensor %q has a shape of %v", errFormat, name, e.Shape)
		}
	}
	if rows > maxElements/max(cols, 1) {
		return 0, 0, fmt.Errorf("%w: tensor %q has a shape of %v, want at most %d elements", errFormat,
			name, e.Shape, int64(maxElements))
	}
	return rows, cols, nil
}

// partOf is where a tensor's bytes are.
func partOf(name string, e entry, body, want int64) (part, error) {
	begin, end := e.Offsets[0], e.Offsets[1]
	if begin < 0 || end < begin || end > body || end-begin != want {
		return part{}, fmt.Errorf("%w: tensor %q has bytes %d to %d of %d, want %d of them", errFormat,
			name, begin, end, body, want)
	}
	return part{begin, end}, nil
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
	if i < len(f.tensors) && n < len(b) {
		more, err := f.read(b[n:], i, off+int64(n))
		if n += more; err != nil {
			return n, err
		}
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// read fills b from tensor i on, as far as there are any. at is its place in the given file.
func (f *file) read(b []byte, i int, at int64) (n int, err error) {
	for ; i < len(f.tensors) && n < len(b); i++ {
		t := &unpacked{tensor: f.tensors[i]}
		first := at + int64(n) - t.begin
		to := b[n:min(int64(len(b)), int64(n)+t.end-t.begin-first)]
		if err := t.load(f.part, first, first+int64(len(to))); err != nil {
			return n, err
		}
		n += t.read(to, first)
	}
	return n, nil
}

// unpacked is a tensor with some of its groups. base is the index of the first
// number that is there, and scaled that of the first scale.
type unpacked struct {
	tensor
	numbers, scales []byte
	base, scaled    int64
}

// load reads the numbers and scales of the bytes from begin to end of the tensor.
func (t *unpacked) load(read func(part) ([]byte, error), begin, end int64) (err error) {
	if t.bits == 0 {
		t.numbers, err = read(part{t.data.begin + begin, t.data.begin + end})
		return err
	}
	group, width := 2*t.group, int64(2)
	if t.wide {
		width = 4
	}
	t.scaled, end = begin/group, (end+group-1)/group
	t.base = t.scaled * t.group &^ 1 // two numbers may share a byte
	t.numbers, err = read(part{t.data.begin + t.base*t.bits/8,
		t.data.begin + (end*t.group*t.bits+7)/8})
	if err == nil {
		t.scales, err = read(part{t.scale.begin + t.scaled*width, t.scale.begin + end*width})
	}
	return err
}

// read fills b, which lies within the tensor, with its bytes from first on, group by group.
func (t *unpacked) read(b []byte, first int64) int {
	if t.bits == 0 {
		return copy(b, t.numbers)
	}
	group := make([]byte, 2*t.group)
	for n := 0; n < len(b); {
		number := (first + int64(n)) / (2 * t.group)
		t.spell(group, number)
		n += copy(b[n:], group[first+int64(n)-number*2*t.group:])
	}
	return len(b)
}

// spell writes the numbers of a group.
func (t *unpacked) spell(to []byte, group int64) {
	var scale float32
	if t.wide {
		scale = math.Float32frombits(binary.LittleEndian.Uint32(t.scales[4*(group-t.scaled):]))
	} else {
		scale = binary16.Widen(binary.LittleEndian.Uint16(t.scales[2*(group-t.scaled):]))
	}
	var half [256]uint16 // all numbers times the scale
	if t.bits == 8 {
		for q := range half {
			half[q] = binary16.Round(float32(int8(q)) * scale)
		}
		for i, q := range t.numbers[group*t.group-t.base:][:t.group] {
			binary.LittleEndian.PutUint16(to[2*i:], half[q])
		}
		return
	}
	for q := range 16 {
		half[q] = binary16.Round(float32(q-8) * scale)
	}
	for i := range t.group {
		at := group*t.group - t.base + i
		q := t.numbers[at/2] >> (4 * (at & 1)) & 15
		binary.LittleEndian.PutUint16(to[2*i:], half[q])
	}
}
