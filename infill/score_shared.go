package infill

import (
	"context"
	"fmt"

	"infill/infill/text"
	"infill/tokenize"
)

// ScoreShared scores two texts by the words that they have in common, as CrowS-Pairs does (Nangia
// et al., EMNLP 2020). The words that differ are context only. n is the number of common words. The
// words are matched as Python's difflib does, which also settles which of several ways to match
// them is taken. Errors come from Score and [Engine.ScoreSpans], or are ErrEmpty for texts without
// a common word.
func (e *Engine) ScoreShared(ctx context.Context, texts [2]string, by Scoring) (scores [2]*Score,
	n int, err error) {
	var words [2][]textWord
	for i, line := range texts {
		if texts[i], err = e.complete(line); err != nil {
			return scores, 0, err
		}
		enc, err := text.Encode(e.model.Tokenizer(), texts[i], nil)
		if err != nil {
			return scores, 0, err
		}
		words[i] = wordsOfText(&enc)
	}
	var spans [2][][2]int
	matching(words[0], words[1], func(a, b int) {
		n++
		spans[0], spans[1] = append(spans[0], words[0][a].span), append(spans[1], words[1][b].span)
	})
	if n == 0 {
		return scores, 0, &text.Error{Offset: -1, Msg: fmt.Sprintf(
			"%.60q and %.60q have no word in common", texts[0], texts[1]), Err: text.ErrEmpty}
	}
	for i, line := range texts {
		if scores[i], err = e.scoreSpans(ctx, line, spans[i], by); err != nil {
			return scores, 0, err
		}
	}
	return scores, n, nil
}

// A textWord is a word of a text: its pieces, and its bytes.
type textWord struct {
	pieces string
	span   [2]int
}

// wordsOfText are the words that the tokenizer tells apart.
func wordsOfText(enc *tokenize.Encoding) (out []textWord) {
	for p, id := range enc.IDs {
		switch last := len(out) - 1; {
		case enc.Special[p]:
		case enc.Continuation[p] && last >= 0:
			out[last].pieces += fmt.Sprint(" ", id)
			out[last].span[1] = enc.Spans[p][1]
		default:
			out = append(out, textWord{fmt.Sprint(id), enc.Spans[p]})
		}
	}
	return out
}

// matching finds the words that two texts share, in order: the longest run that both have, of equal
// ones the first, and then the same on both sides of it (Ratcliff and Obershelp).
func matching(a, b []textWord, found func(a, b int)) {
	var within func(a0, a1, b0, b1 int)
	within = func(a0, a1, b0, b1 int) {
		bestA, bestB, most := a0, b0, 0
		runs := map[int]int{} // that end at a word of b
		for i := a0; i < a1; i++ {
			now := map[int]int{}
			for j := b0; j < b1; j++ {
				if a[i].pieces != b[j].pieces {
					continue
				}
				if now[j] = runs[j-1] + 1; now[j] > most {
					bestA, bestB, most = i-now[j]+1, j-now[j]+1, now[j]
				}
			}
			runs = now
		}
		if most == 0 {
			return
		}
		within(a0, bestA, b0, bestB)
		for k := range most {
			found(bestA+k, bestB+k)
		}
		within(bestA+most, a1, bestB+most, b1)
	}
	within(0, len(a), 0, len(b))
}
