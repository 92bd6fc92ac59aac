package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"infill/infill/batch/input"
	"infill/infill/batch/input/inputtest"
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

func manifest() *Manifest {
	return &Manifest{Format: ManifestFormat, Version: "v1", Model: "sha256:0", Seed: 1,
		Settings: map[string]string{"steps": "50"}}
}

type config struct {
	workers, maxErrors int
	limit              int
	shard              settings.Shard
	layout             Layout
	mode               Mode
	do                 func(context.Context, *input.Item) (Record, error)
	ctx                context.Context
	before             func(*Output)
	progress           func(Progress)
}

// process works through a file.
func process(t *testing.T, from, output string, c config) (Progress, *Output, error) {
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
	out.records.sync = func() error { return nil } // sync_test.go has the tests of syncing
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
		h, ok := parseHead(l)
		if !ok || h.line <= last {
			t.Fatalf("after line %d: %s", last, l)
		}
		last = h.line
	}
	if last != 301 {
		t.Errorf("the last record is of line %d", last)
	}
}

// small takes so many bytes and then is full.
type small struct {
	w    io.Writer
	room int
}

func (s *small) Write(p []byte) (int, error) {
	if len(p) <= s.room {
		s.room -= len(p)
		return s.w.Write(p)
	}
	n, _ := s.w.Write(p[:s.room])
	s.room = 0
	return n, syscall.ENOSPC
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
	if p, _, err = process(t, in, out, config{maxErrors: 2, mode: Resume}); !errors.Is(err,
		ErrTooMany) || p.Records != 5 {
		t.Fatalf("%+v, %v", p, err)
	}
	if p, _, err = process(t, in, out, config{mode: Resume}); err != nil || p.Records != 7 ||
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

func TestRefusals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := inputtest.Write(t, filepath.Join(dir, "in.txt"), "a\nb\n")
	out := filepath.Join(dir, "out.jsonl")
	if _, _, err := process(t, in, out, config{mode: Resume}); err != nil {
		t.Fatalf("resuming what never began: %v", err)
	}
	want := inputtest.Read(t, out)
	if _, _, err := process(t, in, out, config{}); !errors.Is(err, ErrExists) {
		t.Errorf("an output that exists: %v", err)
	}
	if _, _, err := process(t, in, in, config{mode: Force,
		layout: Layout{Format: settings.FormatJSONL}}); !errors.Is(err, ErrIsInput) {
		t.Errorf("the input as output: %v", err)
	}
	other := inputtest.Write(t, filepath.Join(dir, "other.txt"), "a\nc\n")
	if _, _, err := process(t, other, out, config{mode: Resume}); !errors.Is(err, ErrMismatch) ||
		!strings.Contains(err.Error(), "input") {
		t.Errorf("another input: %v", err)
	}
	open := func(change func(*Manifest)) error {
		i, err := input.Open(in, nil, input.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = i.Close() }()
		m := manifest()
		s, _ := i.Survey()
		m.SHA256, m.Bytes = s.SHA256, s.Bytes
		change(m)
		o, err := m.Open(out, i, Resume, Layout{})
		if err == nil {
			_ = o.sink.finish(false)
		}
		return err
	}
	for what, change := range map[string]func(*Manifest){
		"version":   func(m *Manifest) { m.Version = "v2" },
		"model":     func(m *Manifest) { m.Model = "sha256:1" },
		"seed":      func(m *Manifest) { m.Seed = 2 },
		"steps was": func(m *Manifest) { m.Settings["steps"] = "51" },
		"new was":   func(m *Manifest) { m.Settings["new"] = "x" },
		"input":     func(m *Manifest) { m.SHA256 = "00" },
	} {
		if err := open(change); !errors.Is(err, ErrMismatch) || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	same := func(m *Manifest) { m.Input = "the same file by another name" }
	if err := open(same); err != nil {
		t.Error(err)
	}
	// Two processes at once.
	i, err := input.Open(in, nil, input.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := manifest()
	s, _ := i.Survey()
	m.SHA256, m.Bytes = s.SHA256, s.Bytes
	o, err := m.Open(out, i, Resume, Layout{})
	if err != nil {
		t.Fatal(err)
	}
	if err := open(same); !errors.Is(err, errLocked) {
		t.Errorf("a second writer: %v", err)
	}
	if err := errors.Join(o.sink.finish(false), i.Close()); err != nil {
		t.Fatal(err)
	}
	inputtest.Write(t, ManifestPath(out), "{")
	if err := open(same); !errors.Is(err, ErrManifest) {
		t.Errorf("a damaged manifest: %v", err)
	}
	if err := os.Remove(ManifestPath(out)); err != nil {
		t.Fatal(err)
	}
	if err := open(same); !errors.Is(err, ErrManifest) {
		t.Errorf("no manifest: %v", err)
	}
	if !bytes.Equal(inputtest.Read(t, out), want) {
		t.Error("a refused run changed the output")
	}
	if _, _, err := process(t, in, out, config{mode: Force}); err != nil ||
		!bytes.Equal(inputtest.Read(t, out), want) {
		t.Errorf("--force: %v", err)
	}
	// A record that belongs to another line.
	inputtest.Write(t, out, `{"line":1,"text":"A"}`+"\n"+`{"line":7,"text":"B"}`+"\n")
	if _, _, err := process(t, in, out, config{mode: Resume}); !errors.Is(err, ErrMismatch) ||
		!strings.Contains(err.Error(), "line 7") {
		t.Errorf("a record of another line: %v", err)
	}
	inputtest.Write(t, out, strings.Repeat(`{"line":1}`+"\n", 1)+`{"line":2}`+"\n"+`{"line":3}`+"\n")
	if _, _, err := process(t, in, out, config{mode: Resume}); !errors.Is(err, ErrMismatch) ||
		!strings.Contains(err.Error(), "more records") {
		t.Errorf("more records than lines: %v", err)
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
