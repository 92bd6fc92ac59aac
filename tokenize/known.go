package tokenize

import (
	"crypto/sha256"
	"encoding/hex"
)

// knownVocabularies are the vocabularies that many models share, by the SHA-256 of the
// pieces in the order of their ids, each with a line feed. That is the hash of the
// vocab.txt that the models' pages state.
var knownVocabularies = map[string]string{
	"07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3": "BERT, uncased English " +
		"(30,522 pieces)",
	"eeaa9875b23b04b4c54ef759d03db9d1ba1554838f8fb26c5d96fa551df93d02": "BERT, cased English " +
		"(28,996 pieces)",
}

// KnownVocabulary names the published vocabulary that t has, every piece under the same
// id, or is "". Models of one vocabulary read and write the same ids, so their
// probabilities can be compared.
func (t *Tokenizer) KnownVocabulary() string {
	h := sha256.New()
	for _, piece := range t.tokens {
		_, _ = h.Write([]byte(piece)) // a hash returns no error
		_, _ = h.Write([]byte{'\n'})
	}
	return knownVocabularies[hex.EncodeToString(h.Sum(nil))]
}
