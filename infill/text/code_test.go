package text

import (
	"slices"
	"strings"
	"testing"
)

// Words of Markdown's code stay, and can be masked with everything. Quotes with backticks are text.
func TestMarkdownCode(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{ // words that may be masked, and those of code
		"Run `go test` now.":                              {"Run now", "go test"},
		"# A\n\n```go\nfunc main() {}\n```\nIt ran.":      {"A It ran", "go func main"},
		"So:\n  ~~~\na := `b`\n~~~\nand ```x``` here":     {"So and x here", "a b"},
		"He said:\n```\nnever closed":                     {"He said", "never closed"},
		"`` I went , '' she said , `` and came . ''":      {"I went she said and came", ""},
		"``one'' and ``two''":                             {"one and two", ""},
		"the `old' man and the `new' one":                 {"the old man and the new one", ""},
		"a ` b ` c":                                       {"a b c", ""},
		"Use `a` or `b-c` in\n\n    indented `d\ne` text": {"Use or in indented d e text", "a b-c"},
	} {
		var got [2][]string
		for _, w := range wordsOf(text) {
			got[count(w.fixed)] = append(got[count(w.fixed)], text[w.span[0]:w.span[1]])
		}
		if is := [2]string{strings.Join(got[0], " "), strings.Join(got[1], " ")}; is != want {
			t.Errorf("%q: %q, want %q", text, is, want)
		}
	}
	all := Masking{Rate: 1, Class: classEverything}
	if n := len(all.candidates("Run `go test` now.", wordsOf("Run `go test` now."))); n != 4 {
		t.Errorf("%d words of everything", n)
	}
	if slices.Contains(Words("a `b` c"), [2]int{2, 5}) {
		t.Error("the backticks are part of a word")
	}
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}
