package mlm

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"infill/mlm/internal/source"
	"infill/mlm/onnx"
	"infill/models/weights"
)

// copyStored is a folder of its own with the tiny model, its matrices in 8 bits.
func copyStored(t testing.TB) string {
	t.Helper()
	dir := copyTiny(t)
	m, err := onnx.Load(os.DirFS(dir), "model.onnx")
	if err != nil {
		t.Fatal(err)
	}
	header, body := map[string]any{}, []byte{}
	put := func(name, kind string, dims []int64, data []byte) {
		header[name] = map[string]any{"dtype": kind, "shape": dims,
			"data_offsets": []int{len(body), len(body) + len(data)}}
		body = append(body, data...)
	}
	half := map[string]*onnx.Tensor{}
	for _, x := range m.Graph.Initializers {
		if x.Type != onnx.Float || len(x.Dims) != 2 {
			continue
		}
		values, err := x.Float64s()
		if err != nil {
			t.Fatal(err)
		}
		top := 0.0
		for _, v := range values {
			top = max(top, math.Abs(v))
		}
		numbers, scales := []byte{}, []byte{}
		for _, v := range values {
			numbers = append(numbers, byte(int8(math.Round(127*v/top))))
		}
		for range x.Dims[0] {
			scales = binary.LittleEndian.AppendUint32(scales, math.Float32bits(float32(top/127)))
		}
		put(x.Name, "I8", x.Dims, numbers)
		put(x.Name+".scale", "F32", x.Dims[:1], scales)
		half[x.Name] = x
	}
	text, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(weights.Stored, slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text,
		body))
	// The graph refers to the given file.
	given, err := fs.ReadFile(weights.Expand(os.DirFS(dir)), weights.Given)
	if err != nil {
		t.Fatal(err)
	}
	start := 8 + int64(binary.LittleEndian.Uint64(given))
	var at map[string]struct {
		Range [2]int64 `json:"data_offsets"`
	}
	if err := json.Unmarshal(given[8:start], &at); err != nil {
		t.Fatal(err)
	}
	for name, x := range half {
		r := at[name].Range
		*x = *onnx.NewTensor(name, onnx.Float16, x.Dims, given[start+r[0]:start+r[1]])
		x.Origin.File, x.Origin.Offset, x.Origin.Length = weights.Given, start+r[0], r[1]-r[0]
	}
	data, err := m.MarshalExternal(1, func(file string) string {
		return strings.TrimPrefix(file, "model.onnx")
	})

	if err != nil {
		t.Fatal(err)
	}
	write("model.onnx", data)
	return dir
}

