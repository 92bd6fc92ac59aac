package onnxgrad

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"infill/internal/ort"
	"infill/internal/ort/orttest"
	"infill/internal/testmode"
	"infill/mlm/onnx"
	"infill/mlm/onnxeval"
)

type array struct {
	Shape []int
	Data  []float64
}

func (a array) ints() []int64 {
	v := make([]int64, len(a.Data))
	for i, x := range a.Data {
		v[i] = int64(x)
	}
	return v
}

func (a array) dims() []int64 {
	v := make([]int64, len(a.Shape))
	for i, x := range a.Shape {
		v[i] = int64(x)
	}
	return v
}

// fixture is what make_fixtures.py stored about a model.
type fixture struct {
	name    string
	model   *onnx.Model
	session func() (*session, error)
	Calls   []map[string]array
}

// fixtures are all stored models with a gradient. Tests share them and must not change them.
func fixtures(t testing.TB) []fixture {
	t.Helper()
	all, err := readFixtures()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clone(all)
}

var readFixtures = sync.OnceValues(func() ([]fixture, error) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no fixtures: %w", err)
	}
	var out []fixture
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		f := fixture{name: strings.TrimSuffix(filepath.Base(file), ".json")}
		if strings.Contains(f.name, "int8") {
			continue // no gradient; package mlm tests them
		}
		if err := json.Unmarshal(raw, &f); err != nil {
			return nil, err
		}
		if f.model, err = onnx.Load(os.DirFS("testdata"), f.name+".onnx"); err != nil {
			return nil, err
		}
		f.session = sync.OnceValues(func() (*session, error) {
			d, err := Derive(f.model, Options{})
			if err != nil {
				return nil, err
			}
			return newSession(d, ort.Config{})
		})
		out = append(out, f)
	}
	return out, nil
})

// named is one of the fixtures.
func named(t testing.TB, name string) fixture {
	t.Helper()
	for _, f := range fixtures(t) {
		if f.name == name {
			return f
		}
	}
	t.Fatalf("no fixture %q", name)
	return fixture{}
}

// eachFixture runs a test on every fixture, several at a time.
func eachFixture(t *testing.T, test func(t *testing.T, f fixture)) {
	t.Helper()
	for _, f := range fixtures(t) {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			test(t, f)
		})
	}
}

