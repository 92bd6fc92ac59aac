package mlm

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"infill/internal/gate"
	"infill/mlm/onnxgrad"
)

// kind is what a batch computes; batches are of one kind.
type kind uint8

const (
	energyRow      kind = iota // log f of one token at one blank
	conditionalRow             // log f of the vocabulary at one blank
	gradientGroup              // log f and ∇U of one state: m consecutive rows
)

// key is what units must have in common to share a batch. Nothing is padded: a
// pad costs as much as a piece, small batches cost hardly more than large ones,
// and the last bits of a result then depend on the sentence alone.
type key struct {
	kind   kind
	length int // of the sentence, special tokens included
	group  int // rows of a unit
	// foreign units are those of a caller that gave up no place of this model to wait for
	// them. It may keep one, so they never wait for a place.
	foreign bool
}

func (k key) tokens() int { return k.group * k.length }

// batchOf is the size of a batch of n units, in tokens.
func (s *scheduler) batchOf(k key, n int) int { return max(n*k.group, s.bounds.rows(k)) * k.length }

// unit is the least piece of work: a row, or the rows of one state's gradient.
type unit struct {
	key   key
	call  *call
	state []int32 // nil: every blank masked
	blank int     // masked and asked for; -1 for a group, which has them all
	// deliver takes what was computed: logProb per row and, depending on the
	// kind, V or m·V values. Both are only valid during the call.
	deliver func(logProb, wide []float32)
}

// call is one caller's request.
type call struct {
	ctx     context.Context
	number  uint64 // in the order of arrival
	s       *Sentence
	pending atomic.Int64
	done    chan struct{}
	mu      sync.Mutex
	err     error
}

func (c *call) finish(n int) {
	if n > 0 && c.pending.Add(int64(-n)) == 0 {
		close(c.done)
	}
}

func (c *call) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
}

func (c *call) error() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// batch is what a backend evaluates: rows × length ids and, per row, the
// position that is asked about and the token there. The result slices are as
// long as the kind needs and empty otherwise.
type batch struct {
	key
	rows      int
	ids, mask []int64 // [rows, length]
	types     []int64 // [rows, length], all zero
	positions []int64 // [rows]
	targets   []int64 // [rows]
	blanks    []int64 // [rows/group, group]
	alike     onnxgrad.Alike
	distinct  int // positions that the backend computes before the first attention
	logProb   []float32
	wide      []float32 // [rows, V] or [rows/group, group, V]
}

// A backend evaluates batches. Several goroutines call run at once.
type backend interface {
	// run fills in the results of b. The end of ctx may stop it.
	run(ctx context.Context, b *batch) error
	// bounds are those that the memory of this backend asks for.
	bounds() bounds
	// close frees the backend when no run is under way any more.
	close() error
}

// scheduler forms batches from the units of all callers and keeps the
// workers busy.
type scheduler struct {
	be     backend
	facts  *facts
	bounds bounds

	did [3]counter // by kind

	mu     sync.Mutex
	wake   *sync.Cond // workers: there may be a batch to evaluate
	queues map[key][]*unit
	calls  uint64
	closed bool
	group  sync.WaitGroup

	underWay int // tokens of the batches that are being evaluated

	threads int
	places  int        // that are free, at most threads
	room    *sync.Cond // callers: there may be a place
	waiting int        // callers that wait for one
}

func newScheduler(be backend, threads int, b bounds, f *facts) *scheduler {
	s := &scheduler{be: be, facts: f, bounds: b, queues: map[key][]*unit{}, threads: threads,
		places: threads}
	s.wake, s.room = sync.NewCond(&s.mu), sync.NewCond(&s.mu)
	for range cmp.Or(b.apart, threads) {
		s.group.Go(s.work)
	}
	return s
}

// do evaluates the units and returns when all have been delivered, or when
// ctx has ended and none is being evaluated any more.
func (s *scheduler) do(ctx context.Context, sentence *Sentence, units []*unit) error {
	if err := given(ctx); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if len(units) == 0 {
		return nil
	}
	// Whoever waits here computes nothing.
	return gate.Wait(ctx, s, func(freed bool) error {
		for _, u := range units {
			u.key.foreign = !freed
		}
		return s.await(ctx, sentence, units)
	})
}

