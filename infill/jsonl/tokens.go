package jsonl

// Tokens are the tokens of a text.
type Tokens struct {
	Line   int      `json:"line"`
	Text   string   `json:"text"`
	IDs    []int32  `json:"ids"`
	Tokens []string `json:"tokens"`
	// Offsets are the bytes of the tokens in Text, from and to.
	Offsets [][2]int `json:"offsets"`
}