// open is a session of the derived graph with the usual options, which all tests of a fixture
// share.
func (f fixture) open(t testing.TB) *session {
	t.Helper()
	orttest.Load(t)
	s, err := f.session()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func loadModel(t testing.TB, file string) *onnx.Model {
	t.Helper()
	m, err := onnx.Load(os.DirFS(filepath.Dir(file)), filepath.Base(file))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func derive(t testing.TB, m *onnx.Model) *Derived {
	t.Helper()
	d, err := Derive(m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// relative is the largest difference over the largest true value.
func relative[T float32 | float64](got []T, want []float64) float64 {
	if len(got) != len(want) {
		return math.Inf(1)
	}
	diff, scale := 0.0, 0.0
	for i, w := range want {
		if x := math.Abs(float64(got[i]) - w); !(x <= diff) {
			diff = x
		}
		scale = max(scale, math.Abs(w))
	}
	return diff / scale
}

// tolerance is how far results may be from torch's relative to limit. Files that compute in float16
// or bfloat16 hold constants (√2, 1/√d, epsilons) in that type too, so that their function is a
// little different; how exact their gradients are is tested by differences.
func (f fixture) tolerance(limit float64) float64 {
	switch {
	case strings.HasSuffix(f.name, "bfloat16"):
		return 0.02
	case strings.HasSuffix(f.name, "float16"), strings.HasSuffix(f.name, "float16-torch"):
		return 2e-3
	}
	return limit
}

// second is the second term of ∇U alone.
func second[T float32 | float64](c map[string]array, gradient, conditional []T) (got []T,
	want []float64) {
	for i := range gradient {
		got = append(got, gradient[i]-conditional[i])
		want = append(want, c["gradient"].Data[i]-c["conditional"].Data[i])
	}
	return got, want
}

// TestDerivationInFloat64 evaluates the derived graphs with the float64 reference and compares them
// with torch autograd in float64. What remains are constants that exports store in float32, such as
// 1/√d.
func TestDerivationInFloat64(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, f fixture) {
		d := derive(t, f.model)
		e, err := newEvaluator(d.Model)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range f.Calls {
			yes := &onnxeval.Tensor{Type: onnx.Bool, Shape: []int{}, I: []int64{1}}
			in := map[string]*onnxeval.Tensor{inConditional: yes, inGradient: yes}
			for _, name := range d.Inputs {
				if a, ok := withAlike(d, c)[name]; ok {
					in[name] = onnxeval.NewInt(a.Shape, a.ints())
				}
			}
			out, err := e.Run(in, outLogProb, outCondition, outGradient)
			if err != nil {
				t.Fatalf("%s: %v", f.name, err)
			}
			for k, name := range []string{outLogProb, outCondition, outGradient} {
				if !slices.Equal(out[k].Shape, c[name].Shape) {
					t.Errorf("%s, call %d: %s has shape %v, want %v", f.name, i, name, out[k].Shape,
						c[name].Shape)
				}
				if r := relative(out[k].F, c[name].Data); !(r < f.tolerance(1e-6)) {
					t.Errorf("%s, call %d: %s is off by %.2g", f.name, i, name, r)
				}
			}
			if got, want := second(c, out[2].F, out[1].F); c["blanks"].Shape[1] > 1 {
				if r := relative(got, want); !(r < f.tolerance(1e-6)) {
					t.Errorf("%s, call %d: the second term is off by %.2g", f.name, i, r)
				}
			}
		}
	})
}

// session runs a derived graph on the runtime.
type session struct {
	*ort.Session
	inputs  []string
	derived *Derived // nil for an original graph
}

// open runs d until the test ends.
func open(t testing.TB, d *Derived, cfg ort.Config) *session {
	t.Helper()
	orttest.Load(t)
	s, err := newSession(d, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() }) //nolint:errcheck // end of the test
	return s
}

func newSession(d *Derived, cfg ort.Config) (*session, error) {
	data, err := d.Model.Marshal()
	if err != nil {
		return nil, err
	}
	s, err := ort.OpenBytes("derived", data, d.Inputs,
		[]string{outLogProb, outCondition, outGradient}, cfg)
	if err != nil {
		return nil, err
	}
	return &session{s, d.Inputs, d}, nil
}

// withAlike adds to a call which of its positions are alike.
func withAlike(d *Derived, c map[string]array) map[string]array {
	if d == nil || !slices.Contains(d.Inputs, inFirst) {
		return c
	}
	var a alike
	var others [][]int64
	for _, name := range knownInputs[1:] {
		if x, ok := c[name]; ok && slices.Contains(d.Inputs, name) {
			others = append(others, x.ints())
		}
	}
	ids := c["input_ids"]
	a.Find(ids.Shape[1], d.Counted, ids.ints(), others...)
	out := maps.Clone(c)
	out[inFirst], out[inNumbers] = array{Shape: []int{len(a.First)}}, array{Shape: ids.Shape}
	for name, list := range map[string][]int64{inFirst: a.First, inNumbers: a.Numbers} {
		x := out[name]
		for _, v := range list {
			x.Data = append(x.Data, float64(v))
		}
		out[name] = x
	}
	return out
}

type result struct {
	logProb, conditional, gradient []float32
	shapes                         [3][]int64
}

func tensor[T ort.Element](t testing.TB, shape []int64, v []T) *ort.Tensor {
	t.Helper()
	x, err := ort.NewTensor(shape, v)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func (s *session) feed(t testing.TB, c map[string]array, conditional, gradient bool) []*ort.Tensor {
	t.Helper()
	var in []*ort.Tensor
	if _, ok := c[inFirst]; !ok {
		c = withAlike(s.derived, c)
	}
	for _, name := range s.inputs {
		switch name {
		case inConditional:
			in = append(in, tensor(t, nil, []bool{conditional}))
		case inGradient:
			in = append(in, tensor(t, nil, []bool{gradient}))
		default:
			a, ok := c[name]
			if !ok {
				t.Fatalf("call without %s", name)
			}
			in = append(in, tensor(t, a.dims(), a.ints()))
		}
	}
	return in
}

func (s *session) run(t testing.TB, c map[string]array, conditional, gradient bool) result {
	t.Helper()
	in := s.feed(t, c, conditional, gradient)
	out := make([]*ort.Tensor, 3)
	if err := s.Run(context.Background(), in, out); err != nil {
		t.Fatal(err)
	}
	var r result
	for i, to := range []*[]float32{&r.logProb, &r.conditional, &r.gradient} {
		v, ok := out[i].Floats()
		if !ok {
			t.Fatalf("output %d is not float32", i)
		}
		*to, r.shapes[i] = slices.Clone(v), slices.Clone(out[i].Shape())
		out[i].Close()
	}
	for _, x := range in {
		x.Close()
	}
	return r
}

// TestRuntimeAgainstTorch is the check that the whole rests on: float32 on the runtime against
// torch autograd in float64, single chains, batches of chains, padded rows, one blank and several.
func TestRuntimeAgainstTorch(t *testing.T) {
	t.Parallel()
	const limit = 1e-5
	eachFixture(t, func(t *testing.T, f fixture) {
		s := f.open(t)
		for i, c := range f.Calls {
			r := s.run(t, c, true, true)
			worst := max(relative(r.logProb, c["log_prob"].Data),
				relative(r.conditional, c["conditional"].Data), relative(r.gradient,
					c["gradient"].Data))
			if c["blanks"].Shape[1] > 1 {
				worst = max(worst, relative(second(c, r.gradient, r.conditional)))
			} else if !slices.Equal(r.gradient, r.conditional) {
				t.Errorf("%s, call %d: with one blank the gradient is not the conditional", f.name,
					i)
			}
			if !(worst < f.tolerance(limit)) {
				t.Errorf("%s, call %d: off by %.2g", f.name, i, worst)
			}
			// The parts that were not asked for are empty, the rest the same.
			energy := s.run(t, c, false, false)
			if !slices.Equal(energy.logProb, r.logProb) || len(energy.conditional) != 1 ||
				len(energy.gradient) != 1 {
				t.Errorf("%s, call %d: energy only differs, or gives %v", f.name, i, energy.shapes)
			}
			t.Logf("%s, call %d: worst relative error %.2g", f.name, i, worst)
		}
	})
}

// part takes chains [from, to) of a call and pads rows to `length`.
func part(c map[string]array, from, to, length int) map[string]array {
	m := c["blanks"].Shape[1]
	out := map[string]array{}
	for name, a := range c {
		if name == "logits" {
			continue
		}
		row := len(a.Data) / a.Shape[0]
		lo, hi := from*m, to*m
		if name == "blanks" || name == "gradient" {
			lo, hi = from, to
		}
		b := array{Shape: slices.Clone(a.Shape)}
		b.Shape[0] = hi - lo
		if strings.HasSuffix(name, "ids") || name == "attention_mask" {
			b.Shape[1] = length
			for r := lo; r < hi; r++ {
				b.Data = append(b.Data, a.Data[r*row:(r+1)*row]...)
				b.Data = append(b.Data, make([]float64, length-row)...)
			}
		} else {
			b.Data = a.Data[lo*row : hi*row]
		}
		out[name] = b
	}
	return out
}

// TestNeighboursAndPadding: what a chain gets depends neither on the batch it is in nor on padding.
func TestNeighboursAndPadding(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, f fixture) {
		s := f.open(t)
		c := f.Calls[2]
		for chain := range c["blanks"].Shape[0] {
			alone := part(c, chain, chain+1, c["input_ids"].Shape[1]+4)
			r := s.run(t, alone, true, true)
			worst := max(relative(r.logProb, alone["log_prob"].Data),
				relative(r.gradient, alone["gradient"].Data))
			if !(worst < f.tolerance(1e-5)) {
				t.Errorf("%s, chain %d alone and padded: off by %.2g", f.name, chain, worst)
			}
		}
	})
}

