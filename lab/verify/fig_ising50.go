package verify

import (
	"context"
	"fmt"
	"io"
	"math"

	"infill/lab/internal/diag"
	"infill/lab/internal/kernels"
	"infill/lab/targets"
	"infill/samplers"
)

// side is the side of the lattice of section 6.
const side = 50

// discsIsing is the Ising model of LB, PAS and DISCS, high temperature,
//
//	U = field·Σ b_i s_i + edge·Σ_edges s_i s_j
//
// open boundary, b_i by discsField. u has the uniform numbers. DISCS has field
// = edge = 1: its λ = .5 is counted at both ends of an edge.
func discsIsing(field, edge float64, u []float64) *targets.Ising {
	b := discsField(u)
	for i := range b {
		b[i] *= field
	}
	return must(targets.NewIsing(side, side, false, edge/2, b, false)) // an edge counts twice
}

// discsField is uniform in (−1.5, 1.5) plus .5 inside a centred disc of half
// the area and minus .5 outside, with its sign changed.
func discsField(u []float64) []float64 {
	b := make([]float64, side*side)
	for i := range b {
		r, c := float64(i/side)/side-0.5, float64(i%side)/side-0.5
		b[i] = 1.5 * (2*u[i] - 1)
		if r*r+c*c < 0.5/math.Pi {
			b[i] += 0.5
		} else {
			b[i] -= 0.5
		}
		b[i] = -b[i]
	}
	return b
}

// discsDraw is what DISCS draws from a seed.
type discsDraw struct {
	u     []float64 // uniform numbers of the field
	ref   []int32   // reference state x0, by integers below 2
	later []int32   // the same by a comparison of uniform numbers with ½, as its later code has it
}

func discsRandom(seed uint32) discsDraw {
	k := key{0, seed}.split(4)
	d := discsDraw{u: k[0].split(1)[0].uniform(side * side), ref: k[2].coins(side * side)}
	for _, v := range k[2].uniform(side * side) {
		r := int32(0)
		if v < 0.5 {
			r = 1
		}
		d.later = append(d.later, r)
	}
	return d
}

// isingRun is what chains on the lattice gave, a value per chain, scaled to
// 50000 steps.
type isingRun struct {
	ESS   []float64 // of the distance to ref, as DISCS takes it
	Geyer []float64 // by Geyer's sequence instead
	Short []float64 // from the first 15000 steps alone
	Later []float64 // of the distance to the later reference state
	Rows  []float64 // averaged over the distances in single rows of the lattice
	Acc   []float64
	Jump  []float64
}

// isingSteps are those that runIsing50 keeps, and isingShort the first of them.
const isingSteps, isingShort = 50000, 15000

// isingSettings are what a run depends on besides the lattice.
func isingSettings(s samplers.Sampler, chains, burnin int) string {
	return fmt.Sprintf("%s, %d chains, %d + %d steps, %d of them short", described(s), chains, burnin,
		isingSteps, isingShort)
}

