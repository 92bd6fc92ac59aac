package verify

import (
	"context"
	"fmt"
	"io"
	"math"

	"infill/lab/internal/domain"
	"infill/lab/targets"
	"infill/samplers"
)

func figIsing(ctx context.Context, w io.Writer, e *env) error {
	m := must(targets.NewIsing(5, 5, true, 0.1, []float64{0.2}, false))
	logZ, mean, err := m.Exact()
	if err != nil {
		return err
	}
	fmt.Fprint(w, text("ising5"))
	rows := [][]string{{"quantity", "elsewhere", "here"},
		{"log Z", "19.67408576 (second-hand)", fmt.Sprintf("%.8f", logZ)},
		{"E[s]", "0.48296984 (second-hand)", fmt.Sprintf("%.8f", mean[0])},
	}
	for _, c := range []struct {
		alpha      float64
		flips, acc string
	}{{0.6, "6 (paper), 6.03 (second-hand)", "52 % (paper), 0.539 (second-hand)"},
		{0.4, "–", "0.688 (second-hand)"}} {
		run, err := samplers.Start(ctx, &samplers.DMALA{StepSize: c.alpha}, m,
			starts(m.Domain(), 50, e.seed), samplers.Options{Seed: e.seed})
		if err != nil {
			return err
		}
		if err := run.Steps(ctx, 200, nil); err != nil {
			return err
		}
		run.ResetStats()
		sums := make([]float64, 50)
		err = run.Steps(ctx, 2000, func(r *samplers.Run) error {
			for k, x := range r.X {
				for _, v := range x {
					sums[k] += float64(2*v-1) / (25 * 2000)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		var flips, acc []float64
		for _, s := range run.Stats {
			flips, acc = append(flips, s.ProposedDistance()), append(acc, s.MeanProb())
		}
		name := fmt.Sprintf("DMALA α = %g: ", c.alpha)
		rows = append(rows,
			[]string{name + "flips proposed", c.flips, over(flips).String()},
			[]string{name + "mean probability", c.acc, over(acc).String()},
			[]string{name + "E[s]", "0.48297 (exact)", over(sums).String()})
	}
	lines(w, rows...)
	return nil
}

// dulaLaw is DULA's stationary law for a log-quadratic U on {0,1}^d.
func dulaLaw(ctx context.Context, t samplers.Gradienter, e *targets.Exact,
	alpha float64) ([]float64, error) {
	d := t.Domain()
	out := make([]float64, len(e.P))
	x := [][]int32{make([]int32, d.Len())}
	u, g := make([]float64, 1), [][]float64{make([]float64, d.GradLen())}
	for s, p := range e.P {
		e.State(s, x[0])
		if err := t.EnergyGrad(ctx, x, u, g); err != nil {
			return nil, err
		}
		out[s] = p
		for i, v := range x[0] {
			out[s] *= 1 + math.Exp(-g[0][i]*float64(2*v-1)/2-1/(2*alpha))
		}
	}
	return out, nil
}

func figDULA(ctx context.Context, w io.Writer, env *env) error {
	m := must(targets.NewIsing(2, 2, false, 0.1, []float64{0.2}, false))
	e, err := targets.Enumerate(ctx, m)
	if err != nil {
		return err
	}
	fmt.Fprint(w, text("dula"))
	rows := [][]string{{"α", "L1(π_α, π) second-hand", "closed form", "chains × steps",
		"L1(DULA draws, π_α)", "L1(DULA draws, π)", "floor"}}
	for _, c := range []struct {
		alpha         float64
		want          string
		chains, steps int
	}{{0.1, "5.33959e-3", 5000, 1500}, {0.2, "5.91734e-2", 20000, 200}, {0.4, "0.1647512", 40000, 60},
		{1, "0.2621702", 40000, 30}} {
		law, err := dulaLaw(ctx, m, e, c.alpha)
		if err != nil {
			return err
		}
		l1 := 2 * e.TV(law)
		z := 0.0
		for _, p := range law {
			z += p
		}
		le := &targets.Exact{Domain: m.Domain(), P: make([]float64, len(law))}
		floor := 0.0
		for s, p := range law {
			le.P[s] = p / z
			floor += math.Sqrt(p / z * (1 - p/z) / float64(c.chains))
		}
		run, err := samplers.Start(ctx, &samplers.DULA{StepSize: c.alpha}, m,
			starts(m.Domain(), c.chains, env.seed), samplers.Options{Seed: env.seed})
		if err != nil {
			return err
		}
		if err := run.Steps(ctx, c.steps, nil); err != nil {
			return err
		}
		count := make([]float64, len(law))
		for _, x := range run.X {
			count[e.Index(x)]++
		}
		rows = append(rows, []string{fmt.Sprint(c.alpha), c.want, fmt.Sprintf("%.7g", l1),
			fmt.Sprintf("%d × %d", c.chains, c.steps), fmt.Sprintf("%.4f", 2*le.TV(count)),
			fmt.Sprintf("%.4f", 2*e.TV(count)), fmt.Sprintf("%.4f", floor)})
	}
	lines(w, rows...)
	return nil
}

// illConditioned is U = Σ a_i θ_i² on {±1}².
type illConditioned struct{ dom *samplers.Domain }

var illA = [2]float64{-0.001, -1000}

func (q illConditioned) Domain() *samplers.Domain { return q.dom }
func (q illConditioned) Energy(_ context.Context, x [][]int32, u []float64) error {
	for k := range x {
		u[k] = illA[0] + illA[1]
	}
	return nil
}
func (q illConditioned) EnergyGrad(ctx context.Context, x [][]int32, u []float64,
	g [][]float64) error {
	for k := range x {
		for i, a := range illA {
			g[k][i] = 2 * a * float64(2*x[k][i]-1)
		}
	}
	return q.Energy(ctx, x, u)
}

func figPrecondition(ctx context.Context, w io.Writer, e *env) error {
	q := illConditioned{domain.Spins(2)}
	const chains, steps = 64, 125000
	fmt.Fprint(w, text("precondition", steps, chains))
	rows := [][]string{{"sampler", "elsewhere", "log RMSE here", "flip probabilities",
		"mean probability"}}
	for _, c := range []struct {
		name, want string
		s          samplers.Sampler
	}{
		{"DMALA α = 1, g = (1000, .001)", "−6.2 (paper)",
			&samplers.DMALA{StepSize: 1, Precondition: []float64{1000, 0.001}}},
		{"DULA α = 1, g = (1000, .001)", "–", &samplers.DULA{StepSize: 1,
			Precondition: []float64{1000, 0.001}}},
		{"DMALA α = 1, penalty 2/(2αg_i)", "–",
			&samplers.DMALA{StepSize: 2, Precondition: []float64{1000, 0.001}}},
		{"DMALA α = 1, penalty 4/(2αg_i²)", "–",
			&samplers.DMALA{StepSize: 1, Precondition: []float64{1e6, 1e-6}}},
		{"DMALA α = 1, none", "−0.34 (paper)", &samplers.DMALA{StepSize: 1}},
		{"DMALA α = 2, none", "the same", &samplers.DMALA{StepSize: 2}},
		{"DMALA α = 1000, none", "the same", &samplers.DMALA{StepSize: 1000}},
	} {
		run, err := samplers.Start(ctx, c.s, q, starts(q.dom, chains, e.seed),
			samplers.Options{Seed: e.seed})
		if err != nil {
			return err
		}
		sum := make([][2]float64, chains)
		var flips [2]float64
		last := make([][2]int32, chains)
		for k, x := range run.X {
			last[k] = [2]int32{x[0], x[1]}
		}
		err = run.Steps(ctx, steps, func(r *samplers.Run) error {
			for k, x := range r.X {
				for i, v := range x {
					sum[k][i] += float64(2*v-1) / steps
					if v != last[k][i] {
						flips[i] += 1 / float64(steps*chains)
					}
					last[k][i] = v
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		mse := 0.0
		for _, s := range sum {
			mse += (s[0]*s[0] + s[1]*s[1]) / (2 * chains)
		}
		var st samplers.Stats
		for _, s := range run.Stats {
			st.Add(s)
		}
		rows = append(rows, []string{c.name, c.want, fmt.Sprintf("%.2f", math.Log(mse)/2),
			fmt.Sprintf("%.4f, %.4f", flips[0], flips[1]), fmt.Sprintf("%.4f", st.MeanProb())})
	}
	lines(w, rows...)
	coins := -0.5 * math.Log(steps)
	fmt.Fprint(w, text("precondition_note", coins, coins-0.5*math.Ln2, -0.5*math.Ln2))
	return nil
}
