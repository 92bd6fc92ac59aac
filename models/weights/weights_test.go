package weights

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// piece is a tensor of a file that a test writes.
type piece struct {
	kind  string
	shape []int
	data  []byte
}

// safetensors writes a file with its tensors in the reverse order of their names.
func safetensors(t testing.TB, parts map[string]piece) []byte {
	t.Helper()
	header, body := map[string]any{"__metadata__": map[string]string{"format": "pt"}}, []byte{}
	names := slices.Sorted(maps.Keys(parts))
	slices.Reverse(names)
	for _, n := range names {
		p := parts[n]
		header[n] = map[string]any{"dtype": p.kind, "shape": p.shape,
			"data_offsets": []int{len(body), len(body) + len(p.data)}}
		body = append(body, p.data...)
	}
	text, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(text)))
	return append(append(out, text...), body...)
}

func floats(x ...float32) (b []byte) {
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

func halves(x ...uint16) (b []byte) {
	for _, v := range x {
		b = binary.LittleEndian.AppendUint16(b, v)
	}
	return b
}

// small is a file of a matrix [2, 3], a vector [2], a matrix without rows, and a matrix [2, 4] in four
// bits with two scales a row.
func small(t testing.TB) []byte {
	minus127 := int8(-127)
	minus1 := int8(-1)
	return safetensors(t, map[string]piece{
		"b.weight":       {"I8", []int{2, 3}, []byte{127, byte(minus127), 0, 1, byte(minus1), 64}},
		"b.weight.scale": {"F32", []int{2}, floats(0.5, 0.001)},
		"a.bias":         {"F16", []int{2}, halves(0x3c00, 0xc000)},
		"c.scale":        {"F16", []int{1}, halves(0x7bff)}, // a name like a scale's, of no matrix
		"d":              {"I8", []int{0, 3}, nil},
		"d.scale":        {"F32", []int{0}, nil},
		"e":              {"U8", []int{2, 2}, []byte{0xf0, 0x98, 0x71, 0x0a}},
		"e.scale":        {"F16", []int{2, 2}, halves(0x3c00, 0x3800, 0x0001, 0xbc00)},
	})
}

// want is what small gives, computed by hand: 63.5 is 0x53f0; 0.001 in float32 rounds to 0x1419,
// 0.064 to 0x2c19. The rows of e are 0-8, 15-8, (8-8)/2, (9-8)/2 and (1-8), (7-8) times the
// smallest number there is, -(10-8), -(0-8).
var want = struct {
	header string
	body   []byte
}{
	`{"a.bias":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},` +
		`"b.weight":{"dtype":"F16","shape":[2,3],"data_offsets":[4,16]},` +
		`"c.scale":{"dtype":"F16","shape":[1],"data_offsets":[16,18]},` +
		`"d":{"dtype":"F16","shape":[0,3],"data_offsets":[18,18]},` +
		`"e":{"dtype":"F16","shape":[2,4],"data_offsets":[18,34]}}`,
	halves(0x3c00, 0xc000, 0x53f0, 0xd3f0, 0, 0x1419, 0x9419, 0x2c19, 0x7bff,
		0xc800, 0x4700, 0, 0x3800, 0x8007, 0x8001, 0xc000, 0x4800),
}

func TestExpand(t *testing.T) {
	t.Parallel()
	inner := fstest.MapFS{Stored: {Data: small(t)}, "config.json": {Data: []byte("{}")}}
	fsys := Expand(inner)
	if from, card, ok := Source(fsys); !ok || card != Stored || !exists(from, Stored) {
		t.Error("the folder that was expanded does not come back")
	}
	got, err := fs.ReadFile(fsys, Given)
	if err != nil {
		t.Fatal(err)
	}
	n := binary.LittleEndian.Uint64(got)
	if text := string(got[8 : 8+n]); n%8 != 0 || strings.TrimRight(text, " ") != want.header {
		t.Errorf("header %q, want %q", text, want.header)
	}
	if body := got[8+n:]; !bytes.Equal(body, want.body) {
		t.Errorf("body %x, want %x", body, want.body)
	}
	if err := fstest.TestFS(fsys, Given, "config.json"); err != nil {
		t.Error(err)
	}
	if _, err := fs.Stat(fsys, Stored); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the stored file is still there: %v", err)
	}
	if info, err := fs.Stat(Expand(&closed{inner}), "config.json"); err != nil || info.Size() != 2 {
		t.Errorf("a file is opened to be looked at, and may be a pipe: %v", err)
	}
	plain := fstest.MapFS{"model.onnx": {}}
	if _, _, ok := Source(Expand(plain)); ok || !exists(Expand(plain), "model.onnx") {
		t.Error("a folder without stored weights was changed")
	}
}

