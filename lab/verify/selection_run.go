package verify

import (
	"context"
	"fmt"
	"math"
	"slices"

	"infill/lab/internal/diag"
	"infill/samplers"
)

// selected is what selection.run gave.
type selected struct {
	Errors   [][]float64 // by reported step and chain: Σ|P̂ − P| over the coordinates
	Heaviest []float64   // by reported step: the share of its heaviest state, mean over chains
	Together []float64   // by reported step: the same of the mean of the chains' P̂
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
	ones := make([]*diag.Tally, s.chains)
	for k := range ones {
		ones[k] = diag.NewTally(d)
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
		errors, mean, heaviest := make([]float64, s.chains), make([]float64, d), 0.0
		for k := range errors {
			if ones[k].Total == 0 {
				return nil, fmt.Errorf("all states of chain %d have weight 0 after %d steps", k, step)
			}
			heaviest += 1 / ones[k].Total / float64(s.chains) // Total is in parts of the largest weight
			for i, p := range s.truth {
				errors[k] += math.Abs(share(k, i) - p)
				mean[i] += share(k, i) / float64(s.chains)
			}
		}
		out.Errors = append(out.Errors, errors)
		out.Heaviest = append(out.Heaviest, heaviest)
		together := 0.0
		for i, p := range s.truth {
			together += math.Abs(mean[i] - p)
		}
		out.Together = append(out.Together, together)
	}
	for _, st := range run.Stats {
		out.Jump += st.JumpDistance() / float64(s.chains)
		out.Rate += st.MeanProb() / float64(s.chains)
	}
	out.Visited = len(seen)
	return out, nil
}

// sameJumps is the logarithm of the constant simulation time by which SGDLD jumps as often as with
// Polyak's steps of size h (noP in the paper), which is at h of all updates. It is found on the
// whole way of the chains, because the rates fall by hundreds of powers of ten on it: by bisection
// with a few chains, and from there by secants with those of a trial, until their jump distance is
// right within a hundredth.
func (s selection) sameJumps(ctx context.Context, h float64) (float64, error) {
	few, all := s, s
	few.chains, all.chains = min(selectionFew, s.pilot), s.pilot
	lo, hi, low, high := -700.0, 700.0, 0.0, 1.0
	for range 12 {
		mid := (lo + hi) / 2
		jump, err := few.jumps(ctx, mid)
		if err != nil {
			return 0, err
		}
		if jump > h {
			hi, high = mid, jump
		} else {
			lo, low = mid, jump
		}
	}
	at, slope := (lo+hi)/2, (high-low)/(hi-lo)
	best, off := at, math.Inf(1)
	lo, hi = -700, 700
	for last, before := at, math.NaN(); ; {
		jump, err := all.jumps(ctx, at)
		if err != nil {
			return 0, err
		}
		if d := math.Abs(jump - h); d < off {
			best, off = at, d
		}
		if off < h/100 || hi-lo < 1e-3 {
			return best, nil
		}
		if jump > h {
			hi = at
		} else {
			lo = at
		}
		if rise := (jump - before) / (at - last); rise > 0 { // not at first
			slope = rise
		}
		last, before = at, jump
		if at += (h - jump) / slope; at <= lo || at >= hi {
			at = (lo + hi) / 2
		}
	}
}

// jumps is the jump distance of SGDLD with a constant simulation time, whose logarithm is given.
func (s selection) jumps(ctx context.Context, logTime float64) (float64, error) {
	got, err := s.run(ctx, selectionCase{s: &samplers.SGDLD{Time: math.Exp(logTime), Batch: s.batch},
		target: s.t, updates: s.updates})
	if err != nil {
		return 0, err
	}
	return got.Jump, nil
}
