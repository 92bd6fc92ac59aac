package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

const (
	styleOn  = "\x1b[1;32m" // bold green
	styleOff = "\x1b[0m"
)

// isTerminal tells whether a reader or writer is one.
func isTerminal(v any) bool {
	f, ok := v.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// useColor decides whether filled words are highlighted: --color, else
// NO_COLOR (no-color.org), else whether the output is a terminal.
func useColor(mode string, out io.Writer) bool {
	switch mode {
	case "always":
		return true
	case "never":
		return false
	}
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(out)
}

// highlight marks the byte spans of a text, which are in order.
func highlight(text string, spans [][2]int) string {
	var b strings.Builder
	last := 0
	for _, s := range spans {
		if s[0] == s[1] {
			continue
		}
		b.WriteString(text[last:s[0]])
		b.WriteString(styleOn)
		b.WriteString(text[s[0]:s[1]])
		b.WriteString(styleOff)
		last = s[1]
	}
	b.WriteString(text[last:])
	return b.String()
}

// printable replaces the control characters of a text, so that no input can
// command a terminal; tabs stay.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return '�'
		}
		return r
	}, s)
}

// A progress bar on standard error, shown only where someone looks at it.
type progress struct {
	w     io.Writer
	mode  string // bar, json or none
	total int
	last  time.Time
	shown bool
}

func newProgress(mode string, quiet bool, w io.Writer, total int) *progress {
	return &progress{w: w, mode: progressMode(mode, quiet, w), total: total}
}

// progressMode turns --progress into bar, json or none.
func progressMode(mode string, quiet bool, w io.Writer) string {
	switch {
	case quiet && mode != "json" || mode == "none":
		return "none"
	case mode == "auto" && isTerminal(w):
		return "bar"
	case mode == "auto":
		return "none"
	}
	return mode
}

// step reports that n of the total steps of a line are done.
func (p *progress) step(line, n int) {
	if p.mode == "none" || n < p.total && time.Since(p.last) < 100*time.Millisecond {
		return
	}
	p.last = time.Now()
	if p.mode == "json" {
		fmt.Fprintf(p.w, "{\"progress\":{\"line\":%d,\"step\":%d,\"steps\":%d}}\n", line, n, p.total)
		return
	}
	const width = 30
	full := width * n / max(p.total, 1)
	fmt.Fprintf(p.w, "\r\x1b[K%s%s step %d of %d", strings.Repeat("█", full), strings.Repeat("░", width-full), n, p.total)
	p.shown = true
}

// clear takes the bar away.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}