// Weights of the cache give the same bits as those in memory and those of a plain file, for every
// set of options and for a model that is part of a program. Those of the same form share a file.
func TestKeptWeights(t *testing.T) {
	t.Parallel()
	dir, plain, cacheDir := copyStored(t), t.TempDir(), t.TempDir()
	if err := os.CopyFS(plain, weights.Expand(os.DirFS(dir))); err != nil {
		t.Fatal(err)
	}
	sets := []Options{{}, {Precision: Int8}, {LowMemory: true}, {Forward: true}}
	for i, own := range sets {
		o := of(own)
		o.Threads = 2
		_, want := openedAny(t, plain, o, false)
		if _, got := openedAny(t, dir, o, false); !slices.Equal(got, want) {
			t.Errorf("options %d: other bits from memory", i)
		}
		o.CacheDir, o.cacheLimits = cacheDir, cached("").cacheLimits
		for k, embedded := range []bool{false, false, true} {
			hit, got := openedAny(t, dir, o, embedded)
			if hit != (k > 0) || !slices.Equal(got, want) {
				t.Errorf("options %d, opening %d: from the cache %v, same bits %v", i, k, hit,
					slices.Equal(got, want))
			}
		}
	}
	list, graphs := entries(t, cacheDir, weightsSuffix), entries(t, cacheDir, graphSuffix)
	// In float32, and with the numbers of Int8.
	if len(list) != 2 || len(graphs) != len(sets) {
		t.Errorf("entries: %v", entries(t, cacheDir, ""))
	}
	refer := map[string]int{}
	for _, g := range graphs {
		b, err := os.ReadFile(g)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range list {
			if bytes.Contains(b, []byte(filepath.Base(w))) {
				refer[w]++
			}
		}
	}
	if n := slices.Sorted(maps.Values(refer)); !slices.Equal(n, []int{1, 3}) {
		t.Errorf("graphs that refer to weights: %v", refer)
	}
	// Weights that are damaged or gone are written again.
	of := slices.MaxFunc(list, func(a, b string) int { return refer[a] - refer[b] })
	o := cached(cacheDir)
	o.Threads = 2
	_, want := openedAny(t, dir, o, false)
	data, err := os.ReadFile(of)
	if err != nil {
		t.Fatal(err)
	}
	data[100] ^= 1
	if err := errors.Join(os.WriteFile(of, data, 0o600),
		os.Chtimes(of, time.Time{}, time.Unix(1e9, 0))); err != nil {
		t.Fatal(err)
	}
	for i, hit := range []bool{false, true, false} {
		if got, bits := openedAny(t, dir, o, false); got != hit || !slices.Equal(bits, want) {
			t.Errorf("opening %d: from the cache %v, same bits %v", i, got, slices.Equal(bits, want))
		}
		if i == 1 {
			if err := os.Remove(of); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Kept weights are not hashed again while they keep their size and time, for a day. What is used
// gets a new time then.
func TestKeptSeen(t *testing.T) {
	t.Parallel()
	dir, cacheDir := copyStored(t), t.TempDir()
	opened(t, dir, cached(cacheDir))
	path := entries(t, cacheDir, weightsSuffix)[0]
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := slices.Clone(whole)
	damaged[5000] ^= 16
	old := time.Now().Add(-recheck - time.Hour)
	for _, c := range []struct {
		name          string
		content       []byte
		time          time.Time
		same, renewed bool // as it is, with a new time
	}{
		{"whole", whole, info.ModTime(), true, false},
		{"with the size and time that it had", damaged, info.ModTime(), true, false},
		{"another day", damaged, old, false, true},
		{"whole, another day", whole, old, true, true},
	} {
		if err := errors.Join(os.WriteFile(path, c.content, 0o600),
			os.Chtimes(path, c.time, c.time)); err != nil {
			t.Fatal(err)
		}
		opened(t, dir, cached(cacheDir))
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(got, c.content) != c.same || info.ModTime().Equal(c.time) == c.renewed {
			t.Errorf("%s: kept %v, with the time %v", c.name, bytes.Equal(got, c.content),
				info.ModTime())
		}
	}
}

// openedAny is opened with Forward, and for a model without a folder on the disk.
func openedAny(t testing.TB, dir string, o options, embedded bool) (fromCache bool, bits []uint32) {
	t.Helper()
	if !o.Forward && !embedded {
		return opened(t, dir, o)
	}
	m := openFolderAs(t, dir, o, embedded)
	s, states := randomStates(m, 5, 12, 3, 4)
	lp := table(len(states), len(s.Blanks))
	if err := m.LogProb(t.Context(), s, states, lp); err != nil {
		t.Fatal(err)
	}
	if !o.Forward {
		return m.info.fromCache, everything(t, m, s, states)
	}
	for _, row := range lp {
		for _, x := range row {
			bits = append(bits, math.Float32bits(x))
		}
	}
	return m.info.fromCache, bits
}

func openFolderAs(t testing.TB, dir string, o options, embedded bool) (m *Model) {
	t.Helper()
	var err error
	if embedded {
		m, err = open(t.Context(), source.Folder{FS: weights.Expand(os.DirFS(dir))}, o)
	} else {
		m, err = openDir(t.Context(), dir, o)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// Kept weights that are damaged, whatever the damage, are written again.
func TestKeptHeals(t *testing.T) {
	t.Parallel()
	dir, cacheDir := copyStored(t), t.TempDir()
	_, want := opened(t, dir, cached(cacheDir))
	path := entries(t, cacheDir, weightsSuffix)[0]
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := map[string][]byte{"empty": {}, "text": []byte("hello"),
		"longer": append(slices.Clone(whole), 0), "all zero": make([]byte, len(whole)),
		"one byte less": whole[:len(whole)-1], "half": whole[:len(whole)/2],
		"a byte less in the middle": slices.Delete(slices.Clone(whole), 5000, 5001)}
	for name, at := range map[string]int{"first byte": 0, "a weight": 5000,
		"last byte": len(whole) - sha256.Size - 1, "hash": len(whole) - 1} {
		b := slices.Clone(whole)
		b[at] ^= 16
		damaged[name] = b
	}
	other, another := copyStored(t), t.TempDir()
	change(t, filepath.Join(other, weights.Stored))
	opened(t, other, cached(another))
	if damaged["foreign"], err = os.ReadFile(entries(t, another, weightsSuffix)[0]); err != nil {
		t.Fatal(err)
	}
	graphs := entries(t, cacheDir, graphSuffix)
	for _, name := range slices.Sorted(maps.Keys(damaged)) {
		if err := os.WriteFile(path, damaged[name], 0o644); err != nil {
			t.Fatal(err)
		}
		if hit, got := opened(t, dir, cached(cacheDir)); hit || !slices.Equal(got, want) {
			t.Errorf("%s: graph from the cache %v, right %v", name, hit, slices.Equal(got, want))
		}
		if healed, err := os.ReadFile(path); err != nil || !bytes.Equal(healed, whole) {
			t.Errorf("%s: not healed (%v)", name, err)
		}
	}
	if rest := entries(t, cacheDir, graphSuffix); !slices.Equal(rest, graphs) {
		t.Errorf("graphs of damaged weights: %v, before %v", rest, graphs)
	}
	// A link is not followed, and a folder cannot be replaced.
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	if err := errors.Join(os.Rename(path, elsewhere), os.Symlink(elsewhere, path)); err != nil {
		t.Fatal(err)
	}
	for _, want := range [][]uint32{want, want} {
		if _, got := opened(t, dir, cached(cacheDir)); !slices.Equal(got, want) {
			t.Error("other bits")
		}
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			t.Error("a link stays")
		}
		if err := errors.Join(os.RemoveAll(path), os.MkdirAll(filepath.Join(path, "x"),
			0o755)); err != nil {
			t.Fatal(err)
		}
	}
}

// change flips a bit of the last weight of a stored file, which keeps its size and times.
func change(t testing.TB, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := binary.LittleEndian.Uint64(data)
	data[8+n] ^= 0x40
	if err := errors.Join(os.WriteFile(path, data, 0o600),
		os.Chtimes(path, info.ModTime(), info.ModTime())); err != nil {
		t.Fatal(err)
	}
}

// A stored model that changes and keeps its name, size and times is another model.
func TestKeptChangedModel(t *testing.T) {
	t.Parallel()
	dir, cacheDir := copyStored(t), t.TempDir()
	_, before := opened(t, dir, cached(cacheDir))
	change(t, filepath.Join(dir, weights.Stored))
	_, want := opened(t, dir, options{})
	if slices.Equal(want, before) {
		t.Fatal("the change has no effect")
	}
	for range 2 {
		if _, got := opened(t, dir, cached(cacheDir)); !slices.Equal(got, want) {
			t.Error("the old weights were used")
		}
	}
	if n := len(entries(t, cacheDir, weightsSuffix)); n != 2 {
		t.Errorf("weights of %d models, want 2", n)
	}
}

// What was opened works without the cache, which can be emptied at any time. Models that are too
// small or too large for it leave nothing there.
func TestKeptGone(t *testing.T) {
	t.Parallel()
	dir, cacheDir := copyStored(t), t.TempDir()
	_, want := opened(t, dir, of(Options{CacheDir: cacheDir}))
	given, err := fs.Stat(weights.Expand(os.DirFS(dir)), weights.Given)
	if err != nil {
		t.Fatal(err)
	}
	small := cached(cacheDir)
	small.cacheLimits.Bytes = given.Size() * 3 / 2 // one file has at most half of it
	if _, got := opened(t, dir, small); !slices.Equal(got, want) {
		t.Error("other bits")
	}
	if list := entries(t, cacheDir, ""); len(list) > 0 {
		t.Errorf("%v were kept", list)
	}
	m := openFolderAs(t, dir, cached(cacheDir), false)
	if err := os.RemoveAll(cacheDir); err != nil {
		t.Fatal(err)
	}
	s, states := randomStates(m, 5, 12, 3, 4)
	if !slices.Equal(everything(t, m, s, states), want) {
		t.Error("other bits")
	}
	if err := readAgain(m); err != nil {
		t.Error(err)
	}
}

// A model with a fault is refused in the words that it has without a cache.
func TestKeptFault(t *testing.T) {
	t.Parallel()
	dir, cacheDir := copyStored(t), t.TempDir()
	file := filepath.Join(dir, "vocab.txt")
	vocab, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(vocab, "one\nmore\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	_, want := OpenDir(t.Context(), dir, Options{})
	if want == nil {
		t.Fatal("a model of another vocabulary was opened")
	}
	_, got := openDir(t.Context(), dir, cached(cacheDir))
	if got == nil || got.Error() != want.Error() {
		t.Errorf("%v, want %v", got, want)
	}
}
