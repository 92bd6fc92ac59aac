package text

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"infill/tokenize"
)

// A Doubt is what may be wrong with a text that is worked on all the same.
type Doubt struct {
	// Code is near_blank, of text that only looks like a blank or of a name that looks like the
	// first word of a list, foreign_text, of one most of whose letters are in words that the
	// vocabulary does not know, or spells in short pieces, or whose function words are of a
	// language that the vocabulary is not of, or numbers, of plain blanks that take numbers besides
	// words. sentence_stops, sentence_word and sentence_again are of words, one a record, that are
	// hardly one sentence.
	Code    string `json:"code"`
	Message string `json:"message"` // what is there, and what helps
	// Script is the script of a foreign text, as package unicode calls it, such as Latin or Han.
	Script string `json:"script,omitempty"`
}

// Doubts are those about a text, each code once, and about its plain blanks that take numbers, from
// 0. They are nil without any. A text that [Read] refuses has only the latter.
func Doubts(tok *tokenize.Tokenizer, s string, numbers ...int) []Doubt {
	if p, err := Read(tok, s); err == nil {
		return p.Doubts(numbers...)
	}
	return doubtsOf(numbers)
}

// doubtsOf says that plain blanks, from 0, take numbers because the model has mostly these there.
func doubtsOf(blanks []int) []Doubt {
	if len(blanks) == 0 {
		return nil
	}
	names := make([]string, len(blanks))
	for i, b := range blanks {
		names[i] = strconv.Itoa(b + 1)
	}
	return []Doubt{{Code: "numbers", Message: fmt.Sprintf("blank %s takes numbers too, which the "+
		"model has there more than words; [MASK/^[a-z]+$/] takes words only",
		strings.Join(names, " and blank "))}}
}

// Doubts is the function of this name for a text that was read.
func (p *Plain) Doubts(numbers ...int) []Doubt {
	var out []Doubt
	if p.near != nil {
		out = append(out, Doubt{Code: "near_blank", Message: p.near.Msg})
	} else if i := loneName(p.Blanks); i >= 0 {
		out = append(out, Doubt{Code: "near_blank", Message: fmt.Sprintf("blank %d is called %[2]s, "+
			"which ties it to no other; write [MASK|%[2]s|…] for a list with this word in it", i+1,
			p.Blanks[i].Name)})
	}
	if script := foreignScript(p); script != "" {
		out = append(out, Doubt{"foreign_text", fmt.Sprintf("most of the text, in %s letters, is "+
			"unknown to the model's vocabulary or spelt in short pieces, so that results mean "+
			"little; take a model of its language", script), script})
	} else if name := unknownLanguage(p.tok, outside(p.Text, p.Blanks)); name != "" {
		out = append(out, Doubt{"foreign_text", fmt.Sprintf("the text seems to be in %s, which is not "+
			"the language of the model, so that results mean little; take a model of its language",
			name), "Latin"})
	}
	return append(out, doubtsOf(numbers)...)
}

// loneName is the first blank with a list whose name no other blank has, −1 without one.
func loneName(blanks []Blank) int {
	count := map[string]int{}
	for _, b := range blanks {
		count[b.Name]++
	}
	return slices.IndexFunc(blanks, func(b Blank) bool {
		return b.Name != "" && b.Words != nil && count[b.Name] == 1
	})
}
