package mlm_test

import (
	"context"
	"io/fs"
	"os"
	"testing"

	"infill/internal/ort/orttest"
	"infill/mlm"
	"infill/mlm/checktest"
	"infill/models"
)

// tiny is a trained model of a small vocabulary.
var tiny = os.DirFS("testdata/tiny-bert")

// checked opens a model and checks it.
func checked(t *testing.T, files fs.FS, o mlm.Options, c checktest.Options) *checktest.Report {
	t.Helper()
	orttest.Load(t)
	m, err := mlm.Open(t.Context(), files, o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	r, err := checktest.Check(t.Context(), m, files, c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, o := range []checktest.Options{{}, {Seed: 5, Blanks: 2, Directions: 8}} {
		if r := checked(t, tiny, mlm.Options{}, o); !r.OK || r.GradientError > 1e-5 ||
			r.LogProbError > 1e-5 || r.Directions == 0 {
			t.Errorf("%+v", *r)
		}
	}
}

// wrongGradient is a model whose backward term is too large by a part of it.
type wrongGradient struct {
	*mlm.Model
	part float32
}

func (w wrongGradient) Gradient(ctx context.Context, s *mlm.Sentence, states [][]int32,
	mode mlm.GradientMode, logProb, grad [][]float32) error {
	if err := w.Model.Gradient(ctx, s, states, mode, logProb, grad); err != nil || mode != mlm.Full {
		return err
	}
	first := [][]float32{make([]float32, len(grad[0]))}
	if err := w.Model.Gradient(ctx, s, states, mlm.Forward, logProb, first); err != nil {
		return err
	}
	for i, x := range first[0] {
		grad[0][i] += (grad[0][i] - x) * w.part
	}
	return nil
}

func TestCheckFindsErrors(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	m, err := mlm.Open(t.Context(), tiny, mlm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	r, err := checktest.Check(t.Context(), wrongGradient{m, .01}, tiny, checktest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.OK || r.GradientError < 5e-3 || r.GradientError > 2e-2 {
		t.Errorf("a gradient that is off by 1 %% passes: %+v", *r)
	}
}

func TestCheckSmall(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: float64 takes some seconds")
	}
	if r := checked(t, models.Small(), mlm.Options{},
		checktest.Options{Blanks: 2, Directions: 1}); !r.OK {
		t.Errorf("%+v", *r)
	}
}
