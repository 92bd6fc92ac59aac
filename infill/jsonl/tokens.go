package jsonl

import "infill/tokenize"

// Tokens are the tokens of a text.
type Tokens struct {
	Line   int      `json:"line"`
	Text   string   `json:"text"`
	IDs    []int32  `json:"ids"`
	Tokens []string `json:"tokens"`
	// Offsets are the bytes of the tokens in Text, from and to.
	Offsets [][2]int `json:"offsets"`
}

// Tokenized are the tokens of the text of a line.
func Tokenized(line int, text string, e *tokenize.Encoding) *Tokens {
	return &Tokens{line, text, e.IDs, e.Tokens, e.Spans}
}
