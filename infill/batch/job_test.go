package batch

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"infill/infill/batch/input"
	"infill/infill/batch/output"
	"infill/infill/settings"
)

// A job without a part panicked in a goroutine, which ends the process, and one without workers
// waited for ever.
func TestJobThatLacksSomething(t *testing.T) {
	var none context.Context
	for name, change := range map[string]func(j *Job, ctx *context.Context){
		"context": func(_ *Job, ctx *context.Context) { *ctx = none },
		"input":   func(j *Job, _ *context.Context) { j.Input = nil },
		"output":  func(j *Job, _ *context.Context) { j.Output = nil },
		"open":    func(j *Job, _ *context.Context) { j.Input = &input.Reader{} },
		"writer":  func(j *Job, _ *context.Context) { j.Output = &output.Writer{} },
		"do":      func(j *Job, _ *context.Context) { j.Do = nil },
		"workers": func(j *Job, _ *context.Context) { j.Workers = 0 },
		"fewer":   func(j *Job, _ *context.Context) { j.Workers = -1 },
	} {
		in := input.Lines("lines", strings.NewReader("one\ntwo\n"), settings.FormatText)
		out, err := output.Layout{}.Stream(io.Discard, in)
		if err != nil {
			t.Fatal(err)
		}
		ctx := t.Context()
		j := &Job{Input: in, Output: out, Workers: 1,
			Do: func(context.Context, *input.Item) (Record, error) { return Record{}, nil }}
		change(j, &ctx)
		if _, err := j.Run(ctx); !errors.Is(err, errJob) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A negative limit read the whole file, and another format was read as JSON lines, or panicked.
	for want, o := range map[string]input.Options{
		"limit is -1":   {Limit: -1},
		"format is -1":  {Format: -1},
		"format is 8":   {Format: settings.FormatParquet + 1},
		"shard is 4/4":  {Shard: settings.Shard{Index: 4, Of: 4}},
		"shard is -1/4": {Shard: settings.Shard{Index: -1, Of: 4}},
	} {
		_, err := input.OpenStream("stream", strings.NewReader("one\n"), o)
		_, file := input.Open(filepath.Join(t.TempDir(), "absent"), nil, o)
		for _, err := range []error{err, file} {
			if !errors.Is(err, settings.ErrSetting) || !strings.Contains(err.Error(), want+", want") {
				t.Errorf("%v, want %s", err, want)
			}
		}
	}
	if in, err := input.OpenStream("stream", nil, input.Options{}); err == nil {
		t.Errorf("a stream that is not there is open: %v", in.Close())
	}
}
