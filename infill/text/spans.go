package text

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// A LabelledSpan is a part of a text that has a label, such as a name.
type LabelledSpan struct {
	Start, End int // bytes of the text, the end excluded
	Label      string
}

// anyLabel stands for every label.
const anyLabel = "*"

// ErrSpan is returned for a span that is not one of its text, or has nothing of what is wanted.
var ErrSpan = errors.New("bad span")

// labels reports whether labels choose what is masked.
func (m Masking) labels() bool { return len(m.MaskLabels) > 0 || len(m.KeepLabels) > 0 }

// checkSpans refuses spans that are not of the text.
func (m Masking) checkSpans(text string) error {
	for _, s := range m.Spans {
		if s.Start < 0 || s.End <= s.Start || s.End > len(text) {
			return fmt.Errorf("%w: bytes %d to %d of a text of %d", ErrSpan, s.Start, s.End, len(text))
		}
		if !utf8.RuneStart(text[s.Start]) || s.End < len(text) && !utf8.RuneStart(text[s.End]) {
			return fmt.Errorf("%w: bytes %d to %d cut a character in two", ErrSpan, s.Start, s.End)
		}
	}
	return nil
}

// among reports whether a list of labels has a label.
func among(labels []string, label string) bool {
	return slices.Contains(labels, label) || slices.Contains(labels, anyLabel)
}

// inKept reports whether a word has a byte in a span that is kept.
func (m Masking) inKept(word [2]int) bool {
	return slices.ContainsFunc(m.Spans, func(s LabelledSpan) bool {
		return s.Start < word[1] && word[0] < s.End && among(m.KeepLabels, s.Label)
	})
}

// asked are the only spans that are masked, if some are asked for: spans with MaskLabels, places of
// Only, or of both the places within such a span.
func (m Masking) asked(text string) (spans [][2]int, some bool) {
	for _, s := range m.Spans {
		if among(m.MaskLabels, s.Label) {
			spans = append(spans, [2]int{s.Start, s.End})
		}
	}
	if m.Only != nil {
		labelled := spans
		spans = slices.DeleteFunc(m.Only.Places(text), func(p [2]int) bool {
			return len(m.MaskLabels) > 0 && !slices.ContainsFunc(labelled, func(s [2]int) bool {
				return s[0] <= p[0] && p[1] <= s[1]
			})
		})
	}
	slices.SortFunc(spans, func(a, b [2]int) int {
		return cmp.Or(a[0]-b[0], b[1]-a[1]) // of nested spans the outer one
	})
	return spans, m.Only != nil || len(m.MaskLabels) > 0
}

// within are the parts of a word that lie in spans to be masked. A span that ends between a letter
// or digit and another one has no part of that word. Nothing outside the spans is part of it: of
// "Ann's" a span of "Ann" has the name alone.
func within(spans [][2]int, text string, word [2]int) [][2]int {
	var out [][2]int
	last := word[0]
	for _, s := range spans {
		a, b := max(s[0], word[0]), min(s[1], word[1])
		if a >= b || a < last {
			continue
		}
		inner := wordsOf(text[a:b])
		if len(inner) == 0 {
			continue
		}
		b = a + inner[len(inner)-1].span[1]
		a += inner[0].span[0]
		if a > 0 && a == s[0] && isLetterOrDigit(lastRune(text[:a])) ||
			b == s[1] && isLetterOrDigit(firstRune(text[b:])) {
			continue
		}
		out, last = append(out, [2]int{a, b}), b
	}
	return out
}