// closed is a folder whose files cannot be opened.
type closed struct{ fstest.MapFS }

func (*closed) Open(string) (fs.File, error) { return nil, fs.ErrPermission }

func exists(fsys fs.FS, name string) bool {
	_, err := fs.Stat(fsys, name)
	return err == nil
}

// TestOddGroups reads every range of a matrix in four bits whose groups of three share bytes.
func TestOddGroups(t *testing.T) {
	t.Parallel()
	f, err := parse(folder(safetensors(t, map[string]piece{
		"w":       {"U8", []int{1, 3}, []byte{0xa9, 0x7b, 0x56}}, // 1, 2, 3 and -1, -2, -3
		"w.scale": {"F16", []int{1, 2}, halves(0x3c00, 0x4000)},
	})))
	if err != nil {
		t.Fatal(err)
	}
	want := halves(0x3c00, 0x4000, 0x4200, 0xc000, 0xc400, 0xc600)
	for begin := range len(want) {
		for end := begin + 1; end <= len(want); end++ {
			b := make([]byte, end-begin)
			_, err := f.ReadAt(b, f.size-int64(len(want)-begin))
			if err != nil || !bytes.Equal(b, want[begin:end]) {
				t.Fatalf("bytes %d to %d: %x, %v; want %x", begin, end, b, err, want[begin:end])
			}
		}
	}
}

// TestReadAt reads every range of the given file.
func TestReadAt(t *testing.T) {
	t.Parallel()
	f, err := parse(folder(small(t)))
	if err != nil {
		t.Fatal(err)
	}
	whole := make([]byte, f.size)
	if _, err := f.ReadAt(whole, 0); err != nil {
		t.Fatal(err)
	}
	for begin := range f.size + 1 {
		for end := begin; end <= f.size+2; end++ {
			b := make([]byte, end-begin)
			n, err := f.ReadAt(b, begin)
			stop := min(end, f.size)
			if !bytes.Equal(b[:n], whole[begin:stop]) || (err == io.EOF) != (stop < end) {
				t.Fatalf("bytes %d to %d: %x, %v; want %x", begin, end, b[:n], err, whole[begin:stop])
			}
		}
	}
	if _, err := f.ReadAt(make([]byte, 1), -1); err == nil {
		t.Error("a negative offset was read")
	}
}

// overflowing is a file with a matrix of 2⁶⁴ bits, none of which are there.
func overflowing(t testing.TB) []byte {
	return safetensors(t, map[string]piece{"w": {"F16", []int{1 << 30, 1 << 30}, nil}})
}

func TestDamage(t *testing.T) {
	t.Parallel()
	good := map[string]piece{"w": {"I8", []int{1, 2}, []byte{1, 2}}, "w.scale": {"F32", []int{1},
		floats(1)}}
	for name, c := range map[string]struct {
		data []byte
		says string
	}{
		"empty":       {nil, "0 bytes"},
		"long header": {binary.LittleEndian.AppendUint64(nil, 9), "a header of 9 bytes in a file of 8"},
		"no JSON":     {append(binary.LittleEndian.AppendUint64(nil, 1), '{'), "header"},
		"an array": {append(binary.LittleEndian.AppendUint64(nil, 8), `{"w":[]}`...),
			`tensor "w"`},
		"type": {safetensors(t, map[string]piece{"w": {"F64", []int{1}, make([]byte, 8)}}),
			`"F64", want I8, U8 or F16`},
		"no scale": {safetensors(t, map[string]piece{"w": good["w"]}), "has no w.scale of type F32 or F16"},
		"scale of another type": {safetensors(t, map[string]piece{"w": good["w"],
			"w.scale": {"U8", []int{4}, make([]byte, 4)}}), "has no w.scale of type F32 or F16"},
		"groups that do not fit": {safetensors(t, map[string]piece{"w": {"I8", []int{1, 3},
			[]byte{1, 2, 3}}, "w.scale": {"F32", []int{1, 2}, make([]byte, 8)}}),
			"scales of the shape [1 2], want [1] or [1, groups]"},
		"no groups": {safetensors(t, map[string]piece{"w": good["w"], "w.scale": {"F32", []int{1, 0},
			nil}}), "scales of the shape [1 0]"},
		"scales of other rows": {safetensors(t, map[string]piece{"w": good["w"],
			"w.scale": {"F32", []int{2}, make([]byte, 8)}}), "scales of the shape [2], want [1]"},
		"four bits in a row": {safetensors(t, map[string]piece{"w": {"U8", []int{2}, []byte{1, 2}},
			"w.scale": {"F32", []int{2}, make([]byte, 8)}}), "want rows and pairs of columns"},
		"four bits in nothing": {safetensors(t, map[string]piece{"w": {"U8", []int{}, []byte{1}},
			"w.scale": {"F32", []int{}, make([]byte, 4)}}), "want rows and pairs of columns"},
		"short scale": {safetensors(t, map[string]piece{"w": good["w"], "w.scale": {"F32", []int{1},
			nil}}), `"w.scale" has bytes`},
		"short data": {safetensors(t, map[string]piece{"w": {"I8", []int{1, 3}, []byte{1, 2}},
			"w.scale": good["w.scale"]}), "want 3 of them"},
		"negative": {safetensors(t, map[string]piece{"w": {"I8", []int{-1, -2}, []byte{1, 2}},
			"w.scale": good["w.scale"]}), "has a shape of [-1 -2]"},
		"too many columns": {safetensors(t, map[string]piece{"w": {"I8", []int{0, 1 << 30, 1 << 30},
			nil}}), "has a shape of"},
		"more bits than int64 counts": {overflowing(t), `"w" has a shape of [1073741824 1073741824]`},
		"more bytes than int64 counts": {safetensors(t, map[string]piece{"w": {"I8",
			[]int{1 << 30, 0}, nil}, "w.scale": {"F32", []int{1 << 30, 1 << 30}, nil}}),
			`"w.scale" has a shape of`},
	} {
		fsys := Expand(fstest.MapFS{Stored: {Data: c.data}})
		_, err := fs.ReadFile(fsys, Given)
		if !errors.Is(err, errFormat) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want an ErrFormat that says %q", name, err, c.says)
		}
		if _, err := fs.ReadDir(fsys, "."); !errors.Is(err, errFormat) {
			t.Errorf("%s: listing the folder gave %v", name, err)
		}
	}
}

