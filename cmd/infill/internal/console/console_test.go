package console

import (
	"io"
	"strings"
	"testing"
)

// Spans stand out, and no text commands a terminal.
func TestHighlight(t *testing.T) {
	t.Parallel()
	spans := [][2]int{{0, 1}, {2, 2}, {2, 4}}
	want := styleOn + "a" + styleOff + " " + styleOn + "bc" + styleOff + " d"
	if got := Highlight("always", io.Discard, "a bc d", spans); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Highlight("auto", io.Discard, "a bc d", spans); got != "a bc d" {
		t.Errorf("%q", got)
	}
}

// Long texts are cut to the width, around their first filled word.
func TestAround(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 40)
	for _, c := range []struct {
		text  string
		at    int
		width int
		want  string
	}{
		{"the dog sleeps .", 4, 40, "the dog sleeps ."},
		{"the dog sleeps .", 4, 16, "the dog sleeps ."},
		{"the dog sleeps .", 4, 10, "the dog s…"},
		{"a\tb\x1b[2Jc", 0, 40, "a b�[2Jc"},
		{long + "dog sleeps " + long, len(long), 24, "…word dog sleeps word w…"},
		{long + "dog", len(long), 24, "…word dog"},
		{"日本語の文章", 0, 7, "日本語…"},
		{"dog", 0, 0, "…"},
	} {
		if got := around(c.text, [][2]int{{c.at, c.at + 1}}, c.width); got != c.want {
			t.Errorf("%q in %d columns: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}
