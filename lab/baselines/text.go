package baselines

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"infill/infill/text"
	"infill/mlm"
)

// A way is one to fill a line.
type way string

const (
	search    way = "fill"
	pll       way = "pll"
	alone     way = "alone"
	greedy    way = "greedy"
	confident way = "confident"
	remasked  way = "remasked"
)

var known = []way{search, pll, alone, greedy, confident, remasked}

// A conditioner is what a text needs of an mlm.Model.
type conditioner interface {
	Conditional(ctx context.Context, s *mlm.Sentence, states [][]int32, i []int,
		out [][]float32) error
	VocabSize() int
}

// A sentence is one with blanks. All of them may take the same words.
type sentence struct {
	model conditioner
	in    *mlm.Sentence
	may   []int32
	mask  int32
	known map[string][]float32 // rows by what was asked
	token func(id int32) string
}

func newText(m *mlm.Model, t *text.Template, may []int32) *sentence {
	return &sentence{m, &mlm.Sentence{IDs: t.IDs, Blanks: t.Positions()}, may, m.Tokenizer().MaskID(),
		map[string][]float32{}, m.Tokenizer().Token}
}

// A partial filling has masks in the blanks that are open. sum is the sum of the logarithms of the
// probabilities by which the others were chosen.
type partial struct {
	ids []int32
	sum float64
}

// fill are the words of the best fillings: the one that a single choice at each step leads to, and
// then those of a beam.
func (t *sentence) fill(ctx context.Context, by way) ([][]string, error) {
	first, err := t.beam(ctx, by, 1)
	if err != nil {
		return nil, err
	}
	rest, err := t.beam(ctx, by, top)
	if err != nil {
		return nil, err
	}
	all := append(first, rest...)
	if by == remasked {
		for k := range all {
			if err := t.remask(ctx, all[k].ids); err != nil {
				return nil, err
			}
		}
	}
	var out [][]string
	for k, p := range all {
		if slices.ContainsFunc(all[:k], func(q partial) bool { return slices.Equal(p.ids, q.ids) }) {
			continue
		}
		words := make([]string, len(p.ids))
		for i, id := range p.ids {
			words[i] = t.token(id)
		}
		out = append(out, words)
	}
	return out[:min(len(out), top)], nil
}

// beam fills one blank after another and keeps the n best partial fillings at each step.
func (t *sentence) beam(ctx context.Context, by way, n int) ([]partial, error) {
	beam := []partial{{slices.Repeat([]int32{t.mask}, len(t.in.Blanks)), 0}}
	for step := range t.in.Blanks {
		var next []partial
		seen := map[string]bool{}
		for _, p := range beam {
			at, row, err := t.choose(ctx, by, step, p.ids)
			if err != nil {
				return nil, err
			}
			for _, id := range t.likeliest(row, n) {
				q := partial{slices.Clone(p.ids), p.sum + float64(row[id])}
				q.ids[at] = id
				if key := fmt.Sprint(q.ids); !seen[key] {
					seen[key] = true
					next = append(next, q)
				}
			}
		}
		slices.SortStableFunc(next, func(a, b partial) int { return cmp.Compare(b.sum, a.sum) })
		beam = next[:min(n, len(next))]
	}
	return beam, nil
}

// choose is the blank that is filled next and what the model says of it.
func (t *sentence) choose(ctx context.Context, by way, step int, ids []int32) (
	at int, row []float32, err error) {
	switch by {
	case alone:
		ids = slices.Repeat([]int32{t.mask}, len(ids))
	case confident, remasked:
		for i, id := range ids {
			if id != t.mask {
				continue
			}
			r, err := t.row(ctx, ids, i)
			if err != nil {
				return 0, nil, err
			}
			if row == nil || r[t.likeliest(r, 1)[0]] > row[t.likeliest(row, 1)[0]] {
				at, row = i, r
			}
		}
		return at, row, nil
	}
	row, err = t.row(ctx, ids, step)
	return step, row, err
}

// remask takes words of a filling back, as many times as it has blanks: the one that is the least
// probable beside the others is masked and gets the likeliest word there. It ends where that is the
// word itself.
func (t *sentence) remask(ctx context.Context, ids []int32) error {
	for range ids {
		at, low, best := 0, float32(math.Inf(1)), int32(0)
		for i, id := range ids {
			others := slices.Clone(ids)
			others[i] = t.mask
			row, err := t.row(ctx, others, i)
			if err != nil {
				return err
			}
			if row[id] < low {
				at, low, best = i, row[id], t.likeliest(row, 1)[0]
			}
		}
		if best == ids[at] {
			return nil
		}
		ids[at] = best
	}
	return nil
}

// row is log f of every word in blank i of a partial filling.
func (t *sentence) row(ctx context.Context, ids []int32, i int) ([]float32, error) {
	key := fmt.Sprint(i, ids)
	if row, ok := t.known[key]; ok {
		return row, nil
	}
	row := make([]float32, t.model.VocabSize())
	err := t.model.Conditional(ctx, t.in, [][]int32{ids}, []int{i}, [][]float32{row})
	t.known[key] = row
	return row, err
}

// likeliest are the n words that a row has as the most probable, of those that a blank may take.
func (t *sentence) likeliest(row []float32, n int) []int32 {
	var best []int32
	for _, id := range t.may {
		if len(best) == n && row[id] <= row[best[n-1]] {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, id, func(a, b int32) int {
			return cmp.Compare(row[b], row[a])
		})
		best = slices.Insert(best, at, id)
		best = best[:min(len(best), n)]
	}
	return best
}
