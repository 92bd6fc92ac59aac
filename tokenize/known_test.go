package tokenize

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
)

// pieceHash is the key of knownVocabularies, computed in another way.
func pieceHash(pieces []string) string {
	sum := sha256.Sum256([]byte(strings.Join(pieces, "\n") + "\n"))
	return hex.EncodeToString(sum[:])
}

func TestKnownVocabularyIsByPiecesAndOrder(t *testing.T) {
	pieces := []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "cat", "dog", "##s"}
	sum := pieceHash(pieces)
	knownVocabularies[sum] = "the test's"
	defer delete(knownVocabularies, sum)
	for _, c := range []struct {
		name   string
		change func([]string)
		o      options
		want   string
	}{
		{"the same", func([]string) {}, options{}, "the test's"},
		{"another treatment of text", func([]string) {}, options{Cased: true}, "the test's"},
		{"two pieces exchanged", func(p []string) { p[5], p[6] = p[6], p[5] }, options{}, ""},
		{"another piece", func(p []string) { p[7] = "##t" }, options{}, ""},
	} {
		own := append([]string(nil), pieces...)
		c.change(own)
		tok, err := newTokenizer(own, c.o)
		if err != nil {
			t.Fatal(err)
		}
		if got := tok.KnownVocabulary(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestKnownVocabulariesOfBERT(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{"bert-base-uncased": "BERT, uncased English (30,522 " +
		"pieces)",
		"bert-base-cased": "BERT, cased English (28,996 pieces)"} {
		if got := sharedTokenizer(t, file).KnownVocabulary(); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}
