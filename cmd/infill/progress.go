package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"infill/infill"
	"infill/internal/count"
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

// found shows the best filling that a search has, and the rows of the model up to now.
func (p *progress) found(line int, s infill.Progress) {
	const often = 100 * time.Millisecond
	if len(s.Best) == 0 || !p.due(time.Now(), often, often, false) {
		return
	}
	best := s.Best[0]
	if p.mode != "json" {
		head := count.Of(s.Rows, "row") + "  "
		p.draw(head + around(best.Text, best.Spans, columns(p.w)-1-len(head)))
		return
	}
	var at string
	if line > 0 {
		at = fmt.Sprintf(`"line":%d,`, line)
	}
	text, _ := json.Marshal(best.Text) // a string has JSON
	p.line(`%s"rows":%d,"score":%.2f,"best":%s`, at, s.Rows, best.Score, text)
}

// around is a line of at most some columns: the text, or what stands around its first filled word.
func around(text string, spans [][2]int, width int) string {
	line := []rune(strings.ReplaceAll(printable(text), "\t", " "))
	fits := func(r []rune, width int) int { // how many of them
		for i := range r {
			if width -= columnsOf(r[i]); width < 0 {
				return i
			}
		}
		return len(r)
	}
	if fits(line, width) == len(line) {
		return string(line)
	}
	first := len(line)
	for _, s := range spans {
		first = min(first, len([]rune(printable(text[:s[0]]))))
	}
	head := ""
	if from := first - width/4; from > 0 && fits(line, width) < first+width/4 {
		head, line = "…", []rune(strings.TrimLeft(string(line[from:]), " "))
		width--
	}
	if n := fits(line, width); n < len(line) {
		line = append(line[:fits(line, width-1)], '…')
	}
	return head + string(line)
}

// columnsOf is how many columns of a terminal a character takes, at most.
func columnsOf(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1100 && (r < 0x2000 || r >= 0x2300): // East Asian ones, emoji, and some narrow ones
		return 2
	}
	return 1
}
