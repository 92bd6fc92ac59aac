package verify

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"

	"infill/lab/internal/kernels"
	"infill/lab/targets"
	"infill/samplers"
)

// categoricalWeights are the log-weights of section 5, of d coordinates with four categories.
func categoricalWeights(seed uint64, d int) [][]float64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	theta := make([][]float64, d)
	for i := range theta {
		theta[i] = make([]float64, 4)
		for v := range theta[i] {
			theta[i][v] = 1.5 * rng.NormFloat64()
		}
	}
	return theta
}

func figCategorical(ctx context.Context, w io.Writer, e *env) error {
	return writeCategorical(ctx, w, e, 2000, 1)
}

// writeCategorical is section 5 with d coordinates, and steps divided by a number.
func writeCategorical(ctx context.Context, w io.Writer, e *env, d, by int) error {
	t := must(targets.NewCategorical(categoricalWeights(e.seed, d)))
	fmt.Fprint(w, text("categorical"))
	rows := [][]string{{"sampler", "stored", "here", "by batch means", "mean probability",
		"jump distance", "chains × steps"}}
	for _, c := range []struct {
		name, want            string
		s                     samplers.Sampler
		chains, burnin, steps int
	}{
		{"DMALA √", ".0276", &samplers.DMALA{}, 2, 1000, 6000},
		{"DMALA ratio", ".0419", &samplers.DMALA{Balance: samplers.Ratio}, 2, 1000, 6000},
		{"PAS √", ".0378", &kernels.PAS{}, 2, 1000, 6000},
		{"PAS ratio", ".0594", &kernels.PAS{Balance: samplers.Ratio}, 2, 1000, 6000},
		{"PAS √, no singles", ".0378", &kernels.PAS{NoSingles: true}, 2, 1000, 6000},
		{"PAS ratio, no singles", ".0594",
			&kernels.PAS{Balance: samplers.Ratio, NoSingles: true}, 2, 1000, 6000},
		{"DLMC √", ".99", &samplers.DLMC{}, 2, 500, 2000},
		{"DLMCf √", ".083", &samplers.DLMC{Euler: true}, 2, 1000, 5000},
		{"DLMCf ratio", ".19", &samplers.DLMC{Euler: true, Balance: samplers.Ratio}, 2, 1000, 5000},
		{"GWG √", "3.4e-4", &samplers.GWG{}, 2, 12000, 50000},
	} {
		steps := c.steps / by
		r, err := essOf(ctx, c.s, t, c.chains, c.burnin/by, steps, e.seed)
		if err != nil {
			return err
		}
		per := 1 / float64(steps)
		rows = append(rows, []string{c.name, c.want, over(scaled(r.ess, per)).String(),
			over(scaled(r.batch, per)).String(), fmt.Sprintf("%.3f", over(r.acc).mean),
			fmt.Sprintf("%.1f", over(r.jump).mean), fmt.Sprintf("%d × %d", c.chains, steps)})
	}
	lines(w, rows...)
	fmt.Fprint(w, text("categorical_note"))
	return nil
}
