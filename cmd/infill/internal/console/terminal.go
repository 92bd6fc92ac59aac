// Package console has what a command reads and writes: its streams, terminals, and how far
// something is.
package console

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"golang.org/x/term"

	"infill/infill"
	"infill/internal/count"
	"infill/internal/textline"
)

const (
	styleOn  = "\x1b[1;32m" // bold green
	styleOff = "\x1b[0m"
)

// IO is what a command reads and writes.
type IO struct {
	In       io.Reader
	Out, Err io.Writer
}

// IsTerminal says that a reader or writer is one.
func IsTerminal(v any) bool {
	f, ok := v.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// canDraw says that escape codes work on a writer: it is a terminal, and not a dumb one.
func canDraw(v any) bool { return os.Getenv("TERM") != "dumb" && IsTerminal(v) }

// columns is the width of a terminal.
func columns(v any) int {
	const usual = 80
	if f, ok := v.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return usual
}

// Highlight marks the byte spans of a text that is printed on a writer, which are in order. --color
// decides, else NO_COLOR (no-color.org), else whether the output is a terminal.
func Highlight(color string, out io.Writer, text string, spans [][2]int) string {
	if color == "never" || color != "always" && (os.Getenv("NO_COLOR") != "" || !canDraw(out)) {
		return text
	}
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

// Quoted writes arguments as a shell would need them.
func Quoted(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		if a == "" || strings.ContainsAny(a, " \t\n\"'\\$`*?[]|&;<>(){}~#!") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		out[i] = a
	}
	return out
}

// A Meter shows on standard error how far something is: as a bar where someone looks, as JSON
// lines, or not at all.
type Meter struct {
	W     io.Writer
	Mode  string // bar, json or none
	Last  time.Time
	shown bool
}

// NewMeter makes a meter of what --progress and --quiet say.
func NewMeter(mode string, quiet bool, w io.Writer) Meter {
	switch {
	case mode == "auto" && !quiet && canDraw(w):
		mode = "bar"
	case mode != "json":
		mode = "none"
	}
	return Meter{W: w, Mode: mode}
}

// Due says that it is time to show something: a bar or a JSON line each so often, and the end
// always.
func (m *Meter) Due(now time.Time, bar, line time.Duration, end bool) bool {
	every := bar
	if m.Mode == "json" {
		every = line
	}
	if m.Mode == "none" || !end && now.Sub(m.Last) < every {
		return false
	}
	m.Last = now
	return true
}

// Line writes a JSON line.
func (m *Meter) Line(format string, args ...any) {
	fmt.Fprintf(m.W, "{\"progress\":{"+format+"}}\n", args...)
}

// Draw shows a line of text in the place of the last one.
func (m *Meter) Draw(text string) {
	fmt.Fprintf(m.W, "\r\x1b[K%s", text)
	m.shown = true
}

// Clear takes the bar away.
func (m *Meter) Clear() {
	if m.shown {
		fmt.Fprint(m.W, "\r\x1b[K")
		m.shown = false
	}
}

// Bar is a bar that is filled to the share done of total.
func (m *Meter) Bar(done, total int64) string {
	const width = 30
	full := int(min(width, width*done/max(total, 1)))
	return strings.Repeat("█", full) + strings.Repeat("░", width-full)
}

// often is how much time is between two pictures of a sentence.
const often = 100 * time.Millisecond

// Step reports that n of the total steps of a line are done. A line without a number is 0.
func (m *Meter) Step(line, n, total int) {
	switch {
	case !m.Due(time.Now(), often, often, n >= total):
	case m.Mode == "json":
		m.Line(`%s"step":%d,"steps":%d`, at(line), n, total)
	default:
		m.Draw(fmt.Sprintf("%s step %d of %d", m.Bar(int64(n), int64(total)), n, total))
	}
}

// Found shows the best filling that a search has, and the rows of the model up to now.
func (m *Meter) Found(line int, s infill.Progress) {
	if len(s.Best) == 0 && s.Blanks == 0 || !m.Due(time.Now(), often, often, false) {
		return
	}
	if s.Blanks > 0 {
		m.Long(line, s, "")
		return
	}
	best := s.Best[0]
	if m.Mode != "json" {
		head := count.Of(s.Rows, "row") + "  "
		m.Draw(head + around(best.Text, best.Spans, columns(m.W)-1-len(head)))
		return
	}
	text, _ := json.Marshal(best.Text) // a string has JSON
	m.Line(`%s"rows":%d,"score":%.2f,"best":%s`, at(line), s.Rows, best.Score, text)
}

// Long shows how many blanks of a long text are filled, and the rows of the model up to now.
func (m *Meter) Long(line int, s infill.Progress, before string) {
	if m.Mode == "json" {
		m.Line(`%s"rows":%d,"filled_blanks":%d,"blanks":%d`, at(line), s.Rows, s.Filled, s.Blanks)
		return
	}
	m.Draw(fmt.Sprintf("%s%s %d of %d blanks, %s", before, m.Bar(int64(s.Filled), int64(s.Blanks)),
		s.Filled, s.Blanks, count.Of(s.Rows, "row")))
}

// at is the field of a line that has a number.
func at(line int) string {
	if line == 0 {
		return ""
	}
	return fmt.Sprintf(`"line":%d,`, line)
}

// around is a line of at most some columns: the text, or what stands around its first filled word.
func around(text string, spans [][2]int, width int) string {
	line := []rune(strings.ReplaceAll(textline.Printable(text), "\t", " "))
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
		first = min(first, len([]rune(textline.Printable(text[:s[0]]))))
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