// FuzzParse: no file makes the reader panic, and what it accepts can be read to its end.
func FuzzParse(f *testing.F) {
	f.Add(small(f))
	f.Add([]byte{})
	f.Add(overflowing(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := parse(folder(data))
		if err != nil {
			if !errors.Is(err, errFormat) {
				t.Errorf("%v is no ErrFormat", err)
			}
			return
		}
		b := make([]byte, min(file.size, 1<<20)) // the whole, or its end
		n, err := file.ReadAt(b, file.size-int64(len(b)))
		if n != len(b) || err != nil {
			t.Errorf("read %d of %d bytes: %v", n, len(b), err)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	const rows, cols = 4096, 768
	b.Run("bits=8", func(b *testing.B) {
		benchmarkRead(b, piece{"I8", []int{rows, cols}, make([]byte, rows*cols)},
			piece{"F32", []int{rows}, make([]byte, 4*rows)})
	})
	b.Run("bits=4", func(b *testing.B) {
		benchmarkRead(b, piece{"U8", []int{rows, cols / 2}, make([]byte, rows*cols/2)},
			piece{"F16", []int{rows, cols / 64}, make([]byte, 2*rows*cols/64)})
	})
}

// benchmarkRead gives the numbers in weights a second as MB/s.
func benchmarkRead(b *testing.B, numbers, scale piece) {
	data := numbers.data
	for i := range data {
		data[i] = byte(i*7 + i>>8)
	}
	f, err := parse(folder(safetensors(b, map[string]piece{"w": numbers, "w.scale": scale})))
	if err != nil {
		b.Fatal(err)
	}
	out := make([]byte, f.size)
	b.SetBytes(f.size / 2)
	for b.Loop() {
		if _, err := f.ReadAt(out, 0); err != nil {
			b.Fatal(err)
		}
	}
}

// Floats reads both widths of numbers, and refuses what is of another type or cut short.
func TestFloats(t *testing.T) {
	t.Parallel()
	data := safetensors(t, map[string]piece{
		"a": {"F32", []int{2}, floats(1.5, -2)}, "b": {"F16", []int{1, 2}, halves(0x3c00, 0xc000)}})
	got, err := Floats(data)
	if err != nil || !slices.Equal(got["a"], []float32{1.5, -2}) ||
		!slices.Equal(got["b"], []float32{1, -2}) {
		t.Errorf("%v, %v", got, err)
	}
	whole := safetensors(t, map[string]piece{"a": {"I8", []int{2}, []byte{1, 2}}})
	for name, data := range map[string][]byte{"cut": data[:len(data)-1], "type": whole, "empty": nil} {
		if _, err := Floats(data); !errors.Is(err, errFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// folder has data as its stored file.
func folder(data []byte) fs.FS { return fstest.MapFS{Stored: {Data: data}} }
