package mlm

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"infill/internal/gate"
)

const (
	fakeVocab = 50
	fakeMask  = 4
)

// fakeBackend answers with a hash of what a result may depend on: the row's
// own ids and mask, its position, its target and its group. A scheduler that
// mixes rows up, pads or loses a row gives other numbers.
type fakeBackend struct {
	t       testing.TB
	rows    atomic.Int64
	batches atomic.Int64
	largest atomic.Int64
	running atomic.Int64
	most    atomic.Int64
	inside  *atomic.Int64 // if set, counts together with others who work
	block   chan struct{} // if set, run waits for it or its context
	entered chan struct{} // if set, receives when a run begins
	err     error
	panics  bool
	closed  bool
}

func hashOf(parts ...any) float32 {
	h := fnv.New64a()
	_, _ = fmt.Fprintln(h, parts...)
	return -float32(h.Sum64()%1e6) / 1e4
}

func (f *fakeBackend) run(ctx context.Context, b *batch) error {
	running := &f.running
	if f.inside != nil {
		running = f.inside
	}
	if n := running.Add(1); n > f.most.Load() {
		f.most.Store(n)
	}
	defer running.Add(-1)
	if f.entered != nil {
		f.entered <- struct{}{}
	}
	if f.block != nil {
		select {
		case <-f.block:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if f.panics {
		panic("boom")
	}
	if f.err != nil {
		return f.err
	}
	f.rows.Add(int64(b.rows))
	f.batches.Add(1)
	if n := int64(b.rows * b.length); n > f.largest.Load() {
		f.largest.Store(n)
	}
	if b.rows%b.group != 0 || len(b.ids) != b.rows*b.length || len(b.mask) != len(b.ids) ||
		len(b.types) != len(b.ids) ||
		len(b.positions) != b.rows || len(b.targets) != b.rows || len(b.blanks) != b.rows ||
		len(b.logProb) != b.rows {
		f.t.Errorf("batch of the wrong shape: %+v", b.key)
	}
	for r := range b.rows {
		row := b.ids[r*b.length : (r+1)*b.length]
		g := r / b.group
		group := b.blanks[g*b.group : (g+1)*b.group]
		if b.blanks[r] != b.positions[r] || row[b.positions[r]] != fakeMask {
			f.t.Errorf("row %d asks at %d, where id %d is; group %v", r, b.positions[r], row[b.positions[r]],
				group)
		}
		for p, m := range b.mask[r*b.length : (r+1)*b.length] {
			if m != 1 || b.types[r*b.length+p] != 0 {
				f.t.Errorf("row %d, position %d: mask %d, type %d", r, p, m, b.types[r*b.length+p])
			}
		}
		switch b.kind {
		case energyRow:
			b.logProb[r] = fakeCond(row, b.positions[r], b.targets[r])
		case conditionalRow:
			for v := range fakeVocab {
				b.wide[r*fakeVocab+v] = fakeCond(row, b.positions[r], int64(v))
			}
			b.logProb[r] = b.wide[r*fakeVocab+int(b.targets[r])]
		case gradientGroup:
			b.logProb[r] = fakeCond(row, b.positions[r], b.targets[r])
			all := b.ids[g*b.group*b.length : (g+1)*b.group*b.length]
			for v := range fakeVocab {
				b.wide[r*fakeVocab+v] = hashOf("grad", all, group, r%b.group, v)
			}
		}
	}
	return nil
}

func fakeCond(row []int64, pos, v int64) float32 { return hashOf("cond", row, pos, v) }

func (*fakeBackend) bounds() bounds { return bounds{} }

func (f *fakeBackend) close() error { f.closed = true; return nil }

func fakeModel(t testing.TB, be *fakeBackend, threads, tokens int) *Model {
	be.t = t
	m := &Model{be: be, info: facts{Info: Info{Vocab: fakeVocab, MaxLength: 60, MaskID: fakeMask,
		Gradients: true}}}
	m.sched = newScheduler(be, threads, bounds{batch: tokens}, &m.info)
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// problem is a sentence with states, made from a seed.
type problem struct {
	s      *Sentence
	states [][]int32
	masked []int
}

func makeProblem(seed uint64) problem {
	r := rand.New(rand.NewPCG(seed, 1))
	n := 3 + r.IntN(25)
	p := problem{s: &Sentence{}}
	for range n {
		p.s.IDs = append(p.s.IDs, int32(5+r.IntN(fakeVocab-5)))
	}
	m := 1 + r.IntN(min(4, n))
	p.s.Blanks = append(p.s.Blanks, r.Perm(n)[:m]...)
	slices.Sort(p.s.Blanks)
	for range 1 + r.IntN(12) {
		st := make([]int32, m)
		for i := range st {
			st[i] = int32(5 + r.IntN(3)) // few values, so that states meet
		}
		p.states = append(p.states, st)
		p.masked = append(p.masked, r.IntN(m))
	}
	return p
}

func table(n, width int) [][]float32 {
	t := make([][]float32, n)
	for i := range t {
		t[i] = make([]float32, width)
	}
	return t
}

// answers is everything a model says about a problem.
func answers(t testing.TB, m *Model, p problem) []float32 {
	t.Helper()
	ctx := context.Background()
	n, k := len(p.states), len(p.s.Blanks)
	lp, lpg, grad, lpf, gradf := table(n, k), table(n, k), table(n, k*fakeVocab), table(n, k),
		table(n, k*fakeVocab)
	cond, ind := table(n, fakeVocab), table(k, fakeVocab)
	err := errors.Join(
		m.LogProb(ctx, p.s, p.states, lp),
		m.Gradient(ctx, p.s, p.states, Full, lpg, grad),
		m.Gradient(ctx, p.s, p.states, Forward, lpf, gradf),
		m.Conditional(ctx, p.s, p.states, p.masked, cond),
		m.Independent(ctx, p.s, ind),
	)
	if err != nil {
		t.Fatal(err)
	}
	for c := range p.states {
		if !slices.Equal(lp[c], lpg[c]) || !slices.Equal(lp[c], lpf[c]) {
			t.Errorf("the three ways to a log-probability differ: %v %v %v", lp[c], lpg[c], lpf[c])
		}
	}
	return slices.Concat(slices.Concat(lp...), slices.Concat(grad...), slices.Concat(gradf...),
		slices.Concat(cond...), slices.Concat(ind...))
}

// TestResultsByDefinition compares with the fake model's own function.
func TestResultsByDefinition(t *testing.T) {
	t.Parallel()
	m := fakeModel(t, &fakeBackend{}, 2, 100)
	for seed := range uint64(20) {
		p := makeProblem(seed)
		n, k := len(p.states), len(p.s.Blanks)
		lp, cond, grad := table(n, k), table(n, fakeVocab), table(n, k*fakeVocab)
		token := make([]float32, n)
		ctx := context.Background()
		if err := errors.Join(m.LogProb(ctx, p.s, p.states, lp),
			m.TokenLogProb(ctx, p.s, p.states, p.masked, token),
			m.Conditional(ctx, p.s, p.states, p.masked, cond),
			m.Gradient(ctx, p.s, p.states, Forward, table(n, k), grad)); err != nil {
			t.Fatal(err)
		}
		row := func(c, i int) []int64 {
			out := make([]int64, len(p.s.IDs))
			for q, id := range p.s.IDs {
				out[q] = int64(id)
			}
			for j, q := range p.s.Blanks {
				out[q] = int64(p.states[c][j])
			}
			out[p.s.Blanks[i]] = fakeMask
			return out
		}
		for c := range p.states {
			for i, q := range p.s.Blanks {
				if want := fakeCond(row(c, i), int64(q), int64(p.states[c][i])); lp[c][i] != want {
					t.Fatalf("seed %d: logProb[%d][%d] = %v, want %v", seed, c, i, lp[c][i], want)
				}
				if want := fakeCond(row(c, i), int64(q), 7); grad[c][i*fakeVocab+7] != want {
					t.Fatalf("seed %d: grad[%d] = %v, want %v", seed, c, grad[c][i*fakeVocab+7], want)
				}
			}
			i := p.masked[c]
			if token[c] != lp[c][i] {
				t.Fatalf("seed %d: the token at blank %d of state %d has %v, want %v", seed, i, c, token[c],
					lp[c][i])
			}
			if want := fakeCond(row(c, i), int64(p.s.Blanks[i]), 9); cond[c][9] != want {
				t.Fatalf("seed %d: conditional %v, want %v", seed, cond[c][9], want)
			}
		}
	}
}

// TestSchedulingChangesNothing: many callers at once, any number of workers,
// any size of batches, the same bits.
func TestSchedulingChangesNothing(t *testing.T) {
	t.Parallel()
	const problems = 12
	want := make([][]float32, problems)
	alone := fakeModel(t, &fakeBackend{}, 1, 1<<20)
	for i := range want {
		want[i] = answers(t, alone, makeProblem(uint64(i)))
	}
	for _, threads := range []int{1, 2, 7} {
		for _, tokens := range []int{1, 64, 1024} {
			be := &fakeBackend{}
			m := fakeModel(t, be, threads, tokens)
			var wg sync.WaitGroup
			for i := range want {
				wg.Go(func() {
					if got := answers(t, m, makeProblem(uint64(i))); !slices.Equal(got, want[i]) {
						t.Errorf("threads %d, tokens %d: problem %d differs", threads, tokens, i)
					}
				})
			}
			wg.Wait()
			if be.most.Load() > int64(threads) {
				t.Errorf("%d runs at once with %d threads", be.most.Load(), threads)
			}
			if limit := int64(max(tokens, 4*32, minRows*32)); be.largest.Load() > limit {
				t.Errorf("a batch of %d tokens, the bound is %d", be.largest.Load(), tokens)
			}
		}
	}
}

func TestRowsEvaluatedOnce(t *testing.T) {
	t.Parallel()
	s := &Sentence{IDs: []int32{5, 6, 7, 8}, Blanks: []int{1, 2}}
	one := &Sentence{IDs: s.IDs, Blanks: []int{2}}
	ctx := context.Background()
	for _, c := range []struct {
		name string
		rows int64
		f    func(m *Model) error
	}{
		{"equal states", 2, func(m *Model) error {
			return m.LogProb(ctx, s, [][]int32{{5, 6}, {5, 6}, {5, 6}}, table(3, 2))
		}},
		{"tokens", 2 * minRows, func(m *Model) error { // one of the first blank, two of the second
			return m.TokenLogProb(ctx, s, [][]int32{{5, 6}, {7, 6}, {7, 8}}, []int{0, 1, 1},
				make([]float32, 3))
		}},
		{"equal states, gradient", 2, func(m *Model) error {
			return m.Gradient(ctx, s, [][]int32{{5, 6}, {5, 6}, {5, 6}}, Full, table(3, 2),
				table(3, 2*fakeVocab))
		}},
		// θ_2 is the same, so the row that masks blank 1 is shared.
		{"shared context", 2 + minRows, func(m *Model) error {
			return m.LogProb(ctx, s, [][]int32{{5, 6}, {9, 6}}, table(2, 2))
		}},
		{"one blank", minRows, func(m *Model) error {
			return m.Gradient(ctx, one, [][]int32{{5}, {6}, {7}, {8}}, Full, table(4, 1),
				table(4, fakeVocab))
		}},
		{"conditionals of one blank", minRows, func(m *Model) error {
			return m.Conditional(ctx, one, [][]int32{{5}, {-1}, {7}}, []int{0, 0, 0}, table(3, fakeVocab))
		}},
		{"nothing", 0, func(m *Model) error { return m.LogProb(ctx, s, nil, nil) }},
	} {
		be := &fakeBackend{}
		m := fakeModel(t, be, 2, 64)
		if err := c.f(m); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := be.rows.Load(); got != c.rows {
			t.Errorf("%s: %d rows, want %d", c.name, got, c.rows)
		}
		e, cond, g := m.Work()
		if e.Rows+cond.Rows+g.Rows != c.rows || e.Runs+cond.Runs+g.Runs != be.batches.Load() ||
			e.Tokens+cond.Tokens+g.Tokens != 4*c.rows {
			t.Errorf("%s: counted %+v %+v %+v of %d rows in %d runs", c.name, e, cond, g, c.rows,
				be.batches.Load())
		}
	}
}

func TestShare(t *testing.T) {
	t.Parallel()
	k := key{kind: gradientGroup, length: 24, group: 4}
	for _, c := range []struct {
		places, n, want int
		k               key
	}{
		{1, 25, 9, k},  // 96 tokens each: at most 10 in a batch, hence three batches
		{2, 10, 5, k},  // one batch would do, but two workers are free
		{1, 10, 10, k}, // and here only one
		{2, 3, 3, key{length: 8, group: 1}},
		{2, 5, 1, key{length: 512, group: 8}}, // above the bound by itself
		{9, 3, 1, k},                          // more places than work
	} {
		s := &scheduler{bounds: bounds{batch: 1024}, places: c.places}
		if got := s.share(c.k, c.n); got != c.want {
			t.Errorf("%d of %d states of %v with %d places, want %d", got, c.n, c.k, c.places, c.want)
		}
	}
}

// No more than Threads goroutines compute at a time, callers inside and batches
// counted together; and whoever waits gets its turn.
func TestPlaces(t *testing.T) {
	t.Parallel()
	for _, threads := range []int{1, 2, 3} {
		be := &fakeBackend{}
		m := fakeModel(t, be, threads, 64)
		be.inside = &atomic.Int64{}
		var group sync.WaitGroup
		var most atomic.Int64
		for k := range 8 {
			group.Go(func() {
				p := makeProblem(uint64(k))
				err := gate.Compute(context.Background(), m, func(ctx context.Context) error {
					for range 20 {
						n := be.inside.Add(1)
						for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
						}
						runtime.Gosched()
						be.inside.Add(-1)
						out := table(len(p.states), len(p.s.Blanks))
						if err := m.LogProb(ctx, p.s, p.states, out); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if n := max(most.Load(), be.most.Load()); n > int64(threads) || n < 1 {
			t.Errorf("%d threads: %d worked at the same time", threads, n)
		}
	}
}

func TestCallErrors(t *testing.T) {
	t.Parallel()
	m := fakeModel(t, &fakeBackend{}, 1, 64)
	ok := &Sentence{IDs: []int32{5, 6, 7}, Blanks: []int{1}}
	ctx := context.Background()
	long := &Sentence{IDs: make([]int32, 61), Blanks: []int{1}}
	for _, c := range []struct {
		name string
		want error
		text string
		err  error
	}{
		{"too long", ErrTooLong, "61 pieces", m.LogProb(ctx, long, [][]int32{{5}}, table(1, 1))},
		{"no blank", errSentence, "no blank", m.LogProb(ctx, &Sentence{IDs: []int32{1}}, [][]int32{{}},
			table(1, 1))},
		{"blank outside", errSentence, "ascending",
			m.Independent(ctx, &Sentence{IDs: []int32{1}, Blanks: []int{1}}, table(1, fakeVocab))},
		{"blanks unsorted", errSentence, "ascending",
			m.Independent(ctx, &Sentence{IDs: []int32{1, 2}, Blanks: []int{1, 0}}, table(2, fakeVocab))},
		{"blank twice", errSentence, "ascending", m.Independent(ctx,
			&Sentence{IDs: []int32{1, 2}, Blanks: []int{1, 1}}, table(2, fakeVocab))},
		{"id outside", errSentence, "outside the vocabulary",
			m.Independent(ctx, &Sentence{IDs: []int32{1, fakeVocab}, Blanks: []int{0}},
				table(1, fakeVocab))},
		{"short state", errSentence, "tokens for", m.LogProb(ctx, ok, [][]int32{{}}, table(1, 1))},
		{"token outside", errSentence, "outside the vocabulary",
			m.LogProb(ctx, ok, [][]int32{{-1}}, table(1, 1))},
		{"mask outside", errSentence, "no blank 1",
			m.Conditional(ctx, ok, [][]int32{{5}}, []int{1}, table(1, fakeVocab))},
		{"fewer masks", errSentence, "blanks to mask",
			m.Conditional(ctx, ok, [][]int32{{5}}, nil, table(1, fakeVocab))},
		{"no token", errSentence, "room for 0 values",
			m.TokenLogProb(ctx, ok, [][]int32{{5}}, []int{0}, nil)},
		{"token of a masked blank", errSentence, "outside the vocabulary",
			m.TokenLogProb(ctx, ok, [][]int32{{-1}}, []int{0}, make([]float32, 1))},
		{"no such blank", errSentence, "no blank 1",
			m.TokenLogProb(ctx, ok, [][]int32{{5}}, []int{1}, make([]float32, 1))},
		{"no room", errSentence, "logProb[0]", m.LogProb(ctx, ok, [][]int32{{5}}, table(1, 0))},
		{"fewer rows", errSentence, "logProb has", m.LogProb(ctx, ok, [][]int32{{5}}, nil)},
		{"no room for gradients", errSentence, "grad[0]",
			m.Gradient(ctx, ok, [][]int32{{5}}, Full, table(1, 1), table(1, fakeVocab-1))},
		{"no room for conditionals", errSentence, "out[0]", m.Independent(ctx, ok, table(1, 3))},
	} {
		if !errors.Is(c.err, c.want) || !strings.Contains(c.err.Error(), c.text) {
			t.Errorf("%s: %v", c.name, c.err)
		}
	}
	if err := m.LogProb(ctx, &Sentence{IDs: make([]int32, 60), Blanks: []int{59}}, [][]int32{{5}},
		table(1, 1)); err != nil {
		t.Errorf("the longest sentence: %v", err)
	}
}

func TestBackendFailures(t *testing.T) {
	t.Parallel()
	s := &Sentence{IDs: []int32{5, 6, 7}, Blanks: []int{1}}
	boom := errors.New("boom")
	for _, be := range []*fakeBackend{{err: boom}, {panics: true}} {
		m := fakeModel(t, be, 2, 8)
		if err := m.LogProb(context.Background(), s, [][]int32{{5}}, table(1, 1)); err == nil ||
			!strings.Contains(err.Error(), "boom") {
			t.Errorf("got %v", err)
		}
		be.err, be.panics = nil, false
		if err := m.LogProb(context.Background(), s, [][]int32{{5}}, table(1, 1)); err != nil {
			t.Errorf("a worker did not survive: %v", err)
		}
	}
}

// A small call is served before larger ones that came later.
func TestOldestFirst(t *testing.T) {
	t.Parallel()
	s := &scheduler{bounds: bounds{batch: 8}, queues: map[key][]*unit{}}
	small, large := key{length: 8, group: 1}, key{length: 64, group: 4}
	s.queues[large] = []*unit{{key: large, call: &call{number: 2}},
		{key: large, call: &call{number: 2}}}
	s.queues[small] = []*unit{{key: small, call: &call{number: 1}}}
	if k, ok := s.oldest(false); !ok || k != small {
		t.Errorf("first is %+v", k)
	}
	s.queues[small][0].call.number = 2
	if k, _ := s.oldest(false); k != large {
		t.Errorf("of one call, first is %+v", k)
	}
	s.queues = map[key][]*unit{small: {}}
	if _, ok := s.oldest(false); ok {
		t.Error("an empty queue has work")
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	s := &Sentence{IDs: []int32{5, 6, 7}, Blanks: []int{0, 1}}
	be := &fakeBackend{block: make(chan struct{}), entered: make(chan struct{}, 100)}
	m := fakeModel(t, be, 1, 8) // one row a batch
	ctx, cancel := context.WithCancel(context.Background())
	got := make(chan error)
	go func() { got <- m.LogProb(ctx, s, [][]int32{{5, 6}, {7, 8}, {9, 10}}, table(3, 2)) }()
	<-be.entered
	// Another caller waits behind it.
	other := make(chan error)
	go func() { other <- m.LogProb(context.Background(), s, [][]int32{{11, 12}}, table(1, 2)) }()
	cancel()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled call: %v", err)
	}
	close(be.block)
	if err := <-other; err != nil {
		t.Errorf("the other call: %v", err)
	}
	if err := m.LogProb(ctx, s, [][]int32{{5, 6}}, table(1, 2)); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that begins cancelled: %v", err)
	}
}

// A call that is cancelled while it waits leaves nothing behind.
func TestCancelledQueue(t *testing.T) {
	t.Parallel()
	be := &fakeBackend{block: make(chan struct{}), entered: make(chan struct{}, 100)}
	m := fakeModel(t, be, 1, 8)
	first, waits := make(chan error), make(chan error)
	go func() {
		s := &Sentence{IDs: []int32{5, 6, 7}, Blanks: []int{0, 1}}
		first <- m.LogProb(context.Background(), s, [][]int32{{5, 6}}, table(1, 2))
	}()
	<-be.entered
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		s := &Sentence{IDs: []int32{5, 6, 7, 8, 9}, Blanks: []int{1}} // of another length
		waits <- m.LogProb(ctx, s, [][]int32{{5}}, table(1, 1))
	}()
	queued := func() (n int) {
		m.sched.mu.Lock()
		defer m.sched.mu.Unlock()
		for k := range m.sched.queues {
			if k.length == 5 {
				n++
			}
		}
		return n
	}
	for queued() == 0 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-waits; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled call: %v", err)
	}
	if n := queued(); n != 0 {
		t.Errorf("%d queues are left", n)
	}
	close(be.block)
	if err := <-first; err != nil {
		t.Error(err)
	}
}

func TestClose(t *testing.T) {
	before := runtime.NumGoroutine()
	s := &Sentence{IDs: []int32{5, 6, 7}, Blanks: []int{0, 1}}
	be := &fakeBackend{block: make(chan struct{}), entered: make(chan struct{}, 100)}
	m := fakeModel(t, be, 3, 8)
	got := make(chan error)
	go func() {
		states := make([][]int32, 20)
		for i := range states {
			states[i] = []int32{int32(5 + i), int32(6 + i)}
		}
		got <- m.LogProb(context.Background(), s, states, table(20, 2))
	}()
	for range 3 {
		<-be.entered
	}
	closed := make(chan error)
	go func() { closed <- m.Close() }()
	for { // what is queued fails while three batches still run
		m.sched.mu.Lock()
		c := m.sched.closed
		m.sched.mu.Unlock()
		if c {
			break
		}
		time.Sleep(time.Millisecond)
	}
	close(be.block)
	if err := <-got; !errors.Is(err, errClosed) {
		t.Errorf("call in flight: %v", err)
	}
	if err := <-closed; err != nil || !be.closed {
		t.Errorf("close: %v", err)
	}
	if err := m.LogProb(context.Background(), s, [][]int32{{5, 6}}, table(1, 2)); !errors.Is(err,
		errClosed) {
		t.Errorf("call after close: %v", err)
	}
	for i := 0; runtime.NumGoroutine() > before && i < 100; i++ {
		time.Sleep(10 * time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines are left over", n-before)
	}
}

// Work inside Compute that asks the model, starts more of its kind or waits for others
// ends, whatever the number of threads; and one that waits for a place can be stopped.
func TestComputeEnds(t *testing.T) {
	t.Parallel()
	m := fakeModel(t, &fakeBackend{}, 1, 64)
	p := makeProblem(1)
	ask := func(ctx context.Context) error {
		return m.LogProb(ctx, p.s, p.states, table(len(p.states), len(p.s.Blanks)))
	}
	done := make(chan error, 1)
	go func() {
		done <- gate.Compute(context.Background(), m, func(ctx context.Context) error {
			return gate.Compute(ctx, m, func(ctx context.Context) error {
				return gate.Each(ctx, 3, func(ctx context.Context, _ int) error {
					return gate.Outside(ctx, func() error {
						return gate.Compute(context.Background(), m, ask)
					})
				})
			})
		})
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("nobody goes on")
	}
	boom := errors.New("boom")
	err := gate.Compute(context.Background(), m, func(context.Context) error {
		ctx, cancel := context.WithCancelCause(context.Background())
		time.AfterFunc(10*time.Millisecond, func() { cancel(boom) })
		return gate.Compute(ctx, m, func(context.Context) error { t.Error("it ran"); return nil })
	})
	if !errors.Is(err, boom) {
		t.Errorf("while it waits: %v", err)
	}
	if err := gate.Compute(context.Background(), m, ask); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// soon fails a test whose f hangs.
func soon(t *testing.T, f func() error) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("nobody goes on")
	}
}

// asker asks a model about one problem and checks the answer.
func asker(t *testing.T, m *Model) func(context.Context) error {
	p := makeProblem(3)
	want := table(len(p.states), len(p.s.Blanks))
	if err := m.LogProb(t.Context(), p.s, p.states, want); err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context) error {
		got := table(len(p.states), len(p.s.Blanks))
		err := m.LogProb(ctx, p.s, p.states, got)
		if err == nil && !slices.EqualFunc(got, want, slices.Equal) {
			err = errors.New("the answer differs")
		}
		return err
	}
}

// Work inside Compute that hands the model a context without a place, or one whose place
// is over or another caller's, gets its answer: it may keep the only place.
func TestForeignContext(t *testing.T) {
	t.Parallel()
	for _, threads := range []int{1, 2} {
		m := fakeModel(t, &fakeBackend{}, threads, 64)
		ask := asker(t, m)
		var over context.Context
		if err := gate.Compute(t.Context(), m, func(ctx context.Context) error {
			over = ctx
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		work := func(outside context.Context) error {
			errs := make([]error, 2*threads+1)
			var group sync.WaitGroup
			for k := range errs {
				group.Go(func() {
					if k == 0 {
						errs[k] = ask(t.Context())
						return
					}
					errs[k] = gate.Compute(t.Context(), m, func(ctx context.Context) error {
						return errors.Join(ask(t.Context()), ask(over), ask(outside), ask(ctx))
					})
				})
			}
			group.Wait()
			return errors.Join(errs...)
		}
		soon(t, func() error {
			return gate.Compute(t.Context(), m, func(ctx context.Context) error {
				return gate.Outside(ctx, func() error { return work(ctx) })
			})
		})
		m.sched.mu.Lock()
		if m.sched.places != threads || m.sched.waiting != 0 {
			t.Errorf("%d of %d places are free at the end", m.sched.places, threads)
		}
		m.sched.mu.Unlock()
	}
}

// Callers of two models, one inside the other in either order, all end.
func TestNestedModels(t *testing.T) {
	t.Parallel()
	a, b := fakeModel(t, &fakeBackend{}, 1, 64), fakeModel(t, &fakeBackend{}, 1, 64)
	askA, askB := asker(t, a), asker(t, b)
	soon(t, func() error {
		errs := make([]error, 8)
		var group sync.WaitGroup
		for k := range errs {
			outer, inner := a, b
			if k%2 == 1 {
				outer, inner = b, a
			}
			group.Go(func() {
				for range 20 {
					err := gate.Compute(t.Context(), outer, func(ctx context.Context) error {
						runtime.Gosched()
						return errors.Join(askA(ctx), askB(ctx),
							gate.Compute(ctx, inner, func(ctx context.Context) error {
								return errors.Join(askA(ctx), askB(ctx))
							}), askA(ctx), askB(ctx))
					})
					errs[k] = errors.Join(errs[k], err)
				}
			})
		}
		group.Wait()
		return errors.Join(errs...)
	})
}

// No method of a model runs its caller's code: it could wait for ever in a place that nobody
// gives up.
func TestNoCallbacks(t *testing.T) {
	t.Parallel()
	model := reflect.TypeFor[*Model]()
	for i := range model.NumMethod() {
		m := model.Method(i)
		for k := range m.Type.NumIn() {
			if m.Type.In(k).Kind() == reflect.Func {
				t.Errorf("%s takes a function", m.Name)
			}
		}
	}
}
