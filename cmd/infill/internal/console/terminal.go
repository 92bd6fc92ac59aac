// Package console has what a command reads and writes: its streams, terminals, and how far
// something is.
package console

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"
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
