package textline

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Foreign names the well-known kind of file that starts with these bytes and has no lines of text
// in UTF-8, with what helps; "" for any other.
func Foreign(head []byte) string {
	for _, m := range []struct{ head, kind string }{
		{"\x1f\x8b", "gzip data (unpack it first)"},
		{"ARROW1", "Arrow data (write them as Parquet first)"},
		{"PK\x03\x04", "a zip archive"},
		{"%PDF", "a PDF"},
		{"\xfd7zX", "xz data (unpack it first)"},
		{"BZh", "bzip2 data (unpack it first)"},
		{"\x28\xb5\x2f\xfd", "zstd data (unpack it first)"},
		{"\xff\xfe", "UTF-16 text (say its encoding, utf-16le)"},
		{"\xfe\xff", "UTF-16 text (say its encoding, utf-16be)"},
		{"\x89PNG", "a PNG image"},
		{"\x7fELF", "a program"},
	} {
		if bytes.HasPrefix(head, []byte(m.head)) {
			return m.kind
		}
	}
	return ""
}

// NotUTF8 is the remedy for a text that is not UTF-8. Bytes of a Western language among letters of
// ASCII are most often of windows-1252. Other texts may be in several encodings.
func NotUTF8(text string) string {
	likely := "such as windows-1251, shift_jis or gb18030"
	if high := len(strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf {
			return -1
		}
		return 'x'
	}, text)); 3*high < len(text) {
		likely = "most likely windows-1252"
	}
	return "save the text as UTF-8, or say its encoding, " + likely
}

// Printable replaces the control characters of a text, so that no input can command a terminal.
// Tabs stay.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return '\uFFFD'
		}
		return r
	}, s)
}
