package verify

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"infill/samplers"
)

// figSelectionBias has what is left of SGDLD's error when chains are long and many, by h: its bias.
// It has the problem of figSelectionFew, where the walls are low enough to tell.
func figSelectionBias(ctx context.Context, w io.Writer, e *env) error {
	s, _, err := newSelection(ctx, selectionRows/100, selectionBatch/100, selectionChains, e.seed, 12)
	if err != nil {
		return err
	}
	s.at = []int{10, 100, 400}
	_, err = s.bias(ctx, w, e)
	return err
}

// bias prints the error of all chains together, for SGDLD with and without its cache.
func (s selection) bias(ctx context.Context, w io.Writer, e *env) (map[string]*selected, error) {
	fmt.Fprint(w, text("selection_bias", s.chains))
	head := []string{"error of all chains together"}
	for i, n := range s.at {
		head = append(head, strconv.Itoa(n))
		if i == 0 {
			head[1] = fmt.Sprintf("after %d steps", n)
		}
	}
	rows := [][]string{append(head, "one chain", "heaviest state")}
	out := map[string]*selected{}
	for _, h := range []float64{0.6, 0.1, 0.02} {
		for _, noCache := range []bool{false, true} {
			c := selectionCase{s: &samplers.SGDLD{Jump: h, Batch: s.batch, NoCache: noCache}, target: s.t,
				updates: s.updates}
			name := "SGDLD-"
			if noCache {
				name = "noC-"
			}
			name += fmt.Sprintf("%.2g", h)[1:]
			got, err := kept(e, s.id("long-"+name), s.settings(c.describe()), func() (*selected, error) {
				got, err := s.run(ctx, c)
				if err == nil {
					got.Distance = nil // large, and of no use here
				}
				return got, err
			})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			out[name] = got
			row, last := []string{name}, len(s.at)-1
			for _, x := range got.Together {
				row = append(row, fmt.Sprintf("%.3f", x))
			}
			rows = append(rows, append(row, over(got.Errors[last]).String(),
				fmt.Sprintf("%.0f %%", 100*got.Heaviest[last])))
			e.progress("bias of SGDLD: %s", name)
		}
	}
	lines(w, rows...)
	return out, nil
}
