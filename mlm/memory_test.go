package mlm

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"infill/internal/testmode"
	"infill/mlm/device"
	"infill/mlm/internal/export"
	"infill/mlm/onnx"
	"infill/mlm/onnxgrad"
	"infill/models"
)

// TestLooseTableBits: with the table of words read as it lies, results are the
// same bits in any batch and on any number of threads, as they are otherwise.
func TestLooseTableBits(t *testing.T) {
	t.Parallel()
	t.Run("tiny", func(t *testing.T) {
		testBits(t, openTiny, options{looseTable: true}, []int{4, 5, 6, 9, 14, 20, 30, 38}, 9)
	})
	t.Run("tiny, int8", func(t *testing.T) {
		testBits(t, openTiny, options{Options: Options{Precision: Int8}, looseTable: true}, []int{4, 9, 20, 38}, 9)
	})
	t.Run("default", func(t *testing.T) {
		testmode.Long(t)
		testBits(t, openDefault, options{looseTable: true}, []int{6, 19, 33}, 7)
	})
}

// The same values as with repacked tables, but for last digits.
func TestLooseTableValues(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	packed, loose := openTiny(t, options{}), openTiny(t, options{looseTable: true})
	s, states := randomStates(packed, 3, 20, 3, 12)
	k, v, n := len(s.Blanks), packed.VocabSize(), len(states)
	lp, grad, lp2, grad2 := table(n, k), table(n, k*v), table(n, k), table(n, k*v)
	if err := packed.Gradient(ctx, s, states, Full, lp, grad); err != nil {
		t.Fatal(err)
	}
	if err := loose.Gradient(ctx, s, states, Full, lp2, grad2); err != nil {
		t.Fatal(err)
	}
	for c := range states {
		want := make([]float64, len(grad[c]))
		for i, x := range grad[c] {
			want[i] = float64(x)
		}
		if e := far(grad2[c], want); e > 1e-5 {
			t.Errorf("state %d: gradients differ by %.2g of the largest", c, e)
		}
		for i := range lp[c] {
			if e := math.Abs(float64(lp[c][i] - lp2[c][i])); e > 1e-5*max(1, -float64(lp[c][i])) {
				t.Errorf("state %d, blank %d: %v and %v", c, i, lp[c][i], lp2[c][i])
			}
		}
	}
}

