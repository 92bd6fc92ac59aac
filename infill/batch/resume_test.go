package batch

import (
	"bytes"
	"context"
	"errors"
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
	"infill/internal/unpack"
)

// Whatever number of bytes an earlier run left, the resumed file is that of an
// uninterrupted run.
func TestResumeAtEveryByte(t *testing.T) {
	t.Parallel()
	for _, suffix := range suffixes {
		t.Run(suffix, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			in := inputtest.Write(t, filepath.Join(dir, "in.txt"), inputtest.Sentences(150))
			out := filepath.Join(dir, "out"+suffix)
			if _, _, err := process(t, in, out, config{}); err != nil {
				t.Fatal(err)
			}
			want := inputtest.Read(t, out)
			step := 1
			if len(want) > 150 {
				step = len(want) / 150
			}
			for n := len(want); n >= 0; n -= step {
				garbage := []byte(nil)
				if n%3 == 1 { // a loss of power can leave zeros
					garbage = make([]byte, n%50)
				}
				if err := os.WriteFile(out, append(bytes.Clone(want[:n]), garbage...), 0o644); err != nil {
					t.Fatal(err)
				}
				p, o, err := process(t, in, out, config{mode: Resume, do: atOnce})
				if err != nil {
					t.Fatalf("%d bytes: %v", n, err)
				}
				if got := inputtest.Read(t, out); !bytes.Equal(got, want) {
					t.Fatalf(
						"resumed at byte %d of %d (%d records there, %d bytes cut off): another file", n, len(want),
						p.Resumed, o.Dropped,
					)
				}
				if n == len(want) && (p.Resumed != p.Records || o.Dropped != int64(len(garbage))) {
					t.Errorf("a finished file is done again: %+v", p)
				}
			}
		})
	}
}

// A compressed output without records is one that other programs can read: a frame, and not a file
// of no bytes. To resume it changes nothing, and completes one of no bytes.
func TestEmptyOutput(t *testing.T) {
	t.Parallel()
	for _, suffix := range suffixes {
		for _, per := range []settings.Unit{settings.PerSentence, settings.PerFilling} {
			dir := t.TempDir()
			in := inputtest.Write(t, filepath.Join(dir, "in.txt"), "\n")
			out := filepath.Join(dir, "out"+suffix)
			c := config{layout: Layout{Per: per}}
			if _, _, err := process(t, in, out, c); err != nil {
				t.Fatal(err)
			}
			want := inputtest.Read(t, out)
			u, err := unpack.New(bytes.NewReader(want))
			if err != nil {
				t.Fatal(err)
			}
			plain, err := io.ReadAll(u)
			if err != nil || len(plain) > 0 || (len(want) > 0) != (suffix != ".jsonl") {
				t.Errorf("%s: %q holds %q, %v", suffix, want, plain, err)
			}
			c.mode = Resume
			for _, n := range []int{len(want), 0, len(want) / 2} {
				if per != settings.PerSentence && n < len(want) {
					continue // rows are refused where their bytes have changed
				}
				inputtest.Write(t, out, string(want[:n]))
				_, o, err := process(t, in, out, c)
				if err != nil || !bytes.Equal(inputtest.Read(t, out), want) || n == len(want) && o.Dropped != 0 {
					t.Errorf("%s: resumed at byte %d: %q, %v", suffix, n, inputtest.Read(t, out), err)
				}
			}
		}
	}
}

// A disk that is full in the middle of a record: the error is reported, the
// torn record taken away, and the run can go on when there is room.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for _, suffix := range suffixes {
		dir := t.TempDir()
		in := inputtest.Write(t, filepath.Join(dir, "in.txt"), inputtest.Sentences(300))
		whole, out := filepath.Join(dir, "whole"+suffix), filepath.Join(dir, "out"+suffix)
		if _, _, err := process(t, in, whole, config{}); err != nil {
			t.Fatal(err)
		}
		want := inputtest.Read(t, whole)
		for i := 0; ; i++ {
			room := len(want) / 5
			_, _, err := process(
				t, in, out, config{mode: Resume, before: func(o *Output) { o.records.w = &small{o.records.w, room} }},
			)
			if err == nil {
				t.Fatalf("%s: a full disk goes unnoticed", suffix)
			}
			if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "writing") {
				t.Fatal(err)
			}
			got := inputtest.Read(t, out)
			if !bytes.HasPrefix(want, got) || suffix == ".jsonl" && len(got) > 0 && got[len(got)-1] != '\n' {
				t.Fatalf("%s: what the full disk holds is not whole", suffix)
			}
			if len(got) > len(want)/3 || i == 3 {
				break
			}
		}
		if _, _, err := process(t, in, out, config{mode: Resume}); err != nil ||
			!bytes.Equal(inputtest.Read(t, out), want) {
			t.Errorf("%s: the resumed file is another (%v)", suffix, err)
		}
	}
}

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
			p, _, err := process(t, in, out, config{mode: Resume, ctx: ctx, progress: func(p Progress) {
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
	in := input.JSONLines("x", strings.NewReader(strings.Repeat(`{"text": "a"}`+"\n", 10)))
	var begun atomic.Int32
	job := Job{Input: in, Output: Stream(io.Discard), Workers: 2, Total: -1, Abandon: true,
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
