package mlm_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"infill/internal/ort/orttest"
	"infill/mlm"
	"infill/mlm/onnx"
)

// interfaceFolder is a folder with an export of testdata/interfaces and the tokenizer of BERT.
func interfaceFolder(t testing.TB, name string) string {
	t.Helper()
	dir := exportFolder(t, "bert", "bert-sdpa-tied")
	data, err := os.ReadFile(filepath.Join("testdata", "interfaces", name+".onnx"))
	if err = errors.Join(err, os.WriteFile(filepath.Join(dir, "model.onnx"), data, 0o600)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A formTruth is what onnxruntime has from a file of testdata/interfaces: log f of the pieces of a
// sentence that are not special.
type formTruth struct {
	IDs     []int32
	LogProb []float64 `json:"log_prob"`
}

// formTruths are the truths of expected.json, by the file's name.
func formTruths(t testing.TB) map[string][]formTruth {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "interfaces", "expected.json"))
	var out map[string][]formTruth
	if err = errors.Join(err, json.Unmarshal(data, &out)); err != nil || len(out) == 0 {
		t.Fatal(err, len(out))
	}
	return out
}

// compareForm compares scores with onnxruntime's.
func compareForm(t *testing.T, m *mlm.Model, truths []formTruth, bound float64) {
	t.Helper()
	for _, truth := range truths {
		s := &mlm.Sentence{IDs: truth.IDs}
		var state []int32
		for i, id := range truth.IDs {
			if !m.Tokenizer().IsSpecial(id) {
				s.Blanks, state = append(s.Blanks, i), append(state, id)
			}
		}
		lp := [][]float32{make([]float32, len(state))}
		if err := m.LogProb(context.Background(), s, [][]int32{state}, lp); err != nil {
			t.Fatal(err)
		}
		for i, got := range lp[0] {
			if want := truth.LogProb[i]; math.Abs(float64(got)-want) > bound {
				t.Errorf("piece %d of %v: log f %v, want %v", i, truth.IDs, got, want)
			}
		}
	}
}

// Products and tables of words in 4 bits are read, in int4 and in uint4. In half precision every
// step of the reference is rounded, which ours are not.
func TestFourBits(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	for name, bound := range map[string]float64{"q4": near, "q4-uint4": near, "q4f16": 2e-2} {
		m, err := mlm.OpenDir(t.Context(), interfaceFolder(t, name), mlm.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		compareForm(t, m, formTruths(t)[name], bound)
		if i := m.Info(); i.Ops["com.microsoft.GatherBlockQuantized"] == 0 || i.Gradients ||
			!strings.Contains(i.NoGradients, "integers") {
			t.Errorf("%s: %+v", name, i)
		}
		fillFolder(t, m)
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

// editedFolder is a folder with an export of BERT whose graph was changed.
func editedFolder(t testing.TB, fixture string, change func(*onnx.Model)) string {
	t.Helper()
	dir := exportFolder(t, "bert", fixture)
	m, err := onnx.Load(os.DirFS(dir), "model.onnx")
	if err != nil {
		t.Fatal(err)
	}
	change(m)
	data, err := m.Marshal()
	if err = errors.Join(err, os.WriteFile(filepath.Join(dir, "model.onnx"), data, 0o600)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// opened opens a model until the test ends.
func opened(t *testing.T, dir string) *mlm.Model {
	t.Helper()
	m, err := mlm.OpenDir(t.Context(), dir, mlm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// says wants a note of what was done to the file.
func says(t *testing.T, notes []string, want string) {
	t.Helper()
	if all := strings.Join(notes, "; "); !strings.Contains(all, want) {
		t.Errorf("the notes are %q, want %q", all, want)
	}
}

// Rows are filled up to the size of a file that has one size only. There are no gradients then, and
// a longer text is too long.
func TestFixedSizes(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	for name, length := range map[string]int{"fixed-1x16": 16, "fixed-2x32": 32} {
		dir := interfaceFolder(t, name)
		m := opened(t, dir)
		compareForm(t, m, formTruths(t)[name], near)
		compareFolder(t, m, readTruth(t, "bert"), name == "fixed-1x16")
		fillFolder(t, m)
		i := m.Info()
		says(t, i.Adapted, "rows of exactly")
		if i.MaxLength != length || i.Gradients || !strings.Contains(i.NoGradients, "dynamic axes") {
			t.Errorf("%s: %+v", name, i)
		}
		if got, problems := mlm.InspectDir(dir, ""); len(problems) > 0 ||
			got.NoGradients != i.NoGradients || got.MaxLength != length {
			t.Errorf("%s: %+v, %v", name, got, problems)
		}
		long := &mlm.Sentence{IDs: make([]int32, length+1), Blanks: []int{1}}
		if err := m.LogProb(t.Context(), long, [][]int32{{5}}, [][]float32{{0}}); !errors.Is(err,
			mlm.ErrTooLong) {
			t.Errorf("%s: %v", name, err)
		}
		short := &mlm.Sentence{IDs: long.IDs[:length], Blanks: []int{1, 2}}
		if err := m.Gradient(t.Context(), short, [][]int32{{5, 6}}, mlm.Full, [][]float32{{0, 0}},
			[][]float32{make([]float32, 2*m.VocabSize())}); !errors.Is(err, mlm.ErrNoGradient) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
