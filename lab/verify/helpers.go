package verify

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"

	"infill/lab/internal/diag"
	"infill/lab/internal/fanout"
	"infill/lab/internal/keep"
	"infill/samplers"
)

// estimate is a mean over independent chains and its standard error.
type estimate struct{ mean, se float64 }

// String has one digit of the standard error, without an exponent where it is ten or more.
func (e estimate) String() string {
	se, err := strconv.ParseFloat(fmt.Sprintf("%.1g", e.se), 64)
	if err != nil {
		se = e.se
	}
	if se < 1e-12*math.Abs(e.mean) { // rounding of equal values
		se = 0
	}
	return fmt.Sprintf("%.4g ± %v", e.mean, se)
}

// over averages x.
func over(x []float64) estimate {
	m, v := 0.0, 0.0
	for _, a := range x {
		m += a / float64(len(x))
	}
	for _, a := range x {
		v += (a - m) * (a - m) / float64(len(x)-1)
	}
	return estimate{m, math.Sqrt(v / float64(len(x)))}
}

// starts draws n uniform states.
func starts(d *samplers.Domain, n int, seed uint64) [][]int32 {
	return d.Randoms(rand.New(rand.NewPCG(seed, 99)), n)
}

// essRun is what essOf measures, a value per chain.
type essRun struct {
	ess, batch, acc, jump []float64
	half                  []float64 // ess of the first half of the steps
	stats                 []samplers.Stats
	tuning                map[string]float64 // of the first chain
}

// burntIn starts chains from uniform states and makes the steps of the burn-in, which adapt.
func burntIn(ctx context.Context, s samplers.Sampler, t samplers.Target, chains, burnin int,
	seed uint64) (*samplers.Run, error) {
	run, err := samplers.Start(ctx, s, t, starts(t.Domain(), chains, seed),
		samplers.Options{Seed: seed, Burnin: burnin})
	if err != nil {
		return nil, err
	}
	if err := run.Steps(ctx, burnin, nil); err != nil {
		return nil, err
	}
	run.ResetStats()
	return run, nil
}

// refs is the number of reference states per chain of essOf.
const refs = 6

// essOf runs independent chains and takes the effective sample size of
// f(x) = Σ|x_i − ref_i| over the kept steps of each, averaged over uniform
// reference states of the chain's own: a single reference makes the answer
// depend on how much of the slowest mode it happens to see.
func essOf(ctx context.Context, s samplers.Sampler, t samplers.Target, chains, burnin, steps int,
	seed uint64) (*essRun, error) {
	d := t.Domain()
	run, err := burntIn(ctx, s, t, chains, burnin, seed)
	if err != nil {
		return nil, err
	}
	ref := starts(d, chains*refs, seed+1)
	f := make([][]float64, chains*refs)
	err = run.Steps(ctx, steps, func(r *samplers.Run) error {
		for k, x := range r.X {
			for j := k * refs; j < (k+1)*refs; j++ {
				sum := 0
				for i, v := range ref[j] {
					if v -= x[i]; v < 0 {
						v = -v
					}
					sum += int(v)
				}
				f[j] = append(f[j], float64(sum))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := &essRun{tuning: run.Tuning(0), stats: slices.Clone(run.Stats)}
	for k := range chains {
		ess, half, batch := 0.0, 0.0, 0.0
		for _, x := range f[k*refs : (k+1)*refs] {
			ess += diag.ESS(x) / refs
			half += diag.ESS(x[:len(x)/2]) / refs
			batch += diag.ESSBatch(x) / refs
		}
		out.ess, out.batch = append(out.ess, ess), append(out.batch, batch)
		out.half = append(out.half, half)
		out.acc = append(out.acc, run.Stats[k].MeanProb())
		out.jump = append(out.jump, run.Stats[k].JumpDistance())
	}
	return out, nil
}

func scaled(x []float64, by float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = v * by
	}
	return out
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err) // only for constant arguments
	}
	return v
}

// lines prints a Markdown table.
func lines(w io.Writer, rows ...[]string) {
	for j, r := range rows {
		fmt.Fprint(w, "|")
		for _, c := range r {
			fmt.Fprintf(w, " %s |", c)
		}
		fmt.Fprintln(w)
		if j == 0 {
			fmt.Fprint(w, "|")
			for range r {
				fmt.Fprint(w, "---|")
			}
			fmt.Fprintln(w)
		}
	}
}

// parallel calls f with 0..n−1 on all cores and returns the error of the lowest.
func parallel(n int, f func(i int) error) error {
	return fanout.Each(runtime.GOMAXPROCS(0), n, f)
}

// described is a sampler with all its settings.
func described(s samplers.Sampler) string { return fmt.Sprintf("%s %+v", s.Info().Name, s) }

// kept is what run gave in an earlier call of the program with the same seed, settings and folder
// to keep results in, or what it gives now. The settings are all that the result depends on besides
// the seed and the code, so that a table never mixes results of different ones.
func kept[T any](e *env, name, settings string, run func() (T, error)) (T, error) {
	return keep.Result(e.keep, fmt.Sprintf("%s-seed%d", name, e.seed), settings,
		func(path string) { e.progress("%s is of other settings: made again", path) }, run)
}
