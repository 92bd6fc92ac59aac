package mlm

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"infill/internal/gate"
)

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
	began := time.Now()
	if err := s.be.run(ctx, b); err != nil {
		return err
	}
	s.did[b.kind].add(b, time.Since(began))
	width := 0
	if b.kind != energyRow {
		width = b.group * s.facts.Vocab
	}
	for i, u := range units {
		copy(u.reads, b.state[i*b.group*s.facts.state:])
		u.deliver(b.logProb[i*b.group:(i+1)*b.group], b.wide[i*width:(i+1)*width])
	}
	return nil
}
