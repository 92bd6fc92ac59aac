package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"infill/cmd/infill/internal/console"
	"infill/infill"
	"infill/infill/batch"
	"infill/internal/count"
)

// batchProgress shows how far a file is: finished records, rate, time left.
type batchProgress struct {
	console.Meter
	now   func() time.Time
	mu    sync.Mutex // of all below, for several lines are in work
	start time.Time
	from  batch.Progress // what earlier runs had done
	begun bool

	workers   int // records that are begun together
	quiet     bool
	estimated bool
}

func newBatchProgress(mode string, quiet bool, workers int, w io.Writer) *batchProgress {
	return &batchProgress{Meter: console.NewMeter(mode, quiet, w), now: time.Now, workers: workers,
		quiet: quiet}
}

// show takes the news of a run.
func (b *batchProgress) show(p batch.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	if !b.begun {
		b.begun, b.start, b.from = true, now, p
	}
	b.estimate(p, now)
	if !b.Due(now, 200*time.Millisecond, time.Second, p.Records == p.Total) {
		return
	}
	rate, left, known := b.rates(p, now.Sub(b.start))
	if b.Mode == "json" {
		var seconds string
		if known {
			seconds = fmt.Sprintf(",\"seconds_left\":%.0f", left.Seconds())
		}
		b.Line(`"records":%d,"of":%d,"failed":%d,"resumed":%d,"per_second":%.2f%s`, p.Records,
			p.Total, p.Failed, p.Resumed, rate, seconds)
		return
	}
	var s strings.Builder
	if p.Total > 0 {
		fmt.Fprintf(&s, "%s %3d %% ", b.Bar(int64(p.Records), int64(p.Total)), 100*p.Records/p.Total)
	}
	fmt.Fprintf(&s, "%d record%s", p.Records, count.S(p.Records))
	if p.Failed > 0 {
		fmt.Fprintf(&s, ", %d failed", p.Failed)
	}
	if rate > 0 {
		fmt.Fprintf(&s, ", %.1f/s", rate)
	}
	if known && left > 0 {
		fmt.Fprintf(&s, ", %s left", left.Round(time.Second))
	}
	b.Draw(s.String())
}

// Clear takes the picture away.
func (b *batchProgress) Clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Meter.Clear()
}

// within shows how far the long text of a line is.
func (b *batchProgress) within(line int, p infill.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.Blanks > 0 && b.Due(b.now(), 200*time.Millisecond, time.Second, false) {
		b.Long(line, p, fmt.Sprintf("line %d: ", line))
	}
}

// longBatch is how much time must be left for an estimate of the end to be worth a line.
const longBatch = 30 * time.Second

// estimate says once, after the first records of a long run, how fast it is and when it will end.
// Records that begin together end together, so it waits for two rounds of them, or for one slow
// round.
func (b *batchProgress) estimate(p batch.Progress, now time.Time) {
	did, d := p.Records-b.from.Records, now.Sub(b.start)
	if b.estimated || p.Total < 0 || did < b.workers || did < 2*b.workers && d < 20*time.Second {
		return
	}
	b.estimated = true
	rate, left, known := b.rates(p, d)
	if !known || left < longBatch {
		return
	}
	end := now.Add(left)
	if b.Mode == "json" {
		fmt.Fprintf(b.W, `{"estimate":{"records":%d,"of":%d,"per_second":%.2f,"seconds_left":%.0f,`+
			`"end":%q}}`+"\n", p.Records, p.Total, rate, left.Seconds(), end.UTC().Format(time.RFC3339))
		return
	}
	if b.quiet {
		return
	}
	b.Meter.Clear()
	layout := "15:04"
	if end.YearDay() != now.YearDay() || left > 24*time.Hour {
		layout = "15:04 on 2 January"
	}
	fmt.Fprintf(b.W, "infill: %s sentences a second, %d are left: done in about %s, at %s\n",
		speed(rate), p.Total-p.Records, roughly(left), end.Format(layout))
}

// speed is a rate in about two digits.
func speed(rate float64) string {
	switch {
	case rate >= 10:
		return fmt.Sprintf("%.0f", rate)
	case rate >= 1:
		return fmt.Sprintf("%.1f", rate)
	case rate >= 0.01:
		return fmt.Sprintf("%.2f", rate)
	}
	return fmt.Sprintf("%.1g", rate)
}

// roughly is a duration in the two units that matter.
func roughly(d time.Duration) string {
	switch {
	case d < 10*time.Minute:
		return d.Round(time.Second).String()
	case d < 24*time.Hour:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
	h := int(d.Round(time.Hour).Hours())
	return fmt.Sprintf("%s %d h", count.Of(h/24, "day"), h%24)
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

// failures says how many of some records are errors.
func failures(n int) string {
	if n == 1 {
		return ", 1 of them an error"
	}
	return fmt.Sprintf(", %d of them errors", n)
}

// summary says what a finished run did.
func (b *batchProgress) summary(p batch.Progress) string {
	s := fmt.Sprintf("%d record%s", p.Records, count.S(p.Records))
	if p.Failed > 0 {
		s += failures(p.Failed)
	}
	switch {
	case p.Left == 1:
		s += ", 1 left as it is"
	case p.Left > 1:
		s += fmt.Sprintf(", %d left as they are", p.Left)
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
