package main

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"infill/infill"
	"infill/internal/nearest"
)

// maybeBlank is a word in brackets, or what begins as a blank and is not closed. A backslash before
// it says that it is none.
var maybeBlank = regexp.MustCompile(`(?:^|[^\\])(\[(?:(?:[A-Z]+|mask|Mask)\]|MASK(?:\s|$)))`)

// blankSlip is what was probably meant as a blank, beside one that is: in small letters, not
// closed, or capitals that differ from it by a letter. "" if there is none.
func blankSlip(text string) string {
	for _, m := range maybeBlank.FindAllStringSubmatch(text, -1) {
		written := strings.TrimSpace(m[1])
		const blank = "[MASK]"
		if written != blank && nearest.Slip(written, []string{blank}) != "" {
			return written
		}
	}
	return ""
}

// notBlank says what blankSlip found.
func notBlank(slip string) string {
	return slip + " is not a blank and stays as it is: a blank is [MASK], in capitals and closed"
}

// slips are what blankSlip finds in the texts of a file. It may be used by several goroutines.
type slips struct {
	mu    sync.Mutex
	texts int
	line  int // of the first
	what  string
}

// in looks at a text.
func (s *slips) in(line int, text string) {
	what := blankSlip(text)
	if what == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.texts++; s.texts == 1 || line < s.line {
		s.line, s.what = line, what
	}
}

// note says what was found, "" for nothing.
func (s *slips) note() string {
	if s.texts == 0 {
		return ""
	}
	note := fmt.Sprintf("line %d: %s", s.line, notBlank(s.what))
	if s.texts > 1 {
		note += fmt.Sprintf(" (%d texts have such)", s.texts)
	}
	return note
}

// recutNote says which fillings have another score when infill score scores their text.
func recutNote(fillings []infill.Filling) string {
	n, first := 0, ""
	for _, f := range fillings {
		if f.Recut {
			if n++; n == 1 {
				first = f.Text
			}
		}
	}
	if n == 0 {
		return ""
	}
	they := "are cut into other pieces once they are finished, so infill score gives them"
	if n == 1 {
		they = "is cut into other pieces once it is finished, so infill score gives it"
	}
	return fmt.Sprintf("%d of these %s another score: %q", n, they, first)
}
