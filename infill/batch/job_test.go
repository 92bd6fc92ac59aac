package batch

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

// A job without a part panicked in a goroutine, which ends the process, and one without workers
// waited for ever.
func TestJobThatLacksSomething(t *testing.T) {
	var none context.Context
	for name, change := range map[string]func(j *Job, ctx *context.Context){
		"context": func(_ *Job, ctx *context.Context) { *ctx = none },
		"input":   func(j *Job, _ *context.Context) { j.Input = nil },
		"output":  func(j *Job, _ *context.Context) { j.Output = nil },
		"do":      func(j *Job, _ *context.Context) { j.Do = nil },
		"workers": func(j *Job, _ *context.Context) { j.Workers = 0 },
		"fewer":   func(j *Job, _ *context.Context) { j.Workers = -1 },
	} {
		in := Lines("lines", strings.NewReader("one\ntwo\n"))
		out, err := Layout{}.Stream(io.Discard, in)
		if err != nil {
			t.Fatal(err)
		}
		ctx := t.Context()
		j := &Job{Input: in, Output: out, Workers: 1,
			Do: func(context.Context, *Item) (Record, error) { return Record{}, nil }}
		change(j, &ctx)
		if _, err := j.Run(ctx); !errors.Is(err, ErrJob) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if in, err := OpenStream("stream", nil, InputOptions{}); err == nil {
		t.Errorf("a stream that is not there is open: %v", in.Close())
	}
}
