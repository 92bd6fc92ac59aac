package main

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

// isTerminal says that a reader or writer is one.
func isTerminal(v any) bool {
	f, ok := v.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// canDraw says that escape codes work on a writer: it is a terminal, and not a dumb one.
func canDraw(v any) bool { return os.Getenv("TERM") != "dumb" && isTerminal(v) }

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

// useColor decides whether filled words are highlighted: --color, else
// NO_COLOR (no-color.org), else whether the output is a terminal.
func useColor(mode string, out io.Writer) bool {
	switch mode {
	case "always":
		return true
	case "never":
		return false
	}
	return os.Getenv("NO_COLOR") == "" && canDraw(out)
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
