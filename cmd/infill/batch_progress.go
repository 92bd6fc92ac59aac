package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"infill/infill/batch"
)

// batchProgress shows how far a file is: finished records, rate, time left.
type batchProgress struct {
	meter
	now   func() time.Time
	start time.Time
	from  batch.Progress // what earlier runs had done
	begun bool
}

func newBatchProgress(mode string, quiet bool, w io.Writer) *batchProgress {
	return &batchProgress{meter: newMeter(mode, quiet, w), now: time.Now}
}

// show takes the news of a run.
func (b *batchProgress) show(p batch.Progress) {
	now := b.now()
	if !b.begun {
		b.begun, b.start, b.from = true, now, p
	}
	if !b.due(now, 200*time.Millisecond, time.Second, false) {
		return
	}
	rate, left, known := b.rates(p, now.Sub(b.start))
	if b.mode == "json" {
		var seconds string
		if known {
			seconds = fmt.Sprintf(",\"seconds_left\":%.0f", left.Seconds())
		}
		b.line(`"records":%d,"of":%d,"failed":%d,"resumed":%d,"per_second":%.2f%s`,
			p.Records, p.Total, p.Failed, p.Resumed, rate, seconds)
		return
	}
	var s strings.Builder
	if p.Total > 0 {
		fmt.Fprintf(&s, "%s %3d %% ", bar(int64(p.Records), int64(p.Total)), 100*p.Records/p.Total)
	}
	fmt.Fprintf(&s, "%d records", p.Records)
	if p.Failed > 0 {
		fmt.Fprintf(&s, ", %d failed", p.Failed)
	}
	if rate > 0 {
		fmt.Fprintf(&s, ", %.1f/s", rate)
	}
	if known && left > 0 {
		fmt.Fprintf(&s, ", %s left", left.Round(time.Second))
	}
	b.draw(s.String())
}

// rates are the finished records per second of this run, and the time that the
// others need at this rate. That is not known before the first record, nor of a
// stream, whose records cannot be counted.
func (b *batchProgress) rates(p batch.Progress, d time.Duration) (rate float64,
	left time.Duration, known bool) {
	did := p.Records - b.from.Records
	if p.Total >= 0 && p.Records >= p.Total {
		known = true // nothing is left
	}
	if d <= 0 || did == 0 {
		return 0, 0, known
	}
	rate = float64(did) / d.Seconds()
	if p.Total > p.Records {
		known = true
		left = time.Duration(float64(d) * float64(p.Total-p.Records) / float64(did))
	}
	return rate, left, known
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
	d := b.now().Sub(b.start)
	if rate, _, _ := b.rates(p, d); rate > 0 {
		s += fmt.Sprintf("; %.1f s, %.1f records/s", d.Seconds(), rate)
	}
	return s
}