// TestFiniteDifferences checks a trained model the way package checktest does.
func TestFiniteDifferences(t *testing.T) {
	t.Parallel()
	m := loadModel(t, "../testdata/tiny-bert/model.onnx")
	checkByDifferences(t, m, []int64{2, 7, 24, 43, 10, 7, 36, 20, 3}, []int{2, 3, 6}, 4, 25)
}

// TestSharedModel does the same on a model of real size, where it is at hand.
func TestSharedModel(t *testing.T) {
	t.Parallel()
	m := loadModel(t, filepath.Join(shared(t), "model-v0", "model.onnx"))
	checkByDifferences(t, m, []int64{2, 1000, 2000, 3000, 57, 4000, 5000, 3}, []int{2, 4}, 4, 4)
}

func checkByDifferences(t *testing.T, m *onnx.Model, ids []int64, blanks []int, mask int64,
	tokens int) {
	t.Helper()
	lm, err := NewMaskedLM(m)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, derive(t, m), ort.Config{})
	c := map[string]array{"blanks": {Shape: []int{1, len(blanks)}}}
	grid := []int{len(blanks), len(ids)}
	rows, ones := array{Shape: grid}, array{Shape: grid}
	where, targets := array{Shape: grid[:1]}, array{Shape: grid[:1]}
	for _, b := range blanks {
		for i, id := range ids {
			if i == b {
				id = mask
			}
			rows.Data, ones.Data = append(rows.Data, float64(id)), append(ones.Data, 1)
		}
		where.Data, targets.Data = append(where.Data, float64(b)),
			append(targets.Data, float64(ids[b]))
	}
	c["blanks"] = array{Shape: []int{1, len(blanks)}, Data: where.Data}
	c["input_ids"], c["attention_mask"], c["positions"], c["targets"] = rows, ones, where, targets
	c["token_type_ids"] = array{Shape: grid, Data: make([]float64, len(rows.Data))}
	r := s.run(t, c, true, true)
	rng := rand.New(rand.NewPCG(1, 1))
	along := make([][]int, len(blanks))
	for j := range along {
		along[j] = rng.Perm(lm.Vocabulary())[:min(tokens, lm.Vocabulary())]
	}
	rep, err := lm.Check(t.Context(), &Sentence{IDs: ids, Blanks: blanks, Mask: mask},
		Outputs{LogProb: r.logProb, Conditional: r.conditional,
			Gradient: r.gradient}, along)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("relative errors: log f %.2g, conditional %.2g, gradient %.2g, second term %.2g",
		rep.LogProb.Rel(), rep.Conditional.Rel(), rep.Gradient.Rel(), rep.Second.Rel())
	for name, d := range map[string]Deviation{"U": rep.Energy, "log f": rep.LogProb,
		"conditional": rep.Conditional, "gradient": rep.Gradient, "second term": rep.Second} {
		if !(d.Rel() < 1e-5) {
			t.Errorf("%s: relative error %.2g", name, d.Rel())
		}
	}
	if rep.Second.Scale < 0.01 {
		t.Errorf("the second term is at most %g: the check shows nothing", rep.Second.Scale)
	}
}

