package infill

import (
	"context"
	"errors"
	"testing"
	"time"
)

// soon is a context whose deadline is near, and never comes.
type soon struct{ context.Context }

func (soon) Deadline() (time.Time, bool) { return time.Now().Add(500 * time.Millisecond), true }

// Before the deadline of a context the best fillings that were found come beside its error. A context
// that is cancelled gives none.
func TestDeadline(t *testing.T) {
	t.Parallel()
	e := New(openSmall(t))
	const line = "The [MASK] of the [MASK] sat on the [MASK]."
	opt := Options{Method: MethodSample, Sampling: SamplingOptions{Steps: 1_000_000}}
	res, err := e.FillText(soon{t.Context()}, line, opt)
	if !errors.Is(err, context.DeadlineExceeded) || res == nil || len(res.Fillings) == 0 ||
		res.Ended != EndedStopped {
		t.Errorf("%+v, %v", res, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if res, err := e.FillText(ctx, line, Options{}); res != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", res, err)
	}
}
