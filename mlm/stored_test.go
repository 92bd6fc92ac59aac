package mlm

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"infill/internal/ort/orttest"
	"infill/mlm/onnx"
	"infill/models"
	"infill/models/weights"
)

// TestStoredWeights: a folder whose weights are in the stored form gives the numbers of the same
// weights in a plain file, also when its files are read again after it was opened.
func TestStoredWeights(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	from, dir := models.Small(), t.TempDir()
	plain, err := fs.ReadFile(from, weights.Given)
	if err != nil {
		t.Fatal(err)
	}
	put := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(weights.Stored, plain) // float16 tensors may be stored as they are
	for _, name := range []string{"vocab.txt", "config.json", "tokenizer_config.json"} {
		data, err := fs.ReadFile(from, name)
		if err != nil {
			t.Fatal(err)
		}
		put(name, data)
	}
	// The given file has the same tensors in the same order after a header of another length.
	given, err := fs.ReadFile(weights.Expand(os.DirFS(dir)), weights.Given)
	if err != nil {
		t.Fatal(err)
	}
	more := int64(binary.LittleEndian.Uint64(given)) - int64(binary.LittleEndian.Uint64(plain))
	m, err := onnx.Load(from, "model.onnx")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range m.Graph.Initializers {
		if x.IsExternal() && x.Origin.File == weights.Given {
			x.Origin.Offset += more
		} else {
			x.Origin.File = "" // stays in the model file
		}
	}
	data, err := m.MarshalExternal(4097,
		func(f string) string { return f })

	if err != nil {
		t.Fatal(err)
	}
	put("model.onnx", data)

	want := openDefault(t, options{})
	got, err := OpenDir(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = got.Close() }()
	enc, err := got.Tokenizer().Encode("The [MASK] sat on the [MASK].")
	if err != nil {
		t.Fatal(err)
	}
	blanks := []int{}
	for i, id := range enc.IDs {
		if id == got.Info().MaskID {
			blanks = append(blanks, i)
		}
	}
	a, b := table(len(blanks), want.VocabSize()), table(len(blanks), want.VocabSize())
	s := &Sentence{enc.IDs, blanks}
	if err := errors.Join(want.Independent(t.Context(), s, a),
		got.Independent(t.Context(), s, b)); err != nil {
		t.Fatal(err)
	}
	for i := range a {
		if !slices.Equal(a[i], b[i]) {
			t.Errorf("blank %d: other numbers than those of the plain file", i)
		}
	}
	runtime.GC() // the folder must stay open until the model is closed
	if err := readAgain(got); err != nil {
		t.Errorf("read again: %v", err)
	}
	if info, problems := InspectDir(dir, ""); len(problems) > 0 || info.SHA256 != got.Info().SHA256 {
		t.Errorf("inspected %s, opened %s: %v", info.SHA256, got.Info().SHA256, problems)
	}
	put(weights.Stored, plain[:100])
	if _, err := OpenDir(t.Context(), dir, Options{}); err == nil {
		t.Error("a damaged file was opened")
	}
}
