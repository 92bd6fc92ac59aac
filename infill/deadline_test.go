package infill

import (
	"context"
	"errors"
	"testing"
	"time"
)

// Where the time of a context ends, the best fillings that were found come beside its error, in
// time. A context that is cancelled gives none.
func TestDeadline(t *testing.T) {
	t.Parallel()
	e := New(openSmall(t))
	const line = "The [MASK] of the [MASK] sat on the [MASK] and saw a [MASK] of [MASK]."
	for _, opt := range []Options{
		{Search: SearchOptions{Effort: EffortThorough}},
		{Method: MethodSample, Sampling: SamplingOptions{Steps: 1_000_000}},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		res, err := e.FillText(ctx, line, opt)
		switch {
		case err == nil && res.Ended == EndedItself && res.Method == MethodSearch: // before that time
		case !errors.Is(err, context.DeadlineExceeded) || res == nil || len(res.Fillings) == 0 ||
			res.Ended != EndedStopped:
			t.Errorf("%+v, %v", res, err)
		case ctx.Err() != nil:
			t.Log("the result came after the deadline: this machine is slow")
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if res, err := e.FillText(ctx, line, Options{}); res != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", res, err)
	}
}