func (s *scheduler) await(ctx context.Context, sentence *Sentence, units []*unit) error {
	c := &call{ctx: ctx, s: sentence, done: make(chan struct{})}
	c.pending.Store(int64(len(units)))
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return errClosed
	}
	s.calls++
	c.number = s.calls
	for _, u := range units {
		u.call = c
		s.queues[u.key] = append(s.queues[u.key], u)
	}
	s.wake.Broadcast()
	s.mu.Unlock()
	select {
	case <-c.done:
	case <-ctx.Done():
		c.finish(s.withdraw(c))
		<-c.done // the rest is in a batch and may still be written
		return context.Cause(ctx)
	}
	return c.error()
}

// withdraw removes what is queued of c and counts it.
func (s *scheduler) withdraw(c *call) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for k, q := range s.queues {
		kept := q[:0]
		for _, u := range q {
			if u.call == c {
				n++
			} else {
				kept = append(kept, u)
			}
		}
		clear(q[len(kept):])
		if s.queues[k] = kept; len(kept) == 0 {
			delete(s.queues, k)
		}
	}
	return n
}

// close fails what is queued and waits for what is running.
func (s *scheduler) close() {
	s.mu.Lock()
	s.closed = true
	for k, q := range s.queues {
		for _, u := range q {
			u.call.fail(errClosed)
			u.call.finish(1)
		}
		delete(s.queues, k)
	}
	s.wake.Broadcast()
	s.mu.Unlock()
	s.group.Wait()
}

// Take waits for a place, see [gate.Places]. Callers go before workers: they make the work
// that batches are then formed of.
func (s *scheduler) Take(ctx context.Context) error {
	if err := given(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting++
	defer func() { s.waiting-- }()
	if s.places == 0 && ctx.Done() != nil {
		stop := context.AfterFunc(ctx, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.room.Broadcast()
		})
		defer stop()
	}
	for s.places == 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		s.room.Wait()
	}
	if ctx.Err() != nil {
		s.offer(s.waiting - 1) // somebody else was not told of the place
		return context.Cause(ctx)
	}
	s.places--
	if s.places > 0 {
		s.wake.Broadcast() // of two places given up at once, one may be a worker's
	}
	return nil
}

// Give gives a place up.
func (s *scheduler) Give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.places++
	s.offer(s.waiting)
}

// offer tells somebody that a place is free: a caller if one waits, else the workers.
func (s *scheduler) offer(waiting int) {
	if waiting > 0 {
		s.room.Signal()
	} else {
		s.wake.Broadcast()
	}
}

// next waits for work and a place, which it takes together with a batch of the work; nil
// when closed. While callers have every place or are about to, it takes foreign work
// without one: such a caller may be what keeps the place. A device beside the processor needs none.
func (s *scheduler) next() (units []*unit, placed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if s.closed {
			return nil, false
		}
		apart := s.bounds.apart > 0
		placed = !apart && s.places > s.waiting
		best, ok := s.oldest(!placed && !apart)
		if !ok {
			s.wake.Wait()
			continue
		}
		q := s.queues[best]
		n := s.share(best, len(q))
		// Memory may be short of room for another batch; one there always is.
		tokens := s.batchOf(best, n)
		if s.bounds.together > 0 && s.underWay > 0 && s.underWay+tokens > s.bounds.together {
			s.wake.Wait()
			continue
		}
		if placed {
			s.places--
		}
		s.underWay += tokens
		taken := append([]*unit(nil), q[:n]...)
		clear(q[:n])
		if n == len(q) {
			delete(s.queues, best)
		} else {
			s.queues[best] = q[n:]
		}
		return taken, placed
	}
}

// oldest is the key of the call that has waited longest, so that a stream of
// large calls never starves a small one; of one call's keys, the one with the
// most work, so that leftovers fill the end. It may be asked for foreign work only.
func (s *scheduler) oldest(foreign bool) (best key, ok bool) {
	var age uint64
	work := 0
	for k, q := range s.queues {
		if len(q) == 0 || foreign && !k.foreign {
			continue
		}
		if n := len(q) * k.tokens(); !ok || q[0].call.number < age || q[0].call.number == age &&
			n > work {
			best, age, work, ok = k, q[0].call.number, n, true
		}
	}
	return best, ok
}

