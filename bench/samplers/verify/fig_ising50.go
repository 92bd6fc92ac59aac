package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"infill/samplers"
	"infill/samplers/targets"
)

// side is that of the lattice of section 6.
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

// runIsing50 runs 50000 steps after a burn-in that adapts.
func runIsing50(ctx context.Context, s samplers.Sampler, t samplers.Target, draw discsDraw, chains,
	burnin int, seed uint64) (*isingRun, error) {
	const steps, short = 50000, 15000
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
		out.ESS = append(out.ESS, samplers.ESSFirst(f[k][0]))
		out.Geyer = append(out.Geyer, samplers.ESS(f[k][0]))
		out.Short = append(out.Short, samplers.ESSFirst(f[k][0][:short])*steps/short)
		out.Later = append(out.Later, samplers.ESSFirst(f[k][1]))
		mean := 0.0
		for _, x := range f[k][len(all):] {
			mean += samplers.ESSFirst(x) / float64(len(rows))
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
	{"PAS √", 204.4, &samplers.PAS{}},
	{"PAS ratio", 539.1, &samplers.PAS{Balance: samplers.Ratio}},
	{"GWG-X √, X adapted", 145.4, &samplers.GWG{Adapt: true}},
	{"GWG-X ratio, X adapted", 443.2, &samplers.GWG{Balance: samplers.Ratio, Adapt: true}},
	{"DLMC √", 502.8, &samplers.DLMC{}},
	{"DLMC ratio", 541.8, &samplers.DLMC{Balance: samplers.Ratio}},
	{"DLMCf √", 231.3, &samplers.DLMCf{}},
	{"DLMCf ratio", 547.9, &samplers.DLMCf{Balance: samplers.Ratio}},
	{"RWM", 7.9, &samplers.RWM{}},
}

func figIsing50(ctx context.Context, w io.Writer, e *env) error {
	draw := discsRandom(0)
	fmt.Fprint(w, text("ising50"))
	for _, part := range []func(context.Context, io.Writer, *env, discsDraw) error{ising50Main,
		ising50DISCS, ising50Models} {
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
		runs[i], err = kept(e, fmt.Sprintf("6-%d-%d", i, chains), func() (*isingRun, error) {
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

// ising50Again has the two rows of the first table that lie furthest below the
// stored values once more, with more and other chains.
func ising50Again(ctx context.Context, w io.Writer, e *env, draw discsDraw) error {
	const chains = 48
	t, again := discsIsing(1, 1, draw.u), []int{1, 2}
	runs := make([]*isingRun, len(again))
	err := parallel(len(again), func(i int) (err error) {
		c := ising50Cases[again[i]]
		runs[i], err = kept(e, fmt.Sprintf("6-again-%d-%d", again[i], chains), func() (*isingRun, error) {
			return runIsing50(ctx, c.s, t, draw, chains, 5000, e.seed+500)
		})
		e.progress("%s once more", c.name)
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nThe two that lie furthest below, with %d other chains and their own "+
		"scatter:\n\n", chains)
	rows := [][]string{{"sampler", "stored", "here", "deviation"}}
	for i, r := range runs {
		c, got := ising50Cases[again[i]], over(r.ESS)
		rows = append(rows, []string{c.name, fmt.Sprint(c.want), got.String(),
			deviation(got.mean, c.want, variation([][]float64{r.ESS}), chains)})
	}
	lines(w, rows...)
	return nil
}

// ising50DISCS runs DLMC and DLMCf with the adaptation of the public code,
// and takes the distance to many reference states.
func ising50DISCS(ctx context.Context, w io.Writer, e *env, draw discsDraw) error {
	cases := []struct {
		name string
		want float64
		g    samplers.Balance
		s    solver
	}{
		{"DLMC √", 502.8, samplers.Sqrt, interpolate},
		{"DLMC ratio", 541.8, samplers.Ratio, interpolate},
		{"DLMCf √", 231.3, samplers.Sqrt, eulerScaled},
		{"DLMCf ratio", 547.9, samplers.Ratio, eulerScaled},
		{"DLMCf √, min(hQ, ν)", 231.3, samplers.Sqrt, eulerClipped},
	}
	const chains, burnin, steps, others = 100, 50000, 50000, 16
	refs := append([][]int32{draw.ref, draw.later},
		starts(discsIsing(1, 1, draw.u).Domain(), others, e.seed+1)...)
	runs, ess := make([]*discsRun, len(cases)), make([][]float64, len(cases))
	err := parallel(len(cases), func(i int) (err error) {
		runs[i], err = kept(e, fmt.Sprintf("6-discs-%d-%d", i, chains), func() (*discsRun, error) {
			return runDISCS(ctx, newLattice(draw.u, refs, cases[i].g), cases[i].s, chains, burnin, steps,
				e.seed+uint64(i))
		})
		e.progress("%s with the adaptation of DISCS", cases[i].name)
		return err
	})
	if err != nil {
		return err
	}
	for i, r := range runs {
		ess[i] = r.ESS[0]
	}
	cv := variation(ess[:4])
	fmt.Fprint(w, text("ising50_discs", chains))
	rows := [][]string{{"sampler", "stored", "here", "deviation", "later x0",
		fmt.Sprintf("%d other x0: lowest, mean, highest", others), "chains that do not move"}}
	for i, c := range cases {
		r := runs[i]
		low, high, mean := math.Inf(1), 0.0, 0.0
		for _, x := range r.ESS[2:] {
			m := over(x).mean
			low, high, mean = math.Min(low, m), math.Max(high, m), mean+m/others
		}
		rows = append(rows, []string{c.name, fmt.Sprint(c.want), over(r.ESS[0]).String(),
			deviation(over(r.ESS[0]).mean, c.want, cv, chains), over(r.ESS[1]).String(),
			fmt.Sprintf("%.0f, %.0f, %.0f", low, mean, high), fmt.Sprintf("%d of %d", r.Stuck, chains)})
	}
	lines(w, rows...)
	return nil
}

// ising50Models runs PAS on other models.
func ising50Models(ctx context.Context, w io.Writer, e *env, draw discsDraw) error {
	other := discsRandom(1)
	models := []struct {
		name string
		t    *targets.Ising
		draw discsDraw
	}{
		{"field twice as strong", discsIsing(2, 1, draw.u), draw},
		{"edges half as strong", discsIsing(1, 0.5, draw.u), draw},
		{"field and x0 of seed 1", discsIsing(1, 1, other.u), other},
	}
	cases := ising50Cases[:2] // PAS
	runs := make([]*isingRun, len(cases)*len(models))
	err := parallel(len(runs), func(i int) (err error) {
		m := models[i%len(models)]
		runs[i], err = kept(e, fmt.Sprintf("6-models-%d", i), func() (*isingRun, error) {
			return runIsing50(ctx, cases[i/len(models)].s, m.t, m.draw, 2, 5000, e.seed)
		})
		e.progress("PAS, %s", m.name)
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprint(w, "\nWith another model, ESS of 2 chains:\n\n")
	rows := [][]string{{"sampler", "stored"}}
	for _, m := range models {
		rows[0] = append(rows[0], m.name)
	}
	for i, c := range cases {
		row := []string{c.name, fmt.Sprint(c.want)}
		for j := range models {
			row = append(row, over(runs[i*len(models)+j].ESS).String())
		}
		rows = append(rows, row)
	}
	lines(w, rows...)
	return nil
}
