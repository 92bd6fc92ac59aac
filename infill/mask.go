package infill

import (
	"infill/infill/internal/text"
	"infill/tokenize"
)

// A Masking says how many words of a text without blanks become blanks, and which may. The number
// is a share of those that may, or given. Without Rate and Words nothing is masked.
type Masking struct {
	Rate  float64 // share of the words that may be masked, rounded, at least one; in (0, 1]
	Words int     // or exactly this number; 1 to MaxMaskWords

	Keep  *WordSet  // words that are never masked; nil: none
	Class WordClass // the words that may be masked
	Stop  *WordSet  // the function words of ClassContent; nil: those of English
	// Spans are labelled parts of the text. If MaskLabels has labels, only words in spans of these
	// are masked. Words that have a byte in a span with one of KeepLabels are not. "*" stands
	// for all labels. Spans without any of these labels to go by are an ErrOption.
	Spans                  []LabelledSpan
	MaskLabels, KeepLabels []string

	// Adjacent masks words that follow each other, with nothing but white space between. Without it
	// they may stand anywhere.
	Adjacent bool
	// Fits is asked of every word that may otherwise be masked, a byte span of the text. Those that
	// it refuses stay. nil takes all.
	Fits func(text string, word [2]int) bool
}

// On reports whether words are to be masked.
func (m Masking) On() bool { return text.Masking(m).On() }

// Both says that a rate and a number are given. Only one of them can hold.
func (m Masking) Both() bool { return text.Masking(m).Both() }

// Check refuses a masking that makes no sense; the error is ErrOption.
func (m Masking) Check() error { return text.Masking(m).Check() }

// Template blanks out words of a text, chosen at random (DLP, section 7.5,
// masks 25 %). It returns the template, whose text has [MASK] in their places,
// and the words taken out, in order. The choice depends on text, seed and id
// only. Errors: ErrOption for a masking out of range, ErrSpan for a span that is not one of the
// text, ErrBlank for a text with blanks, ErrEmpty for one without words, ErrFewWords for one in
// which none or fewer than Words may be masked, or invalid UTF-8.
func (m Masking) Template(tok *tokenize.Tokenizer, s string, seed uint64,
	id string) (*Template, []string, error) {
	t, words, err := text.Masking(m).Template(tok, s, seed, id)
	if err != nil {
		return nil, nil, err
	}
	return &Template{*t}, words, nil
}