// runIsing50 runs isingSteps after a burn-in that adapts.
func runIsing50(ctx context.Context, s samplers.Sampler, t samplers.Target, draw discsDraw, chains,
	burnin int, seed uint64) (*isingRun, error) {
	const steps, short = isingSteps, isingShort
	run, err := burntIn(ctx, s, t, chains, burnin, seed)
	if err != nil {
		return nil, err
	}
	all := [][]int32{draw.ref, draw.later}
	rows := []int{10, 25, 40}
	f := make([][][]float64, chains) // [chain][reference or row][step]
	for k := range f {
		f[k] = make([][]float64, len(all)+len(rows))
		for j := range f[k] {
			f[k][j] = make([]float64, 0, steps)
		}
	}
	err = run.Steps(ctx, steps, func(r *samplers.Run) error {
		for k, x := range r.X {
			for j, z := range all {
				f[k][j] = append(f[k][j], hamming(x, z))
			}
			for j, i := range rows {
				f[k][len(all)+j] = append(f[k][len(all)+j],
					hamming(x[i*side:(i+1)*side], draw.ref[i*side:(i+1)*side]))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := &isingRun{}
	for k := range f {
		out.ESS = append(out.ESS, diag.ESSFirst(f[k][0]))
		out.Geyer = append(out.Geyer, diag.ESS(f[k][0]))
		out.Short = append(out.Short, diag.ESSFirst(f[k][0][:short])*steps/short)
		out.Later = append(out.Later, diag.ESSFirst(f[k][1]))
		mean := 0.0
		for _, x := range f[k][len(all):] {
			mean += diag.ESSFirst(x) / float64(len(rows))
		}
		out.Rows = append(out.Rows, mean)
		out.Acc = append(out.Acc, run.Stats[k].MeanProb())
		out.Jump = append(out.Jump, run.Stats[k].JumpDistance())
	}
	return out, nil
}

func hamming(x, y []int32) float64 {
	n := int32(0)
	for i, v := range x {
		n += v ^ y[i]
	}
	return float64(n)
}

// ising50Cases are the stored values and our samplers.
var ising50Cases = []struct {
	name string
	want float64
	s    samplers.Sampler
}{
	{"PAS √", 204.4, &kernels.PAS{}},
	{"PAS ratio", 539.1, &kernels.PAS{Balance: samplers.Ratio}},
	{"GWG-X √, X adapted", 145.4, &kernels.GWGX{}},
	{"GWG-X ratio, X adapted", 443.2, &kernels.GWGX{Balance: samplers.Ratio}},
	{"DLMC √", 502.8, &samplers.DLMC{}},
	{"DLMC ratio", 541.8, &samplers.DLMC{Balance: samplers.Ratio}},
	{"DLMCf √", 231.3, &samplers.DLMC{Euler: true}},
	{"DLMCf ratio", 547.9, &samplers.DLMC{Euler: true, Balance: samplers.Ratio}},
	{"RWM", 7.9, &kernels.RWM{}},
}

func figIsing50(ctx context.Context, w io.Writer, e *env) error {
	draw := discsRandom(0)
	fmt.Fprint(w, text("ising50"))
	for _, part := range []func(context.Context, io.Writer, *env, discsDraw) error{ising50Main,
		ising50NoSingles, ising50DISCS, ising50Models} {
		if err := part(ctx, w, e, draw); err != nil {
			return err
		}
	}
	fmt.Fprint(w, text("ising50_note"))
	return nil
}

// deviation says how far a mean of chains is from the stored one of 100, in
// per cent and in standard errors of both. The scatter cv is the coefficient of variation
// of a chain.
func deviation(got, want, cv float64, chains int) string {
	off := math.Log(got / want)
	return fmt.Sprintf("%+.0f %%, %+.1f s.e.", 100*(math.Exp(off)-1),
		off/(cv*math.Sqrt(1/float64(chains)+0.01)))
}

// variation is the coefficient of variation of a chain's value, pooled over rows.
func variation(rows [][]float64) float64 {
	sum := 0.0
	for _, x := range rows {
		r := over(x)
		sum += (r.se / r.mean) * (r.se / r.mean) * float64(len(x)) / float64(len(rows))
	}
	return math.Sqrt(sum)
}

func ising50Main(ctx context.Context, w io.Writer, e *env, draw discsDraw) error {
	const chains = 16
	t := discsIsing(1, 1, draw.u)
	runs, ess := make([]*isingRun, len(ising50Cases)), make([][]float64, len(ising50Cases))
	err := parallel(len(runs), func(i int) (err error) {
		c := ising50Cases[i]
		burnin := 5000
		if c.name == "RWM" {
			burnin = 50000 // it flips .03 spins a step
		}
		settings := isingSettings(c.s, chains, burnin)
		runs[i], err = kept(e, fmt.Sprintf("6-%d", i), settings, func() (*isingRun, error) {
			return runIsing50(ctx, c.s, t, draw, chains, burnin, e.seed+uint64(i))
		})
		e.progress("%s", c.name)
		return err
	})
	if err != nil {
		return err
	}
	for i, r := range runs {
		ess[i] = r.ESS
	}
	cv := variation(ess[:len(ess)-1]) // RWM's few values scatter more
	rows := [][]string{{"sampler", "stored", "here", "deviation", "later x0", "Geyer's ESS",
		"15000 steps", "single rows", "mean probability", "jump distance"}}
	var logs [5]float64 // Σ log of here/stored and of each column from the later x0 on/here
	n := 0.0
	for i, c := range ising50Cases {
		r := runs[i]
		got, own := over(r.ESS), cv
		if c.name == "RWM" {
			own = variation(ess[i : i+1])
		}
		row := []string{c.name, fmt.Sprint(c.want), got.String(),
			deviation(got.mean, c.want, own, chains)}
		for j, x := range [][]float64{r.Later, r.Geyer, r.Short, r.Rows} {
			row = append(row, over(x).String())
			if c.name != "RWM" {
				logs[j+1] += math.Log(over(x).mean / got.mean)
			}
		}
		if c.name != "RWM" {
			logs[0] += math.Log(got.mean / c.want)
			n++
		}
		rows = append(rows, append(row, fmt.Sprintf("%.3f", over(r.Acc).mean),
			fmt.Sprintf("%.2f", over(r.Jump).mean)))
	}
	lines(w, rows...)
	for j := range logs {
		logs[j] = math.Exp(logs[j] / n)
	}
	fmt.Fprint(w, text("ising50_mean", 100*cv, logs[0], logs[1], logs[2], logs[3], logs[4]))
	return ising50Again(ctx, w, e, draw)
}
