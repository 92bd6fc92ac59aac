package infill

import "infill/infill/internal/target"

// wordNumbers numbers the words of the pieces at some positions, from 0. inner says which positions
// continue a word.
func wordNumbers(positions []int, inner []bool) []int {
	out := make([]int, len(positions))
	for i, p := range positions {
		if i == 0 {
			continue
		}
		out[i] = out[i-1]
		if !inner[p] || positions[i-1] != p-1 {
			out[i]++
		}
	}
	return out
}

// cutWords numbers pieces by the words of a cut: the first that a piece touches, −1 for none.
func cutWords(pieces []PieceScore, cut [][2]int) []int {
	out, next := make([]int, len(pieces)), 0
	for i, p := range pieces {
		for next < len(cut) && cut[next][1] <= p.Span[0] {
			next++
		}
		out[i] = -1
		if next < len(cut) && overlap(p.Span, cut[next]) {
			out[i] = next
		}
	}
	return out
}

// withinWord lists the terms of ScoreWithinWord for pieces of these words. A piece of no word is
// one by itself.
func withinWord(word []int) []target.ScoreTerm {
	out := make([]target.ScoreTerm, len(word))
	for i, w := range word {
		to := i + 1
		for w >= 0 && to < len(word) && word[to] == w {
			to++
		}
		out[i] = target.ScoreTerm{At: i, From: i, To: to, U: 1}
	}
	return out
}

// words are the scores of words. word has that of each piece, and values those of the terms of
// withinWord. Without a cut a word has the bytes of its pieces.
func (s *Score) words(word []int, values []float64, cut [][2]int) []WordScore {
	var out []WordScore
	for _, span := range cut {
		out = append(out, WordScore{Span: span})
	}
	for i, w := range word {
		if w < 0 {
			continue
		}
		if w == len(out) {
			out = append(out, WordScore{Span: s.Pieces[i].Span})
		}
		out[w].Pieces = append(out[w].Pieces, i)
		out[w].Score += values[i]
		if cut == nil {
			out[w].Span[1] = s.Pieces[i].Span[1]
		}
	}
	return out
}

// regions are the scores of parts of the text, which may overlap.
func (s *Score) regions(values []float64, spans [][2]int) []WordScore {
	var out []WordScore
	for _, span := range spans {
		r := WordScore{Span: span}
		for i, p := range s.Pieces {
			if overlap(p.Span, span) {
				r.Pieces = append(r.Pieces, i)
				r.Score += values[i]
			}
		}
		out = append(out, r)
	}
	return out
}
