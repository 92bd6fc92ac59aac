package onnx

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"infill/internal/testmode"
)

// agree checks that reading dir's m.onnx piece by piece gives what Parse gave.
func agree(t *testing.T, m *Model, err error, dir fstest.MapFS) {
	t.Helper()
	for _, leave := range []int64{1, 8, 300} {
		got, gotErr := load(dir, "m.onnx", leave)
		if (err == nil) != (gotErr == nil) {
			t.Fatalf("from memory %v, from the file %v", err, gotErr)
		}
		var typed *Error
		if gotErr != nil {
			if !errors.As(gotErr, &typed) {
				t.Fatalf("untyped error %v", gotErr)
			}
			continue
		}
		if len(got.Graph.Initializers) != len(m.Graph.Initializers) {
			t.Fatalf("%d initializers from memory, %d from the file", len(m.Graph.Initializers),
				len(got.Graph.Initializers))
		}
		for i, w := range got.Graph.Initializers {
			want := m.Graph.Initializers[i]
			if w.Origin != want.Origin || w.IsExternal() != want.IsExternal() {
				t.Fatalf("%s lies at %+v from memory, at %+v from the file", want.Name, want.Origin,
					w.Origin)
			}
			if w.data != nil && w.Origin.File != "" && w.Origin.Length >= leave &&
				w.Origin.Length > 0 {
				t.Fatalf("%s of %d bytes was read", w.Name, w.Origin.Length)
			}
		}
		if a, b := strip(t, m), strip(t, got); !reflect.DeepEqual(a, b) {
			// NaN attributes differ from themselves; what is written does not.
			x, errX := a.Marshal()
			y, errY := b.Marshal()
			if errX != nil || errY != nil || string(x) != string(y) {
				t.Fatal("the models differ")
			}
		}
	}
}

// TestLoadAgreesWithParse: whether weights are left in the file makes no difference, on good files
// and on damaged ones.
func TestLoadAgreesWithParse(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../onnxgrad/testdata/*.onnx")
	if err != nil || len(files) == 0 {
		t.Fatal("no fixtures")
	}
	rounds := 12 // damaged copies of each of the files
	if testmode.All() {
		rounds = 40
	}
	for i, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			good, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(1, uint64(i)))
			for k := range rounds {
				data := append([]byte(nil), good...)
				switch {
				case k == 0:
				case k%4 == 0:
					data = data[:rng.IntN(len(data))]
				default:
					data[rng.IntN(min(len(data), 40_000))] ^= 1 << rng.IntN(8)
				}
				dir := fstest.MapFS{"m.onnx": {Data: data}}
				m, err := Parse(data, "m.onnx", dir)
				agree(t, m, err, dir)
			}
		})
	}
}

// TestLoadTakesLittleMemory: loading does not read the weights.
func TestLoadTakesLittleMemory(t *testing.T) {
	const size = 64 << 20
	m := small()
	w := NewTensor("table", Float, []int64{size / 4}, make([]byte, size))
	m.Graph.Initializers = append(m.Graph.Initializers, w)
	dir := t.TempDir()
	data, err := m.Marshal()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "model.onnx"), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	back, err := Load(os.DirFS(dir), "model.onnx")
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
		t.Errorf("loading a file of %d bytes allocated %d", size, used)
	}
	got := back.Graph.Initializers[len(back.Graph.Initializers)-1]
	if got.IsExternal() || got.Origin.Length != size || got.Origin.File != "model.onnx" {
		t.Errorf("%+v", got)
	}
	d, err := got.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close() //nolint:errcheck // opened for reading
	if _, err := d.ReadAt(make([]byte, 8), size-4); !errors.Is(err, ErrExternal) {
		t.Errorf("reading past the end: %v", err)
	}
}

// A tensor whose bytes are not those of its shape gives an error to whoever asks for them, and
// does not end the program.
func TestBytesThatDoNotFit(t *testing.T) {
	t.Parallel()
	changed := Floats("changed", []int64{2}, 1, 2)
	changed.Dims = []int64{3}
	for _, c := range []struct {
		t    *Tensor
		want error
	}{
		{NewTensor("few", Float, []int64{2}, make([]byte, 7)), errGraph},
		{NewTensor("many", Int64, nil, make([]byte, 16)), errGraph},
		{NewTensor("negative", Float, []int64{-1}, nil), errLimit},
		{Floats("floats", []int64{3}, 1, 2), errGraph},
		{Ints("ints", Int64, []int64{1}), errGraph},
		{changed, errGraph},
	} {
		_, bytesErr := c.t.Bytes()
		_, openErr := c.t.Open()
		_, floatsErr := c.t.Float64s()
		for _, err := range []error{bytesErr, openErr, floatsErr, c.t.readInto(make([]byte, 64))} {
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.t.Name) {
				t.Errorf("%s: %v, want %v", c.t.Name, err, c.want)
			}
		}
	}
}
