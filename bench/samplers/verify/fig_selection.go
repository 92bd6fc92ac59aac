package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"infill/samplers"
	"infill/samplers/targets"
)

// selection is a run of variable selection (section 6.2 of SGDLD's paper) on one set of data.
type selection struct {
	t       *targets.Selection
	truth   []float64 // P(β_i = 1)
	well    []byte    // the likeliest sums
	batch   int       // rows of a mini-batch
	chains  int
	updates int   // of the stochastic samplers in a step
	full    int   // of DLMC in a step, which takes all rows
	burnin  int   // updates in which DLMC adapts its time, before the first step
	at      []int // steps after which errors are reported
	seed    uint64
}

// The paper's data: 100,000 rows, 9 columns with a copy of each, mini-batches of 1,000.
const selectionRows, selectionBatch = 100_000, 1000

func figSelection(ctx context.Context, w io.Writer, e *env) error {
	for _, part := range []func(context.Context, io.Writer, *env) error{
		figSelection9, figSelectionFew, figSelection50,
	} {
		if err := part(ctx, w, e); err != nil {
			return err
		}
	}
	fmt.Fprint(w, text("selection_note"))
	return nil
}

// newSelection has the truth by sums over all states, as Marginals has, and the sums themselves.
func newSelection(ctx context.Context, n, batch, chains int, seed, stream uint64) (selection,
	[]float64, error) {
	t, err := targets.NewSelection(rand.New(rand.NewPCG(seed, stream)), n, 9)
	if err != nil {
		return selection{}, nil, err
	}
	sums, err := t.Sums(ctx)
	if err != nil {
		return selection{}, nil, err
	}
	return selection{t: t, truth: t.MarginalsOf(sums), well: digits(sums), batch: batch,
		chains: chains, updates: 320, full: 2, burnin: 200, at: []int{1, 4, 10}, seed: seed}, sums, nil
}

// digits are those of the index of the largest entry, in base 3.
func digits(sums []float64) (out []byte) {
	best := 0
	for s, u := range sums {
		if u > sums[best] {
			best = s
		}
	}
	for n := 1; n < len(sums); n *= 3 {
		out = append(out, byte(best%3))
		best /= 3
	}
	return out
}

// figSelection9 has figures 1 and 3.
func figSelection9(ctx context.Context, w io.Writer, e *env) error {
	s, sums, err := newSelection(ctx, selectionRows, selectionBatch, 10, e.seed, 9)
	if err != nil {
		return err
	}
	jumps, slopes, err := s.scales(ctx)
	if err != nil {
		return err
	}
	heavy, err := s.heaviest(ctx)
	if err != nil {
		return err
	}
	fmt.Fprint(w, text("selection", s.truth[:9], barrier(sums), jumps, slopes, 100*heavy, s.chains,
		s.burnin))
	_, err = s.compare(ctx, w, e)
	return err
}

// figSelectionFew is figure 3 with a hundredth of the rows, all numbers of rows being smaller in
// proportion.
func figSelectionFew(ctx context.Context, w io.Writer, e *env) error {
	s, sums, err := newSelection(ctx, selectionRows/100, selectionBatch/100, 100, e.seed, 12)
	if err != nil {
		return err
	}
	jumps, _, err := s.scales(ctx)
	if err != nil {
		return err
	}
	heavy, err := s.heaviest(ctx)
	if err != nil {
		return err
	}
	fmt.Fprint(w, text("selection_few", s.chains, barrier(sums), jumps, 100*heavy, s.truth[:9]))
	_, err = s.compare(ctx, w, e)
	return err
}

// selectionCase is a sampler of a comparison.
type selectionCase struct {
	name    string
	s       samplers.Sampler
	target  samplers.Target
	updates int  // in a step
	burnin  int  // updates before the first step
	inWell  bool // the chains begin at likeliest states
}

// describe has all settings of a case.
func (c selectionCase) describe() string {
	return fmt.Sprintf("%s, %d updates a step, %d before, inWell %t", described(c.s), c.updates,
		c.burnin, c.inWell)
}

// id is the name of a result of this problem, and settings are what it depends on.
func (s selection) id(name string) string {
	return fmt.Sprintf("selection-%d-%d-%s", s.t.N, s.t.D, strings.ReplaceAll(name, " ", "-"))
}

func (s selection) settings(of string) string {
	return fmt.Sprintf("%d chains, mini-batches of %d, %d updates a step, reports after %v, %s",
		s.chains, s.batch, s.updates, s.at, of)
}

