package space

import "infill/infill/text"

// Reaches reports whether a filling can have a word of a text back where the word is blanked out,
// as one token. word is its byte span.
func (s *Supports) Reaches(sentence string, word [2]int, r *Rules) bool {
	t, taken, err := text.BlankOut(s.tok, sentence, [][2]int{word})
	if err != nil {
		return false
	}
	with := *r
	with.Original = taken
	r = &with
	lists, err := s.Lists(t, r)
	if err != nil {
		return false
	}
	sp, err := s.Space(t, lists, []int{1}, r)
	if err != nil {
		return false
	}
	x := make([]int32, len(sp.Coords))
	return sp.Put(x, 0, taken[0]) == "" && len(sp.Filling(0, x, nil)) == 1 && sp.Valid(x)
}
