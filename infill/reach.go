package infill

import "infill/infill/internal/space"

// Reaches reports whether a filling can have a word of a text back where the word is blanked out:
// it is one token of the vocabulary, and the blank may take it. word is its byte span. Of the
// options those count that say what may fill a blank: Vocab, Allow and Ban. [Masking.Fits] can ask
// it where fillings are compared with the words that stood there.
func (e *Engine) Reaches(sentence string, word [2]int, opt Options) bool {
	if e == nil || e.model == nil || word[0] < 0 || word[0] >= word[1] || word[1] > len(sentence) {
		return false
	}
	r := &space.Rules{Vocab: opt.Vocab, Allow: opt.Allow, Ban: opt.Ban}
	return e.supports.Reaches(sentence, word, r)
}
