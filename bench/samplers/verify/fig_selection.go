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
	batch   int       // rows of a mini-batch
	chains  int
	updates int   // of the stochastic samplers in a step
	full    int   // of DLMC in a step, which takes all rows
	at      []int // steps after which errors are reported
	seed    uint64
}

// The paper's data: 100,000 rows, 9 columns with a copy of each, mini-batches of 1,000.
const selectionRows, selectionBatch = 100_000, 1000

func figSelection(ctx context.Context, w io.Writer, e *env) error {
	t, err := targets.NewSelection(rand.New(rand.NewPCG(e.seed, 9)), selectionRows, 9)
	if err != nil {
		return err
	}
	sums, err := t.Sums(ctx)
	if err != nil {
		return err
	}
	s := selection{t: t, truth: t.MarginalsOf(sums), batch: selectionBatch, chains: 10, updates: 320,
		full: 2, at: []int{1, 4, 10}, seed: e.seed}
	jumps, slopes, err := s.scales(ctx)
	if err != nil {
		return err
	}
	fmt.Fprint(w, text("selection", s.truth[:9], barrier(sums), jumps, slopes, s.chains))
	if _, err := s.compare(ctx, w, e); err != nil {
		return err
	}
	rows := [][]string{{"R-hat", "after 2 steps", "5", "10", "20"}}
	if t, err = targets.NewSelection(rand.New(rand.NewPCG(e.seed, 11)), 100, 50); err != nil {
		return err
	}
	s = selection{t: t, truth: make([]float64, 100), batch: selectionBatch, chains: 10, updates: 100,
		at: []int{20}, seed: e.seed}
	for _, h := range []float64{0.6, 0.3} {
		got, err := s.run(ctx, t, &samplers.SGDLD{Jump: h, Batch: s.batch}, s.updates)
		if err != nil {
			return err
		}
		rows = append(rows, append([]string{fmt.Sprintf("SGDLD-.%.0f", 10*h)},
			rhats(got, s.updates)...))
	}
	fmt.Fprint(w, text("selection_rhat", s.chains))
	lines(w, rows...)
	fmt.Fprint(w, text("selection_note"))
	return nil
}

// selectionCase is a sampler of a comparison.
type selectionCase struct {
	name    string
	s       samplers.Sampler
	target  samplers.Target
	updates int // in a step
}

// compare prints the errors of the samplers of the paper's figures 3 and 6, on 9 columns.
func (s selection) compare(ctx context.Context, w io.Writer, e *env) (map[string]*selected, error) {
	fast := func(h float64, noCache bool) samplers.Sampler {
		return &samplers.SGDLD{Jump: h, Batch: s.batch, NoCache: noCache}
	}
	time, err := kept(e, fmt.Sprintf("selection-%d-time", s.t.D), func() (float64, error) {
		return s.sameJumps(ctx)
	})
	if err != nil {
		return nil, err
	}
	oracle := &oracle{s.t, map[string]float64{}}
	cases := []selectionCase{
		{"SGDLD-.6", fast(0.6, false), s.t, s.updates}, {"SGDLD-.3", fast(0.3, false), s.t, s.updates},
		{"noC-.6", fast(0.6, true), s.t, s.updates},
		{"noP-.6", &samplers.SGDLD{Time: time, Batch: s.batch}, s.t, s.updates},
		{"DLMC", &samplers.DLMC{}, s.t, s.full},
		{"RWM of one flip, oracle", &samplers.RWM{Flips: 1}, oracle, s.updates},
		{"RWM of two flips, oracle", &samplers.RWM{Flips: 2}, oracle, s.updates},
	}
	head := []string{"error of the marginals"}
	for i, n := range s.at {
		head = append(head, fmt.Sprintf("%d", n))
		if i == 0 {
			head[1] = "one chain, 1 step"
		}
	}
	rows := [][]string{append(head, "all chains", "jump distance", "states visited")}
	out := map[string]*selected{}
	for _, c := range cases {
		name := fmt.Sprintf("selection-%d-%s", s.t.D, strings.ReplaceAll(c.name, " ", "-"))
		got, err := kept(e, name, func() (*selected, error) {
			return s.run(ctx, c.target, c.s, c.updates)
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		row := []string{c.name}
		for _, errors := range got.Errors {
			row = append(row, over(errors).String())
		}
		rows = append(rows, append(row, fmt.Sprintf("%.3f", got.Together), fmt.Sprintf("%.3f", got.Jump),
			fmt.Sprint(got.Visited)))
		out[c.name] = got
		e.progress("variable selection, %d columns: %s", s.t.D, c.name)
	}
	lines(w, rows...)
	return out, nil
}

// selected is what selection.run gave.
type selected struct {
	Errors   [][]float64 // by reported step and chain: Σ|P̂ − P| over the coordinates
	Together float64     // the same of the mean of the chains' P̂, at the end
	Jump     float64     // coordinates changed per update
	Visited  int         // different states, of all chains together
	Distance [][]float64 // by chain and update, to a fixed random state
}

func (g *selected) chains() int { return len(g.Distance) }

// run makes the steps of a sampler, which adapts in five steps before them where it is DLMC.
func (s selection) run(ctx context.Context, t samplers.Target, sampler samplers.Sampler,
	updates int) (*selected, error) {
	burnin := 0
	if _, ok := sampler.(*samplers.DLMC); ok {
		burnin = 5 * updates
	}
	run, err := burntIn(ctx, sampler, t, s.chains, burnin, s.seed)
	if err != nil {
		return nil, err
	}
	d := t.Domain().Len()
	far := starts(t.Domain(), 1, s.seed+1)[0]
	out := &selected{Distance: make([][]float64, s.chains)}
	ones := make([]*samplers.Tally, s.chains)
	for k := range ones {
		ones[k] = samplers.NewTally(d)
	}
	seen := map[string]bool{}
	share := func(k, i int) float64 { return ones[k].Sum[i] / ones[k].Total }
	for step := 1; step <= s.at[len(s.at)-1]; step++ {
		err := run.Steps(ctx, updates, func(r *samplers.Run) error {
			for k, x := range r.X {
				w := ones[k].Weigh(r.LogWeight[k])
				for i, v := range x {
					ones[k].Sum[i] += w * float64(v)
				}
				seen[fmt.Sprint(x)] = true
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
	}
	out.Visited = len(seen)
	return out, nil
}

// sameJumps is the constant simulation time by which SGDLD jumps as often as SGDLD-.6 does (noP in
// the paper), found by bisection.
func (s selection) sameJumps(ctx context.Context) (float64, error) {
	pilot := s
	pilot.chains, pilot.at = 2, s.at[:2]
	jump := func(sampler samplers.Sampler) (float64, error) {
		got, err := pilot.run(ctx, s.t, sampler, s.updates)
		if err != nil {
			return 0, err
		}
		return got.Jump, nil
	}
	want, err := jump(&samplers.SGDLD{Jump: 0.6, Batch: s.batch})
	if err != nil {
		return 0, err
	}
	lo, hi := -700.0, 700.0 // log time
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
	return math.Exp((lo + hi) / 2), nil
}
