package jsonwords

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// HalfPair says whether valid JSON has an escape that is half of a surrogate pair. The decoder of
// encoding/json puts U+FFFD in its place, so that a text is not what the file says.
func HalfPair(raw []byte) bool {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		if r := escape(raw[i:]); utf16.IsSurrogate(r) {
			if utf16.DecodeRune(r, escape(raw[i+6:])) == utf8.RuneError {
				return true
			}
			i += 10
		}
		i++ // what is escaped, which may be a backslash
	}
	return false
}

// escape is the code of an escape such as \u00e9 that some JSON begins with, -1 for none.
func escape(raw []byte) rune {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return -1
	}
	v, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(v)
}
