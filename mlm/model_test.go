package mlm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"infill/internal/ort"
	"infill/internal/ort/orttest"
	"infill/internal/testmode"
	"infill/mlm/device/devicetest"
	"infill/mlm/internal/export"
	"infill/mlm/internal/source"
	"infill/mlm/onnx"
	"infill/models"
)

const tinyDir = "testdata/tiny-bert"

// of are options without those of tests.
func of(o Options) options { return options{Options: o} }

// openDir is OpenDir with those of tests.
func openDir(ctx context.Context, dir string, o options) (*Model, error) {
	from, done, err := source.Open(dir)
	if err != nil {
		return nil, err
	}
	defer done()
	return open(ctx, from, o)
}

func openTiny(t testing.TB, o options) *Model {
	t.Helper()
	orttest.Load(t)
	m, err := openDir(context.Background(), tinyDir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func openDefault(t testing.TB, o options) *Model {
	t.Helper()
	orttest.Load(t)
	m, err := open(context.Background(), source.Folder{FS: models.Small()}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// expected is a case of testdata/make_expected.py, which had torch compute it.
type expected struct {
	Text        string      `json:"text"`
	IDs         []int32     `json:"ids"`
	Blanks      []int       `json:"blanks"`
	State       []int32     `json:"state"`
	LogProb     []float64   `json:"log_prob"`
	Gradient    [][]float64 `json:"gradient"`
	Independent [][]float64 `json:"independent"`
}

func readExpected(t *testing.T) []expected {
	t.Helper()
	data, err := os.ReadFile(tinyDir + "/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []expected
	if err := json.Unmarshal(data, &cases); err != nil || len(cases) == 0 {
		t.Fatalf("expected.json: %d cases, %v", len(cases), err)
	}
	return cases
}

// far is the largest |difference| of a and b, divided by the largest |b|.
func far(a []float32, b []float64) float64 {
	worst, scale := 0.0, 0.0
	for i, x := range b {
		worst = math.Max(worst, math.Abs(float64(a[i])-x)) // keeps NaN
		scale = max(scale, math.Abs(x))
	}
	return worst / scale
}

// TestAgainstTorch compares everything the model computes with torch in
// float64, gradients with torch.autograd.
func TestAgainstTorch(t *testing.T) {
	t.Parallel()
	for _, low := range []bool{false, true} {
		m := openTiny(t, of(Options{LowMemory: low, Threads: 2}))
		v := m.VocabSize()
		for _, c := range readExpected(t) {
			t.Run(fmt.Sprintf("%s,low=%v", c.Text, low), func(t *testing.T) {
				enc, err := m.Tokenizer().Encode(c.Text)
				if err != nil || !slices.Equal(enc.IDs, c.IDs) {
					t.Fatalf("ids %v, want %v (%v)", enc.IDs, c.IDs, err)
				}
				s, k := &Sentence{c.IDs, c.Blanks}, len(c.Blanks)
				states := [][]int32{c.State}
				lp, lpg, grad, ind := table(1, k), table(1, k), table(1, k*v), table(k, v)
				lpf, forward, cond := table(1, k), table(1, k*v), table(1, v)
				ctx := context.Background()
				if err := errors.Join(m.LogProb(ctx, s, states, lp),
					m.Gradient(ctx, s, states, modeOf(m), lpg, grad),
					m.Gradient(ctx, s, states, Forward, lpf, forward), m.Independent(ctx, s, ind),
					m.Conditional(ctx, s, states, []int{k - 1}, cond)); err != nil {
					t.Fatal(err)
				}
				for i, want := range c.LogProb { // in nats: a probability near 1 has a logarithm near 0
					if e := math.Abs(float64(lp[0][i]) - want); e > 1e-5*max(1, -want) {
						t.Errorf("log f at blank %d is %v, want %v", i, lp[0][i], want)
					}
				}
				if e := far(grad[0], slices.Concat(c.Gradient...)); e > 1e-5 {
					t.Errorf("∇U: error %.2g", e)
				}
				if e := far(slices.Concat(ind...), slices.Concat(c.Independent...)); e > 1e-5 {
					t.Errorf("all-masked conditionals: error %.2g", e)
				}
				// ∇U's first term is log f, bit for bit, and so are all ways to log f.
				if !slices.Equal(forward[0][(k-1)*v:], cond[0]) {
					t.Error("the first term of ∇U is not the conditional")
				}
				for i, id := range c.State {
					if lp[0][i] != forward[0][i*v+int(id)] || lp[0][i] != lpg[0][i] || lp[0][i] != lpf[0][i] {
						t.Errorf("blank %d: log f is %v, %v, %v and %v", i, lp[0][i], forward[0][i*v+int(id)],
							lpg[0][i], lpf[0][i])
					}
				}
			})
		}
	}
}

// announcing is a backend that says when a run begins.
type announcing struct {
	backend
	begun chan struct{}
}

func (a announcing) run(ctx context.Context, b *batch) error {
	a.begun <- struct{}{}
	return a.backend.run(ctx, b)
}

// TestCancelRunning stops a run inside the runtime; the model stays usable.
func TestCancelRunning(t *testing.T) {
	t.Parallel()
	open := openDefault(t, options{})
	be := announcing{open.be, make(chan struct{}, 1)}
	m := &Model{tok: open.tok, info: open.info, be: be,
		sched: newScheduler(be, 1, bounds{batch: 1 << 20}, &open.info)}
	defer m.sched.close()
	s, states := randomStates(m, 1, 120, 8, 1)
	for c := range uint64(7) {
		_, more := randomStates(m, c+2, 120, 8, 1)
		states = append(states, more[0])
	}
	k, v := len(s.Blanks), m.VocabSize()
	lp, grad := table(len(states), k), table(len(states), k*v)
	ctx, cancel := context.WithCancel(context.Background())
	got := make(chan error)
	go func() { got <- m.Gradient(ctx, s, states, Full, lp, grad) }()
	<-be.begun
	time.Sleep(20 * time.Millisecond) // 64 rows of 128 tokens take far longer
	cancel()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled run: %v", err)
	}
	if err := m.LogProb(context.Background(), s, states[:1], lp[:1]); err != nil || lp[0][0] >= 0 {
		t.Errorf("after a cancelled run: %v, %v", lp[0], err)
	}
}

// TestPlainAgrees runs the file as it is and compares with the derived graph.
func TestPlainAgrees(t *testing.T) {
	t.Parallel()
	m := openTiny(t, options{})
	parsed, done, err := parsedAgain(m)
	defer done()
	if err != nil {
		t.Fatal(err)
	}
	info := m.info
	info.Vocab = 0 // to be found by a probe
	masked, err := export.Of(parsed).Masked(nil)
	if err != nil {
		t.Fatal(err)
	}
	be, err := newPlain(context.Background(), m.from, masked, &info, options{})
	if err != nil || info.Vocab != m.VocabSize() {
		t.Fatalf("V = %d, %v", info.Vocab, err)
	}
	info.Gradients = false
	p := &Model{tok: m.tok, info: info, be: be, sched: newScheduler(be, 2, bounds{batch: 64}, &info)}
	defer func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}()
	v := info.Vocab
	for seed := range uint64(5) {
		s, states := randomStates(m, seed, 12, 3, 9)
		ctx := context.Background()
		a, b, x, y := table(9, 3), table(9, 3), table(9, 3*v), table(9, 3*v)
		if err := errors.Join(m.Gradient(ctx, s, states, Forward, a, x),
			p.Gradient(ctx, s, states, Forward, b, y)); err != nil {
			t.Fatal(err)
		}
		for c := range states {
			if e := far(x[c], widen(y[c])); e > 2e-6 {
				t.Errorf("seed %d state %d: the graphs differ by %.2g", seed, c, e)
			}
		}
		if err := p.LogProb(ctx, s, states, a); err != nil ||
			!slices.Equal(slices.Concat(a...), slices.Concat(b...)) {
			t.Errorf("plain log-probabilities: %v", err)
		}
		if err := p.Gradient(ctx, s, states, Full, a, x); !errors.Is(err, ErrNoGradient) {
			t.Errorf("full gradient without a backward pass: %v", err)
		}
	}
}

func widen(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

// parsedAgain reads the model file of m, with the interface that the program knows. done ends access
// to the weights that were left in the folder's files.
func parsedAgain(m *Model) (parsed *onnx.Model, done func(), err error) {
	from, done, err := m.from.Again()
	if err != nil {
		return nil, done, err
	}
	if parsed, err = onnx.Load(from.FS, m.info.File); err == nil {
		parsed, _ = export.Of(parsed).Adapted(nil)
	}
	return parsed, done, err
}

// readAgain reads the model file of m and all weights.
func readAgain(m *Model) error {
	parsed, done, err := parsedAgain(m)
	defer done()
	if err != nil {
		return err
	}
	for _, w := range parsed.Graph.Initializers {
		if _, err := w.Bytes(); err != nil {
			return err
		}
	}
	return nil
}

// ordinary picks a token that text can hold.
func (m *Model) ordinary(rng *rand.Rand) int32 {
	for {
		if id := int32(rng.IntN(m.tok.VocabSize())); !m.tok.IsSpecial(id) && !m.tok.IsUnused(id) {
			return id
		}
	}
}

// randomStates makes a sentence of n ordinary tokens with m blanks and states
// of it, few enough different ones that some coincide.
func randomStates(m *Model, seed uint64, n, blanks, states int) (*Sentence, [][]int32) {
	rng := rand.New(rand.NewPCG(seed, 7))
	s := &Sentence{IDs: []int32{m.tok.CLSID()}}
	for range n {
		s.IDs = append(s.IDs, m.ordinary(rng))
	}
	s.IDs = append(s.IDs, m.tok.SEPID())
	for _, p := range rng.Perm(n)[:blanks] {
		s.Blanks = append(s.Blanks, p+1)
	}
	slices.Sort(s.Blanks)
	words := []int32{m.ordinary(rng), m.ordinary(rng), m.ordinary(rng), m.ordinary(rng)}
	out := make([][]int32, states)
	for c := range out {
		for range blanks {
			out[c] = append(out[c], words[rng.IntN(len(words))])
		}
	}
	return s, out
}

// everything is all that a model says of some states, as bits.
func everything(t testing.TB, m *Model, s *Sentence, states [][]int32) []uint32 {
	t.Helper()
	ctx := context.Background()
	n, k, v := len(states), len(s.Blanks), m.VocabSize()
	lp, lpg, grad, ind, cond := table(n, k), table(n, k), table(n, k*v), table(k, v), table(n, v)
	masked := make([]int, n)
	for c := range masked {
		masked[c] = c % k
	}
	if err := errors.Join(m.LogProb(ctx, s, states, lp), m.Gradient(ctx, s, states, modeOf(m), lpg, grad),
		m.Independent(ctx, s, ind), m.Conditional(ctx, s, states, masked, cond)); err != nil {
		t.Error(err)
		return nil
	}
	var bits []uint32
	for _, rows := range [][][]float32{lp, lpg, grad, ind, cond} {
		for _, r := range rows {
			for _, x := range r {
				if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
					t.Errorf("a value is %v", x)
				}
				bits = append(bits, math.Float32bits(x))
			}
		}
	}
	return bits
}

// modeOf is the gradient that a model has.
func modeOf(m *Model) GradientMode {
	if m.info.Gradients {
		return Full
	}
	return Forward
}

// testBits: the same bits whatever the threads, the size of the batches, the
// other states of a call and the other callers.
func testBits(t *testing.T, open func(testing.TB, options) *Model, o options, lengths []int,
	states int) {
	type job struct {
		s      *Sentence
		states [][]int32
		want   [][]uint32 // of every state by itself
	}
	o.Threads, o.BatchTokens = 1, 1
	single := open(t, o)
	var jobs []job
	for i, n := range lengths {
		j := job{}
		j.s, j.states = randomStates(single, uint64(i), n, 1+i%4, states)
		jobs = append(jobs, j)
	}
	// reference: one unit a batch.
	for i := range jobs {
		jobs[i].want = [][]uint32{everything(t, single, jobs[i].s, jobs[i].states)}
	}
	for i, threads := range []int{1, 2, 3} {
		for j, tokens := range []int{64, DefaultBatchTokens, 1 << 20} {
			if i != j && !testmode.All() {
				continue
			}
			o.Threads, o.BatchTokens = threads, tokens
			m := open(t, o)
			var group sync.WaitGroup
			for i, j := range jobs {
				group.Go(func() {
					got := everything(t, m, j.s, j.states)
					if !slices.Equal(got, j.want[0]) {
						t.Errorf("threads %d, tokens %d: job %d of %d pieces differs", threads, tokens, i,
							len(j.s.IDs))
					}
				})
			}
			group.Wait()
			// A state by itself gives what it gave among others.
			j := jobs[len(jobs)-1]
			k, v := len(j.s.Blanks), m.VocabSize()
			lp, grad := table(1, k), table(1, k*v)
			all, gall := table(len(j.states), k), table(len(j.states), k*v)
			if err := errors.Join(m.Gradient(context.Background(), j.s, j.states[:1], modeOf(m), lp, grad),
				m.Gradient(context.Background(), j.s, j.states, modeOf(m), all, gall)); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(lp[0], all[0]) || !slices.Equal(grad[0], gall[0]) {
				t.Errorf("threads %d, tokens %d: a state by itself differs", threads, tokens)
			}
		}
	}
}

func TestBitsTiny(t *testing.T) {
	t.Parallel()
	for _, low := range []bool{false, true} {
		t.Run(fmt.Sprint("low=", low), func(t *testing.T) {
			testBits(t, openTiny, of(Options{LowMemory: low}), []int{4, 5, 6, 9, 14, 20, 30, 38}, 9)
		})
	}
	t.Run("int8", func(t *testing.T) {
		testBits(t, openTiny, of(Options{Precision: Int8}), []int{4, 5, 6, 9, 14, 20, 30, 38}, 9)
	})
	t.Run("fp16", func(t *testing.T) {
		o := of(Options{Devices: devicetest.Devices(), Device: devicetest.Card,
			Precision: Float16, Forward: true})
		testBits(t, openTiny, o, []int{4, 9, 20, 38}, 9)
	})
}

// A model in 8 bits is near the one in float32, and all that it gives is its own. It has no backward
// pass.
func TestInt8(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	exact, rounded := openTiny(t, options{}), openTiny(t, of(Options{Precision: Int8, Threads: 2}))
	s, states := randomStates(exact, 1, 20, 3, 12)
	k, v, n := len(s.Blanks), exact.VocabSize(), len(states)
	lp, first, lp8, first8 := table(n, k), table(n, k*v), table(n, k), table(n, k*v)
	same, err := rounded.Float32(ctx)
	if err = errors.Join(err, exact.Gradient(ctx, s, states, Forward, lp, first),
		rounded.Gradient(ctx, s, states, Forward, lp8, first8)); err != nil {
		t.Fatal(err)
	}
	if same != rounded || rounded.Precision() != Int8 {
		t.Error("another model beside it")
	}
	mean := 0.0
	for c := range states {
		var kl float64
		for i := range first[c] {
			kl += math.Exp(float64(first[c][i])) * float64(first[c][i]-first8[c][i]) / float64(k)
		}
		if mean += kl / float64(n); !(kl > 1e-9) {
			t.Errorf("state %d: KL %.2g", c, kl)
		}
	}
	if !(mean < mostDivergence) {
		t.Errorf("KL %.2g", mean)
	}
	err = rounded.Gradient(ctx, s, states, Full, lp8, first8)
	if !errors.Is(err, ErrNoGradient) || !strings.Contains(err.Error(), "open the model in fp32") {
		t.Errorf("full gradient: %v", err)
	}
}

func TestBitsDefault(t *testing.T) {
	t.Parallel()
	testmode.Long(t)
	testBits(t, openDefault, options{}, []int{5, 9, 22, 31}, 7)
}

func TestRuntimeIsNamed(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	_, err := OpenDir(context.Background(), tinyDir,
		Options{Runtime: "/nonexistent/libonnxruntime.so"})
	if !errors.Is(err, ort.ErrRuntime) {
		t.Errorf("got %v", err)
	}
}