// compare prints the errors of the samplers of the paper's figures 3 and 6.
func (s selection) compare(ctx context.Context, w io.Writer, e *env) (map[string]*selected, error) {
	fast := func(h float64, noCache bool) samplers.Sampler {
		return &samplers.SGDLD{Jump: h, Batch: s.batch, NoCache: noCache}
	}
	time, err := kept(e, s.id("log-time"), s.settings("noP"),
		func() (float64, error) { return s.sameJumps(ctx) })
	if err != nil {
		return nil, err
	}
	oracle := newOracle(s.t, s.chains)
	cases := []selectionCase{
		{"SGDLD-.6", fast(0.6, false), s.t, s.updates, 0, false},
		{"SGDLD-.3", fast(0.3, false), s.t, s.updates, 0, false},
		{"noC-.6", fast(0.6, true), s.t, s.updates, 0, false},
		{"noP-.6", &samplers.SGDLD{Time: math.Exp(time), Batch: s.batch}, s.t, s.updates, 0, false},
		{"DLMC", &samplers.DLMC{}, s.t, s.full, s.burnin, false},
		{"DLMC, begun at the likeliest states", &samplers.DLMC{}, s.t, s.full, s.burnin, true},
		{"RWM of one flip, oracle", &samplers.RWM{Flips: 1}, oracle, s.updates, 0, false},
		{"RWM of two flips, oracle", &samplers.RWM{Flips: 2}, oracle, s.updates, 0, false},
	}
	head := []string{"error of the marginals"}
	for i, n := range s.at {
		head = append(head, fmt.Sprintf("%d", n))
		if i == 0 {
			head[1] = fmt.Sprintf("one chain, step %d", n)
		}
	}
	rows := [][]string{append(head, "all chains", "jump distance", "mean probability",
		"states visited")}
	out := map[string]*selected{}
	for _, c := range cases {
		got, err := kept(e, s.id(c.name), s.settings(c.describe()), func() (*selected, error) {
			return s.run(ctx, c)
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		row := []string{c.name}
		for _, errors := range got.Errors {
			row = append(row, over(errors).String())
		}
		rate := fmt.Sprintf("%.3f", got.Rate)
		if _, unadjusted := c.s.(*samplers.SGDLD); unadjusted {
			rate = "–"
		}
		rows = append(rows, append(row, fmt.Sprintf("%.3f", got.Together), fmt.Sprintf("%.3f", got.Jump),
			rate, fmt.Sprint(got.Visited)))
		out[c.name] = got
		e.progress("variable selection, %d rows, %d columns: %s", s.t.N, s.t.D, c.name)
	}
	lines(w, rows...)
	return out, nil
}

// selected is what selection.run gave.
type selected struct {
	Errors   [][]float64 // by reported step and chain: Σ|P̂ − P| over the coordinates
	Together float64     // the same of the mean of the chains' P̂, at the end
	Jump     float64     // coordinates changed per update
	Rate     float64     // mean acceptance probability
	Visited  int         // different states, of all chains together
	Distance [][]float64 // by chain and update, to a fixed random state
}

func (g *selected) chains() int { return len(g.Distance) }

// starts are random states, or with inWell random ones of the likeliest.
func (s selection) starts(inWell bool) [][]int32 {
	x := starts(s.t.Domain(), s.chains, s.seed)
	if !inWell {
		return x
	}
	for _, x := range x {
		for j, sum := range s.well {
			if sum != 1 {
				x[j] = int32(sum / 2)
			}
			x[s.t.D+j] = int32(sum) - x[j]
		}
	}
	return x
}

// run makes the steps of a sampler, after its burn-in.
func (s selection) run(ctx context.Context, c selectionCase) (*selected, error) {
	run, err := samplers.Start(ctx, c.s, c.target, s.starts(c.inWell),
		samplers.Options{Seed: s.seed, Burnin: c.burnin})
	if err != nil {
		return nil, err
	}
	if err := run.Steps(ctx, c.burnin, nil); err != nil {
		return nil, err
	}
	run.ResetStats()
	t := c.target
	d := t.Domain().Len()
	far := starts(t.Domain(), 1, s.seed+1)[0]
	out := &selected{Distance: make([][]float64, s.chains)}
	ones := make([]*samplers.Tally, s.chains)
	for k := range ones {
		ones[k] = samplers.NewTally(d)
	}
	seen, key := map[string]bool{}, make([]byte, d)
	share := func(k, i int) float64 { return ones[k].Sum[i] / ones[k].Total }
	for step := 1; step <= s.at[len(s.at)-1]; step++ {
		err := run.Steps(ctx, c.updates, func(r *samplers.Run) error {
			for k, x := range r.X {
				w := ones[k].Weigh(r.LogWeight[k])
				for i, v := range x {
					ones[k].Sum[i] += w * float64(v)
				}
				for i, v := range x {
					key[i] = byte(v)
				}
				seen[string(key)] = true
				out.Distance[k] = append(out.Distance[k], hamming(x, far))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if !slices.Contains(s.at, step) {
			continue
		}
		errors, mean := make([]float64, s.chains), make([]float64, d)
		for k := range errors {
			if ones[k].Total == 0 {
				return nil, fmt.Errorf("all states of chain %d have weight 0 after %d steps", k, step)
			}
			for i, p := range s.truth {
				errors[k] += math.Abs(share(k, i) - p)
				mean[i] += share(k, i) / float64(s.chains)
			}
		}
		out.Errors, out.Together = append(out.Errors, errors), 0
		for i, p := range s.truth {
			out.Together += math.Abs(mean[i] - p)
		}
	}
	for _, st := range run.Stats {
		out.Jump += st.JumpDistance() / float64(s.chains)
		out.Rate += st.MeanProb() / float64(s.chains)
	}
	out.Visited = len(seen)
	return out, nil
}

// sameJumps is the logarithm of the constant simulation time by which SGDLD jumps as often as
// SGDLD-.6 does (noP in the paper), found by bisection on the first steps of two chains.
func (s selection) sameJumps(ctx context.Context) (float64, error) {
	pilot := s
	pilot.chains, pilot.at = 2, []int{4}
	jump := func(sampler samplers.Sampler) (float64, error) {
		got, err := pilot.run(ctx, selectionCase{s: sampler, target: s.t, updates: s.updates})
		if err != nil {
			return 0, err
		}
		return got.Jump, nil
	}
	want, err := jump(&samplers.SGDLD{Jump: 0.6, Batch: s.batch})
	if err != nil {
		return 0, err
	}
	lo, hi := -700.0, 700.0
	for range 12 {
		mid := (lo + hi) / 2
		got, err := jump(&samplers.SGDLD{Time: math.Exp(mid), Batch: s.batch})
		if err != nil {
			return 0, err
		}
		if got > want {
			hi = mid
		} else {
			lo = mid
		}
	}
	return (lo + hi) / 2, nil
}
