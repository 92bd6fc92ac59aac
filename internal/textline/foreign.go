package textline

import (
	"bytes"
	"strings"
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
		{"\xff\xfe", "UTF-16 text (convert it first: iconv -f utf-16 -t utf-8)"},
		{"\xfe\xff", "UTF-16 text (convert it first: iconv -f utf-16 -t utf-8)"},
		{"\x89PNG", "a PNG image"},
		{"\x7fELF", "a program"},
	} {
		if bytes.HasPrefix(head, []byte(m.head)) {
			return m.kind
		}
	}
	return ""
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
