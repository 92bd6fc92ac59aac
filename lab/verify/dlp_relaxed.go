package verify

import (
	"context"
	"fmt"
	"io"

	"infill/lab/internal/kernels"
	"infill/lab/relaxed"
	"infill/lab/targets"
	"infill/samplers"
)

// extended is U of the model at real values, read off its gradients.
func extended(ctx context.Context, t samplers.Gradienter) (relaxed.Extension, error) {
	q, err := quadraticOf(ctx, t)
	if err != nil {
		return nil, err
	}
	return q.energy, nil
}

// particles is the size of a system of DSVGD, as in the public code.
const particles = 100

// runParticles runs independent systems of DSVGD. An error is the error of the mean over the
// particles of one system as they stand at a mark.
func runParticles(ctx context.Context, s samplers.Sampler, m *targets.Ising, mean []float64,
	systems int, marks []int, seed uint64) (*dlpRun, error) {
	out := &dlpRun{marks: marks, mse: make([][]float64, len(marks))}
	for j := range systems {
		run, err := samplers.Start(ctx, s, m, fieldStarts(m.Domain(), particles, seed+uint64(j)),
			samplers.Options{Seed: seed, First: j * particles})
		if err != nil {
			return nil, err
		}
		run.ResetStats()
		steps, at := marks[len(marks)-1], 0
		err = run.Steps(ctx, steps, func(r *samplers.Run) error {
			if r.Done() == marks[at] {
				out.mse[at] = append(out.mse[at], squared(r.X, mean))
				at++
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		for _, st := range run.Stats {
			out.evals += float64(st.Evals) / float64(steps*systems)
			out.calls += float64(kernels.Calls(s.Info(), st)) / float64(steps*systems)
		}
	}
	return out, nil
}

// squared is the mean over sites of the squared error of the mean of states.
func squared(x [][]int32, mean []float64) float64 {
	mse := 0.0
	for i, want := range mean {
		s := -want
		for _, state := range x {
			s += float64(2*state[i]-1) / float64(len(x))
		}
		mse += s * s / float64(len(mean))
	}
	return mse
}

// The parameters that section 10 takes from its own tables.
const (
	rmalaStep, rmalaTemperature = .2, .25
	dsvgdRate, dsvgdTemperature = .01, 1
)

// dlpParameters tries the parameters of RMALA and DSVGD, which DLP does not give.
func dlpParameters(ctx context.Context, w io.Writer, e *env, _ []float64) error {
	m, mean, err := dlpIsing(.1)
	if err != nil {
		return err
	}
	ext, err := extended(ctx, m)
	if err != nil {
		return err
	}
	temps := []float64{.1, .25, .5, 1, 2}
	steps := []float64{.04, .1, .2, .4, .8}
	rmala := make([]*dlpRun, len(temps)*len(steps))
	err = parallel(len(rmala), func(i int) (err error) {
		rmala[i], err = runDLP(ctx, &relaxed.RMALA{StepSize: steps[i%len(steps)],
			Temperature: temps[i/len(steps)], Extension: ext}, m, mean, dlpChains, []int{6000}, true, e.seed)
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprint(w, text("dlp_rmala"))
	rows := [][]string{{"t"}}
	for _, s := range steps {
		rows[0] = append(rows[0], fmt.Sprintf("ε = %g", s))
	}
	for i, t := range temps {
		row := []string{fmt.Sprint(t)}
		for j := range steps {
			r := rmala[i*len(steps)+j]
			row = append(row, fmt.Sprintf("%s (%.2f)", over(r.ess), over(r.acc).mean))
		}
		rows = append(rows, row)
	}
	lines(w, rows...)
	temps = temps[1:]
	dsvgd := make([]*dlpRun, len(temps))
	marks := []int{100, 300, 1000}
	err = parallel(len(dsvgd), func(i int) (err error) {
		dsvgd[i], err = runParticles(ctx, &relaxed.DSVGD{Rate: dsvgdRate, Temperature: temps[i],
			Extension: ext}, m, mean, 2, marks, e.seed)
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprint(w, text("dlp_dsvgd", particles, dsvgdRate))
	rows = [][]string{{"t"}}
	for _, mark := range marks {
		rows[0] = append(rows[0], fmt.Sprintf("after %d steps", mark))
	}
	for i, t := range temps {
		row := []string{fmt.Sprint(t)}
		for j := range marks {
			row = append(row, fixed(logRMSE(dsvgd[i].mse[j])))
		}
		rows = append(rows, row)
	}
	lines(w, rows...)
	return nil
}
