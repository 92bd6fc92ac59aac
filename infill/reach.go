package infill

import "infill/infill/internal/text"

// Reaches reports whether a filling can have a word of a text back where the word is blanked out:
// it is one token of the vocabulary, and the blank may take it. word is its byte span. Of the
// options those count that say what may fill a blank: Vocab, Allow and Ban. [Masking.Fits] can ask
// it where fillings are compared with the words that stood there.
func (e *Engine) Reaches(sentence string, word [2]int, opt Options) bool {
	if e == nil || e.model == nil || word[0] < 0 || word[0] >= word[1] || word[1] > len(sentence) {
		return false
	}
	r := &rules{Vocab: opt.Vocab, Allow: opt.Allow, Ban: opt.Ban}
	return comesBack(e.supports, sentence, word, r)
}

// comesBack is Reaches by the tokens that may fill blanks.
func comesBack(s *supports, sentence string, word [2]int, r *rules) bool {
	t, taken, err := text.BlankOut(s.tok, sentence, [][2]int{word})
	if err != nil {
		return false
	}
	lists, err := s.listed(t, r)
	if err != nil {
		return false
	}
	sp, err := newSpace(s, t, lists, []int{1}, r)
	if err != nil {
		return false
	}
	x := make([]int32, len(sp.coords))
	tgt := &target{space: sp}
	return tgt.put(x, 0, taken[0]) == "" && len(tgt.filling(0, x, nil)) == 1 && sp.valid(x)
}