func derivedOf(t *testing.T, fsys fs.FS) *onnxgrad.Derived {
	t.Helper()
	parsed, err := onnx.Load(fsys, "model.onnx")
	if err != nil {
		t.Fatal(err)
	}
	g, err := onnxgrad.Derive(parsed, onnxgrad.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// loosened names the table, and nothing else, and leaves the graph that it is given.
func TestLoosened(t *testing.T) {
	t.Parallel()
	g := derivedOf(t, os.DirFS(tinyDir))
	before := len(g.Model.Graph.Inputs)
	out := export.Of(g.Model).Loosened()
	if len(g.Model.Graph.Inputs) != before {
		t.Error("the graph given was changed")
	}
	var names []string
	for _, v := range out.Graph.Inputs[before:] {
		names = append(names, v.Name)
	}
	if !slices.Equal(names, []string{g.Embedding}) {
		t.Errorf("made inputs: %v, want the table %s", names, g.Embedding)
	}
	if again := export.Of(out).Loosened(); len(again.Graph.Inputs) != len(out.Graph.Inputs) {
		t.Error("a table that is an input already is made one again")
	}
	if err := out.Check(); err != nil {
		t.Error(err)
	}
}

// Batches of a large model hold what its share of memory allows, whatever the threads.
func TestSized(t *testing.T) {
	t.Parallel()
	g := derivedOf(t, models.Small())
	if per := g.KeptPerToken(usualLength); per <= 0 {
		t.Fatalf("%d bytes kept per token", per)
	}
	const weights, per = 440 << 20, int64(515 << 10) // of a BERT-base
	var sizes []int
	for _, threads := range []int{1, 2, 4, 64} {
		o, got := of(Options{Threads: threads}).sized(weights, per)
		sizes = append(sizes, got.batch)
		room := max(weights/keptOf*keptFor/int64(threads), keptLittle)
		if want := int(min(max(room/per, fewestTokens), DefaultBatchTokens)); got.batch != want ||
			!o.looseTable {
			t.Errorf("%d threads: %d tokens, loose table %v; want %d, true", threads, got.batch,
				o.looseTable, want)
		}
	}
	if slices.Sort(sizes); sizes[0] == sizes[len(sizes)-1] {
		t.Errorf("with 1 and with 64 threads %d tokens: nothing was tested", sizes[0])
	}
	for _, c := range []struct {
		o       options
		weights int64
		loose   bool
	}{{of(Options{Threads: 2}), largeModel - 1, false}, {of(Options{Threads: 2}), largeModel, true},
		{of(Options{Threads: 2, LowMemory: true}), largeModel, false},
		{options{Options: Options{Threads: 2}, about: device.About{Apart: 2}}, largeModel,
			false}} {
		if got, _ := c.o.sized(c.weights, per); got.looseTable != c.loose {
			t.Errorf("%+v of %d bytes: loose table %v", c.o, c.weights, got.looseTable)
		}
	}
	if _, got := of(Options{Threads: 2, BatchTokens: 7}).sized(weights, per); got.batch != 7 {
		t.Errorf("%d tokens a batch instead of the 7 asked for", got.batch)
	}
}

// The size of weights counts what the runtime makes of them.
func TestWeightBytes(t *testing.T) {
	t.Parallel()
	m := &onnx.Model{Graph: &onnx.Graph{Initializers: []*onnx.Tensor{
		onnx.Floats("a", []int64{2, 3}, 1, 2, 3, 4, 5, 6),
		onnx.NewTensor("b", onnx.Float16, []int64{5}, make([]byte, 10)),
		onnx.NewTensor("c", onnx.Int8, []int64{7}, make([]byte, 7)),
	}}}
	if got := export.Of(m).WeightBytes(); got != 24+20+7 {
		t.Errorf("%d bytes, want 51", got)
	}
	if s := fmt.Sprint(export.Of(m).Loosened().Graph.Inputs); strings.Contains(s, "a") {
		t.Errorf("a weight that is looked up nowhere became an input: %s", s)
	}
}

// weighing is a backend that adds up the tokens of the batches under way.
type weighing struct {
	fakeBackend
	now, most atomic.Int64
}

func (w *weighing) run(ctx context.Context, b *batch) error {
	tokens := int64(b.rows * b.length)
	now := w.now.Add(tokens)
	defer w.now.Add(-tokens)
	for old := w.most.Load(); now > old && !w.most.CompareAndSwap(old, now); old = w.most.Load() {
	}
	time.Sleep(time.Millisecond)
	return w.fakeBackend.run(ctx, b)
}

// Batches under way at the same time have no more tokens together than allowed,
// unless a single unit has; everything is evaluated, and with no bound they overlap.
func TestTokensTogether(t *testing.T) {
	t.Parallel()
	for _, bound := range []int{0, 100, 30} {
		w := &weighing{}
		s := newScheduler(w, 4, bounds{batch: 20, together: bound},
			&facts{Info: Info{Vocab: fakeVocab, MaskID: fakeMask}})
		var group sync.WaitGroup
		var delivered atomic.Int64
		for caller := range 8 {
			group.Go(func() {
				sentence := &Sentence{IDs: []int32{1, 9, 9, 9, 9, 9, 9, 9, 9, 2}, Blanks: []int{2, 5, 6, 7}}
				for k := range 10 {
					u := &unit{key: key{kind: gradientGroup, length: 10, group: 4},
						state: []int32{int32(caller), int32(k), 1, 2}, blank: -1,
						deliver: func(_, _ []float32) { delivered.Add(1) }}
					if k%3 == 0 {
						u.key, u.blank = key{kind: energyRow, length: 10, group: 1}, 1
					}
					if err := s.do(context.Background(), sentence, []*unit{u}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		s.close()
		most := int(w.most.Load())
		switch {
		case delivered.Load() != 80:
			t.Errorf("bound %d: %d of 80 units delivered", bound, delivered.Load())
		case bound == 0 && most <= 100:
			t.Errorf("without a bound %d tokens at most: nothing is tested", most)
		case bound > 0 && most > max(bound, 40):
			t.Errorf("bound %d: %d tokens at the same time", bound, most)
		}
	}
}
