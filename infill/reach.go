package infill

// Reaches reports whether a filling can have a word of a text back where the word is blanked out:
// it is one token of the vocabulary, and the blank may take it. word is its byte span. Of the
// options those count that say what may fill a blank: Vocab, Allow and Ban. [Masking.Fits] can ask
// it where fillings are compared with the words that stood there.
func (e *Engine) Reaches(text string, word [2]int, opt Options) bool {
	if e == nil || e.model == nil || word[0] < 0 || word[0] >= word[1] || word[1] > len(text) {
		return false
	}
	return e.supports.reaches(text, word, Options{Vocab: opt.Vocab, Allow: opt.Allow, Ban: opt.Ban})
}

func (s *supports) reaches(text string, word [2]int, opt Options) bool {
	t, taken, err := blankOut(s.tok, text, [][2]int{word})
	if err != nil {
		return false
	}
	lists, err := (&Engine{supports: s}).lists(t, &opt)
	if err != nil {
		return false
	}
	sp, err := newSpace(s, t, lists, []int{1}, &opt)
	if err != nil {
		return false
	}
	x := make([]int32, len(sp.coords))
	tgt := &target{space: sp}
	return tgt.put(x, 0, taken[0]) == "" && len(tgt.filling(0, x, nil)) == 1 && sp.valid(x)
}
