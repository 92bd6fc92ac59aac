package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"infill/infill/batch/input"
	"infill/infill/batch/input/inputtest"
	"infill/infill/batch/output"
	"infill/infill/settings"
)

// upper is a record that takes a little and varying time to make.
func upper(ctx context.Context, it *input.Item) (Record, error) {
	select {
	case <-time.After(time.Duration(rand.IntN(200)) * time.Microsecond):
	case <-ctx.Done():
		return Record{}, ctx.Err()
	}
	return atOnce(ctx, it)
}

// atOnce is the record of upper without the time.
func atOnce(_ context.Context, it *input.Item) (Record, error) {
	h := map[string]any{"line": it.Line, "text": strings.ToUpper(it.Text)}
	if it.ID != nil {
		h["id"] = it.ID
	}
	rec := Record{}
	if it.Err != nil || strings.HasPrefix(it.Text, "bad") {
		delete(h, "text")
		h["error"] = map[string]string{"code": "bad"}
		rec.Failed, rec.Cause = true, errors.New("bad text")
	}
	var err error
	rec.JSON, err = json.Marshal(h)
	return rec, err
}

func manifest() *output.Manifest {
	return &output.Manifest{Version: "v1", Model: "sha256:0", Seed: 1,
		Settings: map[string]string{"steps": "50"}}
}

type config struct {
	workers, maxErrors int
	limit              int
	shard              settings.Shard
	layout             output.Layout
	mode               output.Mode
	do                 func(context.Context, *input.Item) (Record, error)
	ctx                context.Context
	before             func(*output.Writer)
	progress           func(Progress)
}

// process works through a file.
func process(t *testing.T, from, output string, c config) (Progress, *output.Writer, error) {
	t.Helper()
	in, err := input.Open(from, nil, input.Options{Limit: c.limit, Shard: c.shard})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	m := manifest()
	m.Limit, m.Shard = c.limit, c.shard
	s, err := in.Survey()
	if err != nil {
		t.Fatal(err)
	}
	m.SHA256, m.Bytes = s.SHA256, s.Bytes
	out, err := m.Open(output, in, c.mode, c.layout)
	if err != nil {
		return Progress{}, nil, err
	}
	if c.before != nil {
		c.before(out)
	}
	if c.do == nil {
		c.do = upper
	}
	if c.ctx == nil {
		c.ctx = context.Background()
	}
	if c.workers == 0 {
		c.workers = 4
	}
	if c.maxErrors == 0 {
		c.maxErrors = -1
	}
	job := Job{Input: in, Output: out, Workers: c.workers, Do: c.do, MaxErrors: c.maxErrors,
		Progress: c.progress, Total: s.Records}
	p, err := job.Run(c.ctx)
	return p, out, err
}

var suffixes = []string{".jsonl", ".jsonl.gz", ".jsonl.zst"}

func TestOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := inputtest.Write(t, filepath.Join(dir, "in.txt"), inputtest.Sentences(300))
	var want []byte
	for _, workers := range []int{1, 3, 16} {
		out := filepath.Join(dir, fmt.Sprint(workers, ".jsonl"))
		p, _, err := process(t, in, out, config{workers: workers})
		if err != nil || p.Records != 283 || p.Failed < 20 || p.Total != 283 {
			t.Fatalf("%+v, %v", p, err)
		}
		got := inputtest.Read(t, out)
		if want == nil {
			want = got
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%d workers give other bytes", workers)
		}
	}
	last := 0
	for _, l := range bytes.Split(bytes.TrimSuffix(want, []byte("\n")), []byte("\n")) {
		var h struct{ Line int }
		if err := json.Unmarshal(l, &h); err != nil || h.Line <= last {
			t.Fatalf("after line %d: %s", last, l)
		}
		last = h.Line
	}
	if last != 301 {
		t.Errorf("the last record is of line %d", last)
	}
}

func TestMaxErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := inputtest.Write(t, filepath.Join(dir, "in.txt"), "a\nbad 2\nb\nbad 4\nc\nbad 6\nd\n")
	out := filepath.Join(dir, "out.jsonl")
	p, _, err := process(t, in, out, config{maxErrors: 2})
	if !errors.Is(err, ErrTooMany) || !strings.Contains(err.Error(), "line 6") || p.Records != 5 ||
		p.Failed != 2 {
		t.Fatalf("%+v, %v", p, err)
	}
	// Earlier errors count when the run goes on.
	if p, _, err = process(t, in, out, config{maxErrors: 2, mode: output.Resume}); !errors.Is(err,
		ErrTooMany) || p.Records != 5 {
		t.Fatalf("%+v, %v", p, err)
	}
	if p, _, err = process(t, in, out, config{mode: output.Resume}); err != nil || p.Records != 7 ||
		p.Failed != 3 {
		t.Fatalf("%+v, %v", p, err)
	}
}

// An error that concerns all records ends the run, in order.
func TestFatal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := inputtest.Write(t, filepath.Join(dir, "in.txt"), inputtest.Sentences(100))
	broken := errors.New("the model broke")
	p, _, err := process(t, in, filepath.Join(dir, "out.jsonl"),
		config{do: func(ctx context.Context, it *input.Item) (Record, error) {
			if it.Line > 20 {
				return Record{}, broken
			}
			return upper(ctx, it)
		}})
	// Line 21 is empty (21 = 17 + 3 + 1).
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "line 22") || p.Records != 19 {
		t.Errorf("%+v, %v", p, err)
	}
}

// However large the file, only so many items are in memory at once.
func TestBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := inputtest.Write(t, filepath.Join(dir, "in.txt"), strings.Repeat("a line\n", 5000))
	var read, most atomic.Int64
	written := int64(0)
	_, _, err := process(t, in, filepath.Join(dir, "out.jsonl"), config{workers: 4,
		do: func(ctx context.Context, it *input.Item) (Record, error) {
			most.Store(max(most.Load(), int64(it.Line)-atomic.LoadInt64(&written)))
			read.Add(1)
			if it.Line%500 == 1 { // a slow one holds up those behind it
				time.Sleep(5 * time.Millisecond)
			}
			return Record{JSON: []byte(fmt.Sprintf(`{"line":%d}`, it.Line))}, nil
		},
		progress: func(p Progress) { atomic.StoreInt64(&written, int64(p.Records)) }})
	if err != nil || read.Load() != 5000 {
		t.Fatalf("%d items, %v", read.Load(), err)
	}
	// 16 in order, one being written, one being read.
	if most.Load() > 4*4+3 {
		t.Errorf("an item %d records ahead was in work", most.Load())
	}
}
