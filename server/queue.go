package server

import (
	"context"
	"math"
	"sync/atomic"
	"time"
)

// A queue bounds how many requests and lines of batches are worked on, and how many requests wait.
type queue struct {
	working chan struct{} // a place each
	waits   chan struct{} // a wait for a place, but for those of lines of batches
	mean    atomic.Int64  // nanoseconds that a place is kept, a moving mean
}

func newQueue(places, waiting int) *queue {
	return &queue{working: make(chan struct{}, places), waits: make(chan struct{}, waiting)}
}

// enter waits for a place and returns the function that frees it. The error says that the queue is
// full, or is the cause of ctx's end.
func (q *queue) enter(ctx context.Context) (leave func(), err error) {
	select {
	case q.working <- struct{}{}: // never before one that waits: a place that is freed is theirs
		return q.begun(), nil
	default:
	}
	select {
	case q.waits <- struct{}{}:
		defer func() { <-q.waits }()
	default:
		return nil, &failure{code: codeOverloaded, wait: q.wait(),
			message: "too many requests wait already; ask again later"}
	}
	return q.work(ctx)
}

// work waits for a place without a bound on how many wait.
func (q *queue) work(ctx context.Context) (leave func(), err error) {
	select {
	case q.working <- struct{}{}:
		return q.begun(), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// begun returns the function that frees a place which was taken now.
func (q *queue) begun() (leave func()) {
	start := time.Now()
	return func() {
		old, took := q.mean.Load(), time.Since(start).Nanoseconds()
		q.mean.Store(old + (took-old)/8) // another update may be lost, which harms no estimate
		<-q.working
	}
}

// waiting is the number of requests that wait, lines of batches apart.
func (q *queue) waiting() int { return len(q.waits) }

// wait is about how long it takes until half of those who wait have a place, 1 s to a minute.
func (q *queue) wait() time.Duration {
	turns := float64(cap(q.working)+cap(q.waits)) / 2 / float64(cap(q.working))
	seconds := math.Ceil(turns * time.Duration(q.mean.Load()).Seconds())
	return time.Duration(min(max(seconds, 1), 60)) * time.Second
}
