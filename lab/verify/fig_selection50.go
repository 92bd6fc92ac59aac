package verify

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"

	"infill/lab/papers"
	"infill/samplers"
)

// figSelection50 has figures 6 and 7: 50 columns and a copy of each.
func figSelection50(ctx context.Context, w io.Writer, e *env) error {
	t, err := papers.NewSelection(rand.New(rand.NewPCG(e.seed, 10)), selectionRows, 50)
	if err != nil {
		return err
	}
	best, err := kept(e, "selection-50-well", fmt.Sprintf("%d rows", t.N),
		func() (*well, error) { return newColumns(t).well(ctx) })
	if err != nil {
		return err
	}
	s := selection{t: t, truth: best.Marginals, well: best.Sums, batch: selectionBatch,
		chains: selectionChains, pilot: selectionChains / 4, updates: 100, full: 1, burnin: 200,
		at: []int{2, 10, 20}, seed: e.seed}
	columns := 0
	for _, n := range best.Sums {
		columns += int(n)
	}
	fmt.Fprint(w, text("selection50", columns, best.Gap, s.chains, columns, s.burnin))
	got, err := s.compare(ctx, w, e)
	if err != nil {
		return err
	}
	rows := [][]string{{"R-hat", "chains", "after 2 steps", "5", "10", "20"}}
	row := func(name string, g *selected) {
		rows = append(rows, append([]string{name, fmt.Sprint(g.chains())}, rhats(g, s.updates)...))
	}
	for _, name := range []string{"SGDLD-.6", "SGDLD-.3"} {
		row(name+", 100,000 rows", got[name])
	}
	few, err := papers.NewSelection(rand.New(rand.NewPCG(e.seed, 11)), 100, 50)
	if err != nil {
		return err
	}
	s.t, s.truth, s.chains, s.at = few, make([]float64, 100), 100, []int{20}
	for _, h := range []float64{0.6, 0.3} {
		name := fmt.Sprintf("SGDLD-.%.0f", 10*h)
		c := selectionCase{s: &samplers.SGDLD{Jump: h, Batch: s.batch}, target: few, updates: s.updates}
		g, err := kept(e, s.id(name), s.settings(c.describe()), func() (*selected, error) {
			return s.run(ctx, c)
		})
		if err != nil {
			return err
		}
		row(name+", 100 rows", g)
	}
	fmt.Fprint(w, text("selection_rhat"))
	lines(w, rows...)
	return nil
}
