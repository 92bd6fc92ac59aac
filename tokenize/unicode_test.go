package tokenize

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"unicode/utf8"
)

// TestUnicode asks for every code point what testdata/gen_unicode.py asked
// Hugging Face's tokenizers. It fails if a newer Go or x/text brings Unicode
// tables that would change ids.
func TestUnicode(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/unicode.json")
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Ranges     map[string][][2]rune
		Lower, NFD map[string]string
		Class      map[string]float64
	}
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	sets := make(map[string]map[rune]bool)
	for name, ranges := range want.Ranges {
		sets[name] = make(map[rune]bool)
		for _, r := range ranges {
			for c := r[0]; c <= r[1]; c++ {
				sets[name][c] = true
			}
		}
	}
	for _, name := range []string{"removed", "space", "chinese", "mark", "punct", "white"} {
		if len(sets[name]) == 0 {
			t.Fatalf("no set %q", name)
		}
	}
	run := func(b bertNormalizer, r rune) string { return bertText(b).normal(string(r)) }
	bad := 0
	differ := func(r rune, what string, got, want any) {
		if bad++; bad < 40 {
			t.Errorf("U+%04X: %s is %v, want %v", r, what, got, want)
		}
	}
	compare := func(r rune, what string, got bool) {
		if got != sets[what][r] {
			differ(r, what, got, !got)
		}
	}
	for r := range rune(utf8.MaxRune + 1) {
		if !utf8.ValidRune(r) {
			continue
		}
		clean := run(bertNormalizer{clean: true}, r)
		compare(r, "removed", clean == "")
		compare(r, "space", clean == " ")
		compare(r, "chinese", isChinese(r))
		compare(r, "white", isWhite(r))
		compare(r, "punct", isPunct(r))
		compare(r, "mark", run(bertNormalizer{strip: true}, r) == "")
		key := fmt.Sprintf("%x", r)
		lower, ok := want.Lower[key]
		if !ok {
			lower = string(r)
		}
		if got := run(bertNormalizer{lower: true}, r); got != lower {
			differ(r, "lower case", got, lower)
		}
		if got := class(r); float64(got) != want.Class[key] && want.NFD[key] == "" {
			differ(r, "class", got, want.Class[key])
		}
		if r >= hangulBase && r < hangulBase+hangulCount {
			continue // by the same formula; in TestExpected
		}
		nfd, ok := want.NFD[key]
		if !ok {
			nfd = string(r)
		}
		var got []rune
		for _, c := range decompose(nil, char{r: r}) {
			got = append(got, c.r)
		}
		if string(got) != nfd {
			differ(r, "decomposition", []rune(string(got)), []rune(nfd))
		}
	}
	if bad > 0 {
		t.Errorf("%d differences", bad)
	}
}
