package main

import (
	"context"
	"math"
	"slices"
	"sort"
	"syscall"
	"time"

	"infill/infill"
	"infill/mlm"
)

// A record is a run of one sampler on one text.
type record struct {
	energy [][]float64 // of every chain after every step, the start included
	tokens [][][]int32
	cpu    []time.Duration // of the process, since the call began
	rows   int
	result *infill.Result
}

// record1 runs a sampler, with an engine that remembers nothing of others. What a first
// call sets up is not measured: a short call comes first.
func record1(ctx context.Context, m *mlm.Model, memo int64, t *infill.Template,
	opt infill.Options) (*record, error) {
	warm := opt
	warm.Steps, warm.Chains = 2, 2
	if _, err := infill.NewWithMemo(m, 0).Fill(ctx, t, warm); err != nil {
		return nil, err
	}
	r := &record{energy: make([][]float64, opt.Chains), tokens: make([][][]int32, opt.Chains)}
	begin := cpuTime()
	opt.TraceEnergies = true
	opt.Trace = func(s infill.Step) error {
		r.cpu = append(r.cpu, cpuTime()-begin)
		for k, u := range s.Energy {
			r.energy[k] = append(r.energy[k], u)
			r.tokens[k] = append(r.tokens[k], slices.Clone(s.Tokens(k)))
		}
		return nil
	}
	var err error
	if r.result, err = infill.NewWithMemo(m, memo).Fill(ctx, t, opt); err != nil {
		return nil, err
	}
	r.rows = r.result.Rows
	return r, nil
}

// cpuTime is what all threads of the process have worked so far.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it fails for a wrong argument only
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// steps is the number of steps that were made.
func (r *record) steps() int { return len(r.cpu) - 1 }

// at is the last step that was made within a time.
func (r *record) at(limit time.Duration) int {
	return max(0, sort.Search(len(r.cpu), func(s int) bool { return r.cpu[s] > limit })-1)
}

// quality is the mean energy of all chains after a step, that of the five best of the
// different fillings, and the number of these.
func (r *record) quality(step int) (mean, best float64, distinct int) {
	seen := map[string]bool{}
	var all []float64
	for k := range r.energy {
		u := r.energy[k][step]
		mean += u / float64(len(r.energy))
		key := spelling(r.tokens[k][step])
		if !seen[key] {
			seen[key] = true
			all = append(all, u)
		}
	}
	slices.Sort(all)
	slices.Reverse(all)
	top := all[:min(5, len(all))]
	for _, u := range top {
		best += u / float64(len(top))
	}
	return mean, best, len(all)
}

func spelling(ids []int32) string {
	var b []byte
	for _, id := range ids {
		b = append(b, byte(id), byte(id>>8), byte(id>>16))
	}
	return string(b)
}

// moved is the share of steps after the burn-in that changed the state.
func (r *record) moved() float64 {
	n, all := 0, 0
	for k := range r.tokens {
		for s := r.steps()/2 + 1; s <= r.steps(); s++ {
			all++
			if !slices.Equal(r.tokens[k][s], r.tokens[k][s-1]) {
				n++
			}
		}
	}
	return float64(n) / float64(max(all, 1))
}

// ess is the effective number of draws in the steps after the burn-in: of U, and the
// median over the blanks of that of “the token is the given one”.
func (r *record) ess(tokens []int32) (energy, blank float64) {
	half := r.steps()/2 + 1
	var u [][]float64
	for _, e := range r.energy {
		u = append(u, e[half:])
	}
	var each []float64
	for i, id := range tokens {
		var c [][]float64
		for _, chain := range r.tokens {
			var is []float64
			for _, s := range chain[half:] {
				v := 0.0
				if s[i] == id {
					v = 1
				}
				is = append(is, v)
			}
			c = append(c, is)
		}
		each = append(each, pooledESS(c))
	}
	slices.Sort(each)
	return pooledESS(u), each[len(each)/2]
}

// commonest is the token of every blank that all samplers together chose most often.
func commonest(all []*record) []int32 {
	var out []int32
	for i := range all[0].tokens[0][0] {
		count := map[int32]int{}
		best := int32(math.MaxInt32)
		for _, r := range all {
			for _, chain := range r.tokens {
				for _, s := range chain[r.steps()/2+1:] {
					id := s[i]
					if count[id]++; count[id] > count[best] || count[id] == count[best] && id < best {
						best = id
					}
				}
			}
		}
		out = append(out, best)
	}
	return out
}
