package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// A meter shows on standard error how far something is: as a bar where someone looks, as JSON
// lines, or not at all.
type meter struct {
	w     io.Writer
	mode  string // bar, json or none
	last  time.Time
	shown bool
}

// newMeter makes a meter of what --progress and --quiet say.
func newMeter(mode string, quiet bool, w io.Writer) meter {
	return meter{w: w, mode: progressMode(mode, quiet, w)}
}

// progressMode turns --progress into bar, json or none.
func progressMode(mode string, quiet bool, w io.Writer) string {
	switch {
	case quiet && mode != "json" || mode == "none":
		return "none"
	case mode == "auto" && canDraw(w):
		return "bar"
	case mode == "auto":
		return "none"
	}
	return mode
}

// due says that it is time to show something: a bar or a JSON line each so often, and the end
// always.
func (m *meter) due(now time.Time, bar, line time.Duration, end bool) bool {
	every := bar
	if m.mode == "json" {
		every = line
	}
	if m.mode == "none" || !end && now.Sub(m.last) < every {
		return false
	}
	m.last = now
	return true
}

// line writes a JSON line.
func (m *meter) line(format string, args ...any) {
	fmt.Fprintf(m.w, "{\"progress\":{"+format+"}}\n", args...)
}

// draw shows a line of text in the place of the last one.
func (m *meter) draw(text string) {
	fmt.Fprintf(m.w, "\r\x1b[K%s", text)
	m.shown = true
}

// clear takes the bar away.
func (m *meter) clear() {
	if m.shown {
		fmt.Fprint(m.w, "\r\x1b[K")
		m.shown = false
	}
}

// bar is a bar that is filled to the share done of total.
func bar(done, total int64) string {
	const width = 30
	full := int(min(width, width*done/max(total, 1)))
	return strings.Repeat("█", full) + strings.Repeat("░", width-full)
}

// A progress shows the steps of a sentence.
type progress struct {
	meter
	total int
}

func newProgress(mode string, quiet bool, w io.Writer, total int) *progress {
	return &progress{newMeter(mode, quiet, w), total}
}

// step reports that n of the total steps of a line are done. Line 0 is what has no line.
func (p *progress) step(line, n int) {
	const often = 100 * time.Millisecond
	switch {
	case !p.due(time.Now(), often, often, n >= p.total):
	case p.mode == "json" && line == 0:
		p.line(`"step":%d,"steps":%d`, n, p.total)
	case p.mode == "json":
		p.line(`"line":%d,"step":%d,"steps":%d`, line, n, p.total)
	default:
		p.draw(fmt.Sprintf("%s step %d of %d", bar(int64(n), int64(p.total)), n, p.total))
	}
}