// shared finds the folder of shared data, or skips.
func shared(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("TEST_INFILL_SHARED"); dir != "" {
		return dir
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			found := filepath.Join(filepath.Dir(dir), "shared")
			if _, err := os.Stat(found); err == nil {
				return found
			}
		}
	}
	testmode.Missing(t, "shared data; set TEST_INFILL_SHARED")
	return ""
}

// TestExternalWeights: the derived graph written with references into the original file gives the
// same.
func TestExternalWeights(t *testing.T) {
	t.Parallel()
	f := fixtures(t)[0]
	d := derive(t, f.model)
	want := open(t, d, ort.Config{}).run(t, f.Calls[2], true, true)
	dir := t.TempDir()
	original, err := os.ReadFile("testdata/" + f.name + ".onnx")
	if err != nil {
		t.Fatal(err)
	}
	small, err := d.Model.MarshalExternal(256, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, f.name+".onnx"), original, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := ort.OpenBytes("derived", small, d.Inputs,
		[]string{outLogProb, outCondition, outGradient}, ort.Config{Entries: map[string]string{
			"session.model_external_initializers_file_folder_path": dir}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // end of the test
	got := (&session{s, d.Inputs, d}).run(t, f.Calls[2], true, true)
	if !slices.Equal(got.logProb, want.logProb) || !slices.Equal(got.gradient, want.gradient) {
		t.Error("external weights change the result")
	}
	whole, err := d.Model.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if len(small) > len(whole)*3/4 {
		t.Errorf("%d bytes with external weights, %d with all in the graph", len(small), len(whole))
	}
}
