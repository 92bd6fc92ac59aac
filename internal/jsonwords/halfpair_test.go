package jsonwords

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestHalfPair(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]bool{
		`""`:                   false,
		`"a"`:                  false,
		`"\u00e9"`:             false,
		`"\ufffd"`:             false,
		`"�"`:                  false, // the character itself
		`"\ud83d\ude00"`:       false,
		`"\\ud800"`:            false, // a backslash, and letters
		`"\\\ud800"`:           true,
		`"\ud800"`:             true,
		`"\uDC00"`:             true,
		`"\ud800 \udc00"`:      true,
		`"\udc00\ud800"`:       true,
		`"\ud83d\ude00\ud83d"`: true,
		`"\ud83d\ud83d\ude00"`: true,
		`"�\ud800"`:            true,
		`{"a":["\udfff"]}`:     true,
		`7`:                    false,
	} {
		if got := HalfPair([]byte(in)); got != want {
			t.Errorf("%s: %v", in, got)
		}
	}
}

// FuzzHalfPair compares with the decoder: it puts U+FFFD for half of a pair and for nothing else.
func FuzzHalfPair(f *testing.F) {
	for _, in := range []string{`"a\ud800"`, `"\ud83d\ude00"`, `"\\ud800"`, `"�\udc00"`, `"\"`,
		`"\u12"`} {
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		half := HalfPair([]byte(in))
		var s string
		if !strings.HasPrefix(in, `"`) || !utf8.ValidString(in) || json.Unmarshal([]byte(in), &s) != nil {
			return
		}
		// A backslash that is escaped cannot begin another escape.
		plain := strings.ReplaceAll(strings.ToLower(in), `\\`, "")
		given := strings.Count(plain, "�") + strings.Count(plain, `\ufffd`)
		if (strings.Count(s, "�") > given) != half {
			t.Errorf("%q decodes to %q, half of a pair: %v", in, s, half)
		}
	})
}
