package mlm

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"infill/internal/ort/orttest"
	"infill/internal/testmode"
	"infill/mlm/internal/export"
	"infill/mlm/internal/source"
	"infill/mlm/onnx"
	"infill/mlm/onnxgrad"
	"infill/models"
)

// calibratorOf is one for an open model, as if it stated no columns.
func calibratorOf(t *testing.T, m *Model) *calibrator {
	t.Helper()
	g, done, err := parsedAgain(m)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(done)
	info := m.info
	info.config.Exact = nil
	return &calibrator{m.from, g, m.tok, &info, m.options}
}

// The default model states the columns that are found on the text.
func TestStatedColumns(t *testing.T) {
	t.Parallel()
	testmode.Long(t)
	orttest.Load(t)
	m, err := open(t.Context(), source.Folder{FS: models.Default()}, of8)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	got, err := calibratorOf(t, m).columns(t.Context())
	if want := m.info.config.Exact; err != nil || !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("columns %v, %v; its config.json has %v", got, err, want)
	}
}

// The small model is near itself in float32 with the columns that are found for it.
func TestSmallInIntegers(t *testing.T) {
	t.Parallel()
	c := calibratorOf(t, openDefault(t, options{}))
	batches, err := c.batches()
	if err != nil {
		t.Fatal(err)
	}
	exact := &conditionals{}
	if _, err := c.run(t.Context(), onnxgrad.Options{Whole: true}, batches[:6], exact); err != nil {
		t.Fatal(err)
	}
	columns, err := c.columns(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rounded := &conditionals{beside: exact}
	if _, err := c.run(t.Context(), onnxgrad.Options{Whole: true, Int8: true, Exact: columns},
		batches[:6], rounded); err != nil {
		t.Fatal(err)
	}
	kl := rounded.divergence / float64(rounded.rows)
	if t.Logf("KL %.5f of %d rows", kl, rounded.rows); !(kl > 1e-6 && kl < mostDivergence) {
		t.Errorf("KL %.5f of %d rows", kl, rounded.rows)
	}
}

var of8 = options{Options: Options{Precision: Int8, Threads: 1}}

// A column that is made a hundred times as large is among those that stay in float32, in the layers
// whose input it is, and what the model says hardly changes. Columns that do not fit are refused.
func TestLargeColumnStays(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	dir := copyTiny(t)
	const column = 17
	path := filepath.Join(dir, "model.onnx")
	m, err := onnx.Load(os.DirFS(dir), "model.onnx")
	if err != nil {
		t.Fatal(err)
	}
	changed := 0
	for i, w := range m.Graph.Initializers {
		if !strings.Contains(w.Name, "LayerNorm.weight") || strings.Contains(w.Name, "cls.") {
			continue
		}
		v, err := w.Float64s()
		if err != nil {
			t.Fatal(err)
		}
		scale := make([]float32, len(v))
		for k, x := range v {
			scale[k] = float32(x)
		}
		scale[column] *= 100
		m.Graph.Initializers[i] = onnx.Floats(w.Name, w.Dims, scale...)
		changed++
	}
	data, err := m.Marshal()
	if err := errors.Join(err, os.WriteFile(path, data, 0o600)); err != nil || changed == 0 {
		t.Fatal(changed, err)
	}
	one, err := openDir(context.Background(), dir, options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = one.Close() }()
	c := calibratorOf(t, one)
	columns, err := c.columns(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, list := range columns {
		if slices.Contains(list, column) {
			found++
		}
	}
	// Of a layer's six matrices four read what a norm gives.
	if 3*found < 2*len(columns) {
		t.Errorf("in %d of %d matrices: %v", found, len(columns), columns)
	}
	c.info.config.Exact = columns[1:]
	x, err := export.Of(c.graph).Masked(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range [][][]int{columns[1:], slices.Repeat([][]int{{-1}}, len(columns)),
		slices.Repeat([][]int{{1 << 20}}, len(columns))} {
		o := of8
		o.stated, o.columns = wrong, func() ([][]int, error) { return wrong, nil }
		if _, err := derive(c.from, x, o, nil); err == nil || !strings.Contains(err.Error(), "column") {
			t.Errorf("columns %.40v: %v", wrong, err)
		}
	}
}
