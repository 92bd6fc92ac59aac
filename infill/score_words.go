package infill

import "infill/infill/internal/target"

// A PieceScore is one word piece with its score.
type PieceScore struct {
	Piece   string
	ID      int32
	Span    [2]int  // bytes of the text
	LogProb float64 // log f(piece | the rest, this piece masked), or what Scoring has of it, nats
}

// A Score is the pseudo-log-likelihood of a complete sentence:
//
//	Σ over word pieces of log f(piece | the rest, that piece masked)
//
// in nats (Salazar et al., "Masked language model scoring", ACL 2020), or another sum of such
// logarithms, see [Scoring]. It is the score of a filling whose blanks are all pieces of the
// sentence.
type Score struct {
	Text          string
	Score         float64 // nats
	ScorePerToken float64 // Score over the number of pieces
	Pieces        []PieceScore
	// Windows is the number of parts of the text that the model saw, 0 if it saw all at once. Every
	// piece is scored in the part that has the most context on both sides of it.
	Windows int
	// Energies are the parts of Score by name, weights included, nil without terms.
	Energies map[string]float64
	// Words and Regions are as [ScoreOptions] ask for.
	Words, Regions []WordScore
}

// A WordScore is a word, or another part of a text, with its score.
type WordScore struct {
	Span [2]int // bytes of the text
	// Pieces are the indices of its word pieces in Score.Pieces, nil if it has none of its own.
	Pieces []int
	// Score is the sum over its pieces, in nats. Each piece is masked together with the later pieces
	// of the same word (PLL-word-l2r of Kauf and Ivanova, ACL 2023), whatever the text is scored by.
	Score float64
}

// overlap reports whether two spans have bytes in common.
func overlap(a, b [2]int) bool { return max(a[0], b[0]) < min(a[1], b[1]) }

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

// written joins the words of pieces that are parts of one word as it is written, or of one
// character, as three full stops are of an ellipsis.
func written(pieces []PieceScore, word []int, spans [][2]int) []int {
	of, out := cutWords(pieces, spans), make([]int, len(word))
	for i := 1; i < len(word); i++ {
		out[i] = out[i-1]
		if word[i] != word[i-1] && (of[i] < 0 || of[i] != of[i-1]) && pieces[i].Span != pieces[i-1].Span {
			out[i]++
		}
	}
	return out
}

// scoredBy lists the terms of the score of pieces of these words.
func scoredBy(by Scoring, word []int) []target.ScoreTerm {
	if by == ScoreWithinWord {
		return withinWord(word)
	}
	return target.ScoreTerms(len(word), by)
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

// words are the scores of words. word has the word of each piece, and values the terms of
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
