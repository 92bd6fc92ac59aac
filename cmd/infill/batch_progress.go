package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"infill/infill/batch"
)

// batchProgress shows how far a file is: records, rate, time left.
type batchProgress struct {
	w     io.Writer
	mode  string // bar, json or none
	start time.Time
	from  batch.Progress // what earlier runs had done
	last  time.Time
	begun bool
	shown bool
}

func newBatchProgress(mode string, quiet bool, w io.Writer) *batchProgress {
	return &batchProgress{w: w, mode: progressMode(mode, quiet, w)}
}

// show takes the news of a run.
func (b *batchProgress) show(p batch.Progress) {
	now := time.Now()
	if !b.begun {
		b.begun, b.start, b.from = true, now, p
	}
	every := 200 * time.Millisecond
	if b.mode == "json" {
		every = time.Second
	}
	if b.mode == "none" || now.Sub(b.last) < every {
		return
	}
	b.last = now
	rate, left := b.rates(p, now.Sub(b.start))
	if b.mode == "json" {
		fmt.Fprintf(b.w, "{\"progress\":{\"records\":%d,\"failed\":%d,\"resumed\":%d,\"bytes\":%d,\"of\":%d,\"per_second\":%.2f,\"seconds_left\":%.0f}}\n",
			p.Records, p.Failed, p.Resumed, p.Read, p.Size, rate, left.Seconds())
		return
	}
	var s strings.Builder
	if p.Size > 0 {
		const width = 30
		full := min(width, int(width*p.Read/p.Size))
		fmt.Fprintf(&s, "%s%s %3d %% ", strings.Repeat("█", full), strings.Repeat("░", width-full), 100*p.Read/p.Size)
	}
	fmt.Fprintf(&s, "%d records", p.Records)
	if p.Failed > 0 {
		fmt.Fprintf(&s, ", %d failed", p.Failed)
	}
	if rate > 0 {
		fmt.Fprintf(&s, ", %.1f/s", rate)
	}
	if left > 0 {
		fmt.Fprintf(&s, ", %s left", left.Round(time.Second))
	}
	fmt.Fprintf(b.w, "\r\x1b[K%s", s.String())
	b.shown = true
}

// rates are the records per second of this run, and the time left by the share
// of the input's bytes that it has done; 0 where not known.
func (b *batchProgress) rates(p batch.Progress, d time.Duration) (rate float64, left time.Duration) {
	if d <= 0 || p.Records == b.from.Records {
		return 0, 0
	}
	rate = float64(p.Records-b.from.Records) / d.Seconds()
	if did := p.Read - b.from.Read; p.Size > 0 && did > 0 {
		left = time.Duration(float64(d) * float64(p.Size-p.Read) / float64(did))
	}
	return rate, left
}

func (b *batchProgress) clear() {
	if b.shown {
		fmt.Fprint(b.w, "\r\x1b[K")
		b.shown = false
	}
}

// summary says what a finished run did.
func (b *batchProgress) summary(p batch.Progress) string {
	s := fmt.Sprintf("%d records", p.Records)
	if p.Failed > 0 {
		s += fmt.Sprintf(", %d of them errors", p.Failed)
	}
	if p.Resumed > 0 {
		s += fmt.Sprintf(", %d from before", p.Resumed)
	}
	d := time.Since(b.start)
	if rate, _ := b.rates(p, d); rate > 0 {
		s += fmt.Sprintf("; %.1f s, %.1f records/s", d.Seconds(), rate)
	}
	return s
}
