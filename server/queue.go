package server

import (
	"context"
	"math"
	"sync/atomic"
	"time"
)

// A queue bounds how many requests are worked on and how many wait.
type queue struct {
	working chan struct{} // a place each
	present chan struct{} // a place, or a wait for one
	mean    atomic.Int64  // nanoseconds that a place is kept, a moving mean
}

func newQueue(places, waiting int) *queue {
	return &queue{
		working: make(chan struct{}, places), present: make(chan struct{}, places+waiting),
	}
}

// enter waits for a place and returns the function that frees it. The error is that of a full
// queue, or the cause of ctx's end.
func (q *queue) enter(ctx context.Context) (leave func(), err error) {
	select {
	case q.present <- struct{}{}:
	default:
		return nil, &failure{code: codeOverloaded, wait: q.wait(),
			message: "too many requests wait already; ask again later"}
	}
	free, err := q.work(ctx)
	if err != nil {
		<-q.present
		return nil, err
	}
	return func() { free(); <-q.present }, nil
}

// work waits for a place without a bound on how many wait.
func (q *queue) work(ctx context.Context) (leave func(), err error) {
	select {
	case q.working <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	start := time.Now()
	return func() {
		old, took := q.mean.Load(), time.Since(start).Nanoseconds()
		q.mean.Store(old + (took-old)/8) // another update may be lost, which harms no estimate
		<-q.working
	}, nil
}

// waiting is the number of requests that wait.
func (q *queue) waiting() int { return max(0, len(q.present)-len(q.working)) }

// wait is about how long it takes until half of those who wait have a place, 1 s to a minute.
func (q *queue) wait() time.Duration {
	turns := float64(cap(q.present)) / 2 / float64(cap(q.working))
	seconds := math.Ceil(turns * time.Duration(q.mean.Load()).Seconds())
	return time.Duration(min(max(seconds, 1), 60)) * time.Second
}
