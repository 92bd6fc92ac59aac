package batch

import (
	"bytes"
	"context"
	"errors"
	"io"
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

// A run that is interrupted writes the record in hand and can be resumed.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	for _, suffix := range suffixes {
		dir := t.TempDir()
		in := inputtest.Write(t, filepath.Join(dir, "in.txt"), inputtest.Sentences(400))
		whole, out := filepath.Join(dir, "whole"+suffix), filepath.Join(dir, "out"+suffix)
		if _, _, err := process(t, in, whole, config{}); err != nil {
			t.Fatal(err)
		}
		want := inputtest.Read(t, whole)
		for rounds := 0; ; rounds++ {
			ctx, cancel := context.WithCancel(context.Background())
			stop := 1 + rand.IntN(150)
			p, _, err := process(t, in, out, config{mode: output.Resume, ctx: ctx, progress: func(p Progress) {
				if p.Records-p.Resumed == stop {
					cancel()
				}
			}})
			cancel()
			if err == nil {
				if rounds == 0 {
					t.Error("never interrupted")
				}
				break
			}
			if !errors.Is(err, context.Canceled) || p.Records-p.Resumed < stop {
				t.Fatalf("%v after %+v", err, p)
			}
			if suffix != ".jsonl" { // its records wait in another file
				continue
			}
			if got := inputtest.Read(t, out); !bytes.HasPrefix(want, got) {
				t.Fatal("not a beginning of the whole file")
			}
		}
		if !bytes.Equal(inputtest.Read(t, out), want) {
			t.Errorf("%s: another file", suffix)
		}
	}
}

// The record that is next is finished, those behind it are not waited for.
func TestInterruptFinishesTheRecordInHand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := inputtest.Write(t, filepath.Join(dir, "in.txt"), inputtest.Sentences(100))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var begun atomic.Int32
	do := func(c context.Context, it *input.Item) (Record, error) {
		if begun.Add(1) == 4 { // all workers are busy
			cancel()
		}
		if it.Line == 1 {
			<-ctx.Done()
			time.Sleep(20 * time.Millisecond) // still at work when the signal comes
			if c.Err() != nil {
				return Record{}, c.Err()
			}
			return upper(c, it)
		}
		<-c.Done()
		return Record{}, c.Err()
	}
	p, _, err := process(t, in, filepath.Join(dir, "out.jsonl"), config{ctx: ctx, do: do})
	if !errors.Is(err, context.Canceled) || p.Records != 1 {
		t.Errorf("%d records, %v", p.Records, err)
	}
}

// An abandoned run ends although the record that is next would never be there.
func TestAbandon(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	left := errors.New("left")
	in := input.Lines("x", strings.NewReader(strings.Repeat(`{"text": "a"}`+"\n", 10)),
		settings.FormatJSONL)
	var begun atomic.Int32
	job := Job{Input: in, Output: output.Stream(io.Discard), Workers: 2, Total: -1, Abandon: true,
		Do: func(ctx context.Context, _ *input.Item) (Record, error) {
			if begun.Add(1) == 2 { // all workers are busy
				cancel(left)
			}
			<-ctx.Done()
			return Record{}, ctx.Err()
		}}
	if p, err := job.Run(ctx); !errors.Is(err, left) || p.Records != 0 {
		t.Errorf("%d records, %v", p.Records, err)
	}
}
