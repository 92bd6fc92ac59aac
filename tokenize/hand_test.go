package tokenize

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"infill/internal/testmode"
)

// expected is one line of expected values made with Hugging Face's tokenizers.
// Offsets count characters.
type expected struct {
	Text    string   `json:"text"`
	IDs     []int32  `json:"ids"`
	Tokens  []string `json:"tokens"`
	Offsets [][2]int `json:"offsets"`
	Words   []int32  `json:"words"`
	Decoded string   `json:"decoded"`
}

// tokens are the expected spellings, by default those of the ids.
func (e expected) tokens(tok *Tokenizer) []string {
	if e.Tokens != nil {
		return e.Tokens
	}
	var out []string
	for _, id := range e.IDs {
		out = append(out, tok.Token(id))
	}
	return out
}

func readExpected(t testing.TB, name string) []expected {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read from
	var out []expected
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var e expected
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("%s: line %d: %v", name, len(out)+1, err)
		}
		out = append(out, e)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// check compares an encoding with the expected one. added is how many special
// tokens stand before and after the text; Hugging Face gives those the span
// (0, 0), this package the place where they stand; white space that an added
// token swallowed is in their spans, not in ours.
func (e expected) check(t testing.TB, tok *Tokenizer, added int) bool {
	t.Helper()
	got, err := tok.Encode(e.Text)
	if err != nil {
		t.Errorf("%q: %v", e.Text, err)
		return false
	}
	bytesAt := []int{}
	for i := range e.Text {
		bytesAt = append(bytesAt, i)
	}
	bytesAt = append(bytesAt, len(e.Text))
	spans := make([][2]int, len(e.Offsets))
	for i, o := range e.Offsets {
		lo, hi := bytesAt[o[0]], bytesAt[o[1]]
		// an added token that swallowed white space
		if word := strings.TrimSpace(e.Text[lo:hi]); word != "" {
			lo += strings.Index(e.Text[lo:hi], word)
			hi = lo + len(word)
		}
		spans[i] = [2]int{lo, hi}
	}
	for i := len(spans) - added; i < len(spans); i++ {
		spans[i] = [2]int{len(e.Text), len(e.Text)}
	}
	ok := slices.Equal(got.IDs, e.IDs) && slices.Equal(got.Tokens, e.tokens(tok)) &&
		slices.Equal(got.Spans, spans) &&
		(e.Words == nil || slices.Equal(got.Words, e.Words))
	if !ok {
		t.Errorf("%.300q\n got %d %q %v %d\nwant %d %q %v %d", e.Text,
			got.IDs, got.Tokens, got.Spans, got.Words, e.IDs, e.tokens(tok), spans, e.Words)
	}
	return ok
}

func TestHandCases(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"bert-base-uncased", "bert-base-cased"} {
		t.Run(name, func(t *testing.T) {
			tok := sharedTokenizer(t, name)
			if lower := name == "bert-base-uncased"; tok.Lowercase() != lower {
				t.Errorf("Lowercase() = %v", tok.Lowercase())
			}
			cases := readExpected(t, testmode.Shared(t, "data", "tokenize", "hand-cases."+name+".jsonl"))
			if len(cases) != 146 {
				t.Errorf("%d cases, want 146", len(cases))
			}
			for _, c := range cases {
				c.check(t, tok, 1)
			}
		})
	}
}
