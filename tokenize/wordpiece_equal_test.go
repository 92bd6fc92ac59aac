package tokenize

import (
	"infill/internal/testmode"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	sugarme "github.com/sugarme/tokenizer/model"
	"github.com/sugarme/tokenizer/model/wordpiece"
)

// TestFastPathEqualsSugarme holds the shortcuts of wordPiece against the module alone: ids and bytes
// of 100,000 words. Each is cut twice, so that the second time it is remembered, or known.
func TestFastPathEqualsSugarme(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../models/small/vocab.txt")
	if err != nil {
		t.Fatal(err)
	}
	tokens := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	vocab := map[string]int{}
	for i, s := range tokens {
		vocab[s] = i
	}
	const unknown, prefix, maxChars = "[UNK]", "##", 100
	v := sugarme.Vocab(vocab)
	module := wordpiece.NewWordPieceBuilder().Vocab(&v).UnkToken(unknown).
		ContinuingSubwordPrefix(prefix).MaxInputCharsPerWord(maxChars).Build()
	ours := newWordPiece(vocab, unknown, prefix, maxChars)
	many := 50_000
	if testmode.All() {
		many = 100_000
	}
	words, cut := wordsToCut(tokens, many), 0
	for _, w := range words {
		want, err := module.Tokenize(w)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			got, err := ours.pieces(nil, []byte(w))
			if err != nil || len(got) != len(want) {
				t.Fatalf("%q: %v, %v, and the module has %v", w, got, err, want)
			}
			for i, p := range got {
				chars := []rune(w)[want[i].Offsets[0]:want[i].Offsets[1]]
				if int(p.id) != want[i].Id || w[p.lo:p.hi] != string(chars) {
					t.Fatalf("%q: piece %d is %v, and the module has %v", w, i, p, want[i])
				}
			}
		}
		if len(want) > 1 {
			cut++
		}
	}
	if cut < len(words)/4 {
		t.Errorf("only %d of %d words have more than one piece", cut, len(words))
	}
}

// wordsToCut are n different words: those of the vocabulary, pieces of it put together, such words
// with another letter in a place, and some that are too long.
func wordsToCut(tokens []string, n int) []string {
	rng := rand.New(rand.NewPCG(66, 7))
	letters := []rune("abcdefghijklmnopqrstuvwxyzéßжд中12-'☃")
	seen, out := map[string]bool{}, make([]string, 0, n)
	add := func(w string) {
		if w != "" && !seen[w] && len(out) < n {
			seen[w], out = true, append(out, w)
		}
	}
	for _, s := range tokens {
		add(s)
	}
	for len(out) < n {
		var w strings.Builder
		for range 1 + rng.IntN(4) {
			w.WriteString(strings.TrimPrefix(tokens[rng.IntN(len(tokens))], "##"))
		}
		chars := []rune(w.String())
		switch k := rng.IntN(400); {
		case k < 20: // a letter that need not be in the vocabulary
			chars[rng.IntN(len(chars))] = letters[rng.IntN(len(letters))]
		case k == 20:
			for len(chars) < 90+rng.IntN(20) { // about the longest word
				chars = append(chars, letters[rng.IntN(26)])
			}
		}
		add(string(chars))
	}
	return out
}
