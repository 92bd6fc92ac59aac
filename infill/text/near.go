package text

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"infill/internal/nearest"
)

// LooksBlank reports whether a text has what begins a blank with every model.
func LooksBlank(s string) bool {
	return strings.Contains(s, openBlank) || strings.Contains(s, otherBlank) ||
		strings.Contains(s, strings.Repeat("_", minUnderscores))
}

var (
	// nearBlank is a word in brackets, maybe with a number, as other tools and models write blanks.
	nearBlank = regexp.MustCompile(`^([\[<{［【]{1,2})\|?\s?(\pL[\pL_]*?)[ _-]?(\d*)\s?\|?[\]>}］】]{1,2}`)
	// nearOptions is what options of a blank follow.
	nearOptions = regexp.MustCompile(`^(?i:[\[<{]mask)[` + blankOptions + `][^\]>}]*[\]>}]`)
	// nearOpen is a blank that ends after its word.
	nearOpen = regexp.MustCompile(`^(\[MASK|<mask)(?:\s|$)`)
	// nearLine is a word of underscores that are too few, or of braces alone.
	nearLine = regexp.MustCompile(`^(__?|\{\})(?:[\s.,;:!?]|$)`)
)

// blankNames are the words for a blank in brackets, in any case.
var blankNames = regexp.MustCompile(`^(?i:mask|masked|masks|blank|gap|extra_id)$`)

// nearAt notes text that only looks like a blank.
func (p *Plain) nearAt(raw string, i int) {
	s := raw[i:]
	if p.near != nil || !strings.ContainsRune("[<{_［【", firstRune(s)) {
		return
	}
	const write = "is not a blank and stays as it is; write "
	written, how := "", write+"[MASK]"
	if m := nearBlank.FindStringSubmatch(s); m != nil {
		slip := m[1] == "[" && m[3] == "" && strings.ToUpper(m[2]) == m[2] &&
			nearest.Slip(m[0], []string{"[MASK]"}) != ""
		if slip || blankNames.MatchString(m[2]) {
			written = m[0]
		}
		if strings.EqualFold(m[2], "extra_id") {
			how += ", or [MASK*1-3] for one to three tokens"
		}
	} else if m := nearOptions.FindString(s); m != "" {
		written, how = m, write+openBlank+m[len(openBlank):len(m)-1]+"]"
	} else if m := nearOpen.FindStringSubmatch(s); m != nil {
		written = m[1]
		how = "is not closed, or has a space after it; write [MASK], or options without a space " +
			"before them, as in [MASK/ing$/]"
	} else if m := nearLine.FindStringSubmatch(s); m != nil &&
		(i == 0 || unicode.IsSpace(lastRune(raw[:i]))) {
		written, how = m[1], write+"[MASK] or ___"
	}
	if written != "" {
		p.near = &Error{i, written + " " + how, ErrNoBlank}
	}
}

// escaped notes a blank that a backslash makes text of. One within a word, as in a path, may not be
// meant for the blank.
func (p *Plain) escaped(raw string, at, opening int) {
	blank := raw[at : at+opening]
	if blank == openBlank {
		blank = asWritten(raw[at:])
	}
	err := &Error{at - 1, fmt.Sprintf(`the backslash makes %s ordinary text; write %[1]s without it, `+
		`or \\%[1]s for a backslash and a blank`, blank), ErrNoBlank}
	if p.literal == nil {
		p.literal = err
	}
	if before := lastRune(raw[:at-1]); p.near == nil && (before == ':' || isLetterOrDigit(before)) {
		p.near = err
	}
}

// noBlank is the error of a text without blanks.
func (p *Plain) noBlank() error {
	switch {
	case p.literal != nil:
		return p.literal
	case p.near != nil:
		return p.near
	}
	if i := strings.Index(p.Text, "..."); i >= 0 && i < len(p.Text)-4 { // not at its end
		return &Error{i, "... is not a blank; write [MASK], or [MASK*1-3w] for one to three words",
			ErrNoBlank}
	}
	return &Error{-1, "write [MASK], <mask> or ___ where a word is to be filled in", ErrNoBlank}
}
