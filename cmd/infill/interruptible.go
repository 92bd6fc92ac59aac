package main

import (
	"context"
	"io"
)

// An interruptible reader ends with its context, also while it waits for a pipe that nobody writes
// to. Each read is made by a goroutine of its own: nothing ends one of standard input.
type interruptible struct {
	ctx  context.Context
	r    io.Reader
	buf  []byte
	done chan readResult
}

type readResult struct {
	n   int
	err error
}

func newInterruptible(ctx context.Context, r io.Reader) *interruptible {
	return &interruptible{ctx: ctx, r: r, done: make(chan readResult, 1)}
}

// Read implements io.Reader. After the end of the context all reads have its cause.
func (i *interruptible) Read(p []byte) (int, error) {
	if i.ctx.Err() != nil {
		return 0, context.Cause(i.ctx)
	}
	if len(i.buf) < len(p) {
		i.buf = make([]byte, len(p))
	}
	buf := i.buf[:len(p)] // p is the caller's again when the context ends
	go func() {
		n, err := i.r.Read(buf)
		i.done <- readResult{n, err}
	}()
	select {
	case got := <-i.done:
		return copy(p, buf[:got.n]), got.err
	case <-i.ctx.Done():
		return 0, context.Cause(i.ctx)
	}
}