// share is how many of n units one worker takes. What there is is divided evenly
// among the free places, so that no worker idles while another has all the work;
// work too small to be worth halving is not divided, nor is a batch below minRows, which would be
// filled up. Results do not depend on it.
func (s *scheduler) share(k key, n int) int {
	most := max(1, s.bounds.batch/k.tokens())
	if s.bounds.apart > 0 {
		most = s.bounds.rows(k) / k.group
	}
	batches := (n + most - 1) / most
	if n*k.tokens() > s.bounds.batch/16 && s.bounds.apart == 0 {
		batches = max(batches, min(n*k.group/minRows, s.places))
	}
	return (n + batches - 1) / batches
}

// work is one worker: it takes batches until the scheduler is closed.
func (s *scheduler) work() {
	var b batch // its slices are reused from batch to batch
	for {
		units, placed := s.next()
		if units == nil {
			return
		}
		err := s.evaluate(&b, units)
		s.finished(s.batchOf(units[0].key, len(units)))
		if placed {
			s.Give()
		}
		for _, u := range units {
			if err != nil {
				u.call.fail(err)
			}
			u.call.finish(1)
		}
	}
}

// finished makes room for other batches.
func (s *scheduler) finished(tokens int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.underWay -= tokens
	if s.bounds.together > 0 {
		s.wake.Broadcast()
	}
}

// evaluate runs one batch and delivers its results. A panic becomes the error
// of every call in the batch.
func (s *scheduler) evaluate(b *batch, units []*unit) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error while evaluating a batch: %v", p)
		}
	}()
	s.fill(b, units)
	ctx := units[0].call.ctx
	for _, u := range units {
		if u.call != units[0].call {
			ctx = context.Background() // one caller's end must not stop another's work
			break
		}
	}
	if err := s.be.run(ctx, b); err != nil {
		return err
	}
	s.did[b.kind].add(b)
	width := 0
	if b.kind != energyRow {
		width = b.group * s.facts.Vocab
	}
	for i, u := range units {
		u.deliver(b.logProb[i*b.group:(i+1)*b.group], b.wide[i*width:(i+1)*width])
	}
	return nil
}

// counter counts what was evaluated of a kind.
type counter struct{ runs, rows, tokens, distinct atomic.Int64 }

func (c *counter) add(b *batch) {
	c.runs.Add(1)
	c.rows.Add(int64(b.rows))
	c.tokens.Add(int64(b.rows * b.length))
	c.distinct.Add(int64(b.distinct))
}

// minRows is the least number of rows of a batch that is not fixed; a single one is evaluated
// twice. Products with one row are computed by another routine than those with
// several (matrix times vector), which adds in another order: without this a
// result would depend on whether its row had company.
const minRows = 2

// fill writes the rows of the units into b.
func (s *scheduler) fill(b *batch, units []*unit) {
	b.key = units[0].key
	for least := s.bounds.rows(b.key); len(units)*b.group < least; {
		units = append(units[:len(units):len(units)], units[0])
	}
	b.rows = len(units) * b.group
	n := b.rows * b.length
	b.distinct = n
	b.ids, b.mask, b.types = grow(b.ids, n), grow(b.mask, n), grow(b.types, n)
	b.positions, b.targets, b.blanks = grow(b.positions, b.rows), grow(b.targets, b.rows),
		grow(b.blanks, b.rows)
	b.logProb = grow(b.logProb, b.rows)
	if b.kind == energyRow {
		b.wide = b.wide[:0]
	} else {
		b.wide = grow(b.wide, b.rows*s.facts.Vocab)
	}
	r := 0
	for _, u := range units {
		for j := range b.group {
			blank := u.blank
			if blank < 0 {
				blank = j
			}
			s.fillRow(b, r, u, blank)
			r++
		}
	}
}

func (s *scheduler) fillRow(b *batch, r int, u *unit, blank int) {
	row, mask := b.ids[r*b.length:(r+1)*b.length], b.mask[r*b.length:(r+1)*b.length]
	src := u.call.s
	for p, id := range src.IDs {
		row[p], mask[p] = int64(id), 1
	}
	for j, p := range src.Blanks {
		if u.state == nil || j == blank {
			row[p] = int64(s.facts.MaskID)
		} else {
			row[p] = int64(u.state[j])
		}
	}
	at := int64(src.Blanks[blank])
	b.positions[r], b.blanks[r], b.targets[r] = at, at, 0
	if u.state != nil {
		b.targets[r] = max(0, int64(u.state[blank])) // a masked blank may hold anything
		if b.targets[r] >= int64(s.facts.Vocab) {
			b.targets[r] = 0
		}
	}
}

// grow returns a slice of n elements, s itself if it has the room. What it
// holds is left over from before.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
