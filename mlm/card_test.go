package mlm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"infill/internal/ort"
	"infill/internal/ort/orttest"
	"infill/mlm/device/devicetest"
)

// A device that has half precision brings it where no gradient is asked for. Its rows are a little
// off, those of its float32 model are not, and full gradients are refused with what helps.
func TestFloat16(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	open := func(o Options) *Model {
		t.Helper()
		m, err := Open(t.Context(), fixtureFiles(t, "bert-sdpa-tied"), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = m.Close() })
		return m
	}
	plain := open(Options{})
	half := open(Options{Devices: devicetest.Devices(),
		Device: devicetest.Card, Precision: Auto, Forward: true})
	whole := open(Options{Devices: devicetest.Devices(), Device: devicetest.Card, Precision: Auto})
	if half.Precision() != Float16 || whole.Precision() != Float32 || half.SameBytes() {
		t.Fatalf("%v and %v", half.Precision(), whole.Precision())
	}
	if half.Streams() <= half.Threads() || plain.Streams() != plain.Threads() {
		t.Errorf("%d and %d streams", half.Streams(), plain.Streams())
	}
	exact, err := half.Float32(t.Context())
	if err != nil || exact.Device() != devicetest.Card {
		t.Fatalf("in float32: %v, %v", exact, err)
	}
	s := &Sentence{IDs: []int32{2, 10, 11, 12, 13, 3}, Blanks: []int{1, 3, 4}}
	states := [][]int32{{20, 21, 22}, {30, 31, 32}}
	of := func(m *Model) []float32 {
		out := [][]float32{make([]float32, m.VocabSize()), make([]float32, m.VocabSize())}
		if err := m.Conditional(t.Context(), s, states, []int{0, 2}, out); err != nil {
			t.Fatal(err)
		}
		return append(out[0], out[1]...)
	}
	worst := func(a, b []float32) (off float64) {
		for i := range a {
			off = max(off, math.Abs(float64(a[i]-b[i])))
		}
		return off
	}
	want := of(plain)
	if off := worst(of(half), want); off == 0 || off > .02 {
		t.Errorf("half precision is off by %g nats", off)
	}
	for _, m := range []*Model{exact, whole} {
		if off := worst(of(m), want); off > 1e-5 {
			t.Errorf("float32 is off by %g nats", off)
		}
	}
	lp, g := [][]float32{make([]float32, 3)}, [][]float32{make([]float32, 3*half.VocabSize())}
	err = half.Gradient(t.Context(), s, states[:1], Full, lp, g)
	if !errors.Is(err, ErrNoGradient) || !strings.Contains(err.Error(), Float32.String()) {
		t.Error(err)
	}
	if err := whole.Gradient(t.Context(), s, states[:1], Full, lp, g); err != nil {
		t.Error(err)
	}
	_, err = Open(t.Context(), fixtureFiles(t, "bert-sdpa-tied"), Options{Precision: Float16})
	if !errors.Is(err, ErrOption) || !strings.Contains(err.Error(), "cpu") ||
		!strings.Contains(err.Error(), "fp32") {
		t.Errorf("half precision on the processor: %v", err)
	}
}

// tight is a backend with memory for a number of rows.
type tight struct {
	*fakeBackend
	rows int
}

func (b tight) run(ctx context.Context, x *batch) error {
	if x.rows > b.rows {
		return fmt.Errorf("%w: 2: Failed to allocate memory for requested buffer of size %d",
			ort.ErrMemory, x.rows)
	}
	return b.fakeBackend.run(ctx, x)
}

// What does not fit into a device's memory is evaluated in parts, with the same results. Later
// batches begin with what fits, and the error of a part that never fits names its size.
func TestHalving(t *testing.T) {
	t.Parallel()
	results := func(be backend) ([]float32, error) {
		info := facts{Info: Info{Vocab: fakeVocab, MaskID: fakeMask, Gradients: true}}
		m := &Model{info: info, be: be}
		m.sched = newScheduler(be, 1, bounds{batch: 1 << 20, apart: 2}, &m.info)
		t.Cleanup(func() { _ = m.Close() })
		s := &Sentence{IDs: []int32{1, 2, 3, 5, 6, 7}, Blanks: []int{1, 3, 4}}
		var states [][]int32
		var lp, grad [][]float32
		for i := range int32(9) {
			states = append(states, []int32{8 + i, 9, 10})
			lp = append(lp, make([]float32, 3))
			grad = append(grad, make([]float32, 3*fakeVocab))
		}
		err := m.Gradient(t.Context(), s, states, Full, lp, grad)
		var out []float32
		for i := range lp {
			out = append(append(out, lp[i]...), grad[i]...)
		}
		err = errors.Join(err, m.LogProb(t.Context(), s, states, lp))
		for i := range lp {
			out = append(out, lp[i]...)
		}
		return out, err
	}
	want, err := results(&fakeBackend{t: t})
	if err != nil {
		t.Fatal(err)
	}
	h := &halving{backend: tight{&fakeBackend{t: t}, 7}}
	got, err := results(h)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("in parts: %v, or other results", err)
	}
	if most := h.most.Load(); most < 6 || most > 7*6 {
		t.Errorf("%d tokens are said to fit", most)
	}
	_, err = results(&halving{backend: tight{&fakeBackend{t: t}, 1}})
	if !errors.Is(err, ort.ErrMemory) || !strings.Contains(err.Error(), "3 rows of 6 tokens") {
		t.Error(err)
	}
}

// Batches on a device beside the processor need none of the model's places, and have one size,
// whatever is asked for.
func TestApart(t *testing.T) {
	t.Parallel()
	be := &fakeBackend{t: t}
	m := &Model{info: facts{Info: Info{Vocab: fakeVocab, MaskID: fakeMask}}, be: be}
	m.sched = newScheduler(be, 3, bounds{batch: 1 << 20, apart: 2}, &m.info)
	defer m.Close() //nolint:errcheck // end of the test
	for range 3 {   // somebody has all of them
		if err := m.sched.Take(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	s := &Sentence{IDs: []int32{1, 2, 3}, Blanks: []int{1}}
	states, at, out := [][]int32{}, []int{}, [][]float32{}
	for i := range int32(40) {
		states, at, out = append(states, []int32{i}), append(at, 0), append(out, make([]float32, fakeVocab))
	}
	s2 := &Sentence{IDs: []int32{1, 2, 3, 6}, Blanks: []int{1, 2}}
	two := [][]int32{}
	for i := range int32(40) {
		two = append(two, []int32{9, 5 + i})
	}
	if err := errors.Join(m.Conditional(t.Context(), s, states, at, out),
		m.Conditional(t.Context(), s2, two, at, out)); err != nil {
		t.Fatal(err)
	}
	if be.batches.Load() != 2 || be.rows.Load() != 2*mostApart {
		t.Errorf("%d batches of %d rows", be.batches.Load(), be.rows.Load())
	}
	for range 3 {
		m.sched.Give()
	}
}
