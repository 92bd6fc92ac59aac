package infill

import (
	"context"
	"fmt"

	"infill/infill/text"
)

// ScoreShared scores two texts by the pieces that they have in common, as CrowS-Pairs does (Nangia
// et al., EMNLP 2020): each by itself. Pieces that differ are context only. n is their number.
// Special tokens at the ends are matched too, but not scored. The pieces are matched as Python's
// difflib does without autojunk, which also settles which of several ways to match them is taken.
// Errors come from Score and [Engine.ScoreSpans], or are ErrEmpty for texts without a common piece.
func (e *Engine) ScoreShared(ctx context.Context, texts [2]string, by Scoring) (scores [2]*Score,
	n int, err error) {
	if err := e.Ready(ctx); err != nil {
		return scores, 0, err
	}
	var ids [2][]int32
	var special []bool
	for i, line := range texts {
		if texts[i], err = e.complete(line); err != nil {
			return scores, 0, err
		}
		enc, err := text.Encode(e.model.Tokenizer(), texts[i], nil)
		if err != nil {
			return scores, 0, err
		}
		ids[i], special = enc.IDs, enc.Special
	}
	shared := [2]map[int]bool{{}, {}}
	matching(ids[0], ids[1], func(a, b int) {
		shared[0][a], shared[1][b] = true, true
		if !special[b] {
			n++
		}
	})
	if n == 0 {
		return scores, 0, &text.Error{Offset: -1, Msg: fmt.Sprintf(
			"%.60q and %.60q have no piece in common", texts[0], texts[1]), Err: text.ErrEmpty}
	}
	for i, line := range texts {
		scores[i], err = e.score(ctx, line, ScoreOptions{By: by, RefuseLong: true},
			func(p int, _ [2]int) bool { return shared[i][p] })
		if err != nil {
			return scores, 0, err
		}
	}
	return scores, n, nil
}

// matching finds the runs that two lists share, in order: the longest run that both have, of equal
// ones the first, and then the same on both sides of it (Ratcliff and Obershelp).
func matching(a, b []int32, found func(a, b int)) {
	var within func(a0, a1, b0, b1 int)
	within = func(a0, a1, b0, b1 int) {
		bestA, bestB, most := a0, b0, 0
		runs := map[int]int{} // that end at a place of b
		for i := a0; i < a1; i++ {
			now := map[int]int{}
			for j := b0; j < b1; j++ {
				if a[i] != b[j] {
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
