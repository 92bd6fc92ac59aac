package sampling

import (
	"context"
	"math"
	"slices"
	"sort"
	"time"

	"infill/infill"
	"infill/infill/text"
	"infill/lab/internal/chains"
	"infill/mlm"
)

// A record is a run of one sampler on one text.
type record struct {
	chains.Trace
	cpu    []time.Duration // of the process after every step, since the call began
	rows   int
	result *infill.Result
}

// record1 runs a sampler, with an engine that remembers nothing of others. What a first
// call sets up is not measured: a short call comes first.
func record1(ctx context.Context, m *mlm.Model, memo int64, t *text.Template,
	opt infill.Options) (*record, error) {
	warm := opt
	warm.Sampling.Steps, warm.Sampling.Chains = 2, 2
	if _, err := infill.New(m).WithMemo(0).Fill(ctx, t, warm); err != nil {
		return nil, err
	}
	r := &record{}
	begin := chains.CPU()
	opt.Watch.TraceEnergies = true
	opt.Watch.Trace = func(s infill.Step) error {
		r.cpu = append(r.cpu, chains.CPU()-begin)
		r.Add(s)
		return nil
	}
	var err error
	if r.result, err = infill.New(m).WithMemo(memo).Fill(ctx, t, opt); err != nil {
		return nil, err
	}
	r.rows = r.result.Rows
	return r, nil
}

// at is the last step that was made within a time.
func (r *record) at(limit time.Duration) int {
	return max(0, sort.Search(len(r.cpu), func(s int) bool { return r.cpu[s] > limit })-1)
}

// moved is the share of steps after the burn-in that changed the state.
func (r *record) moved() float64 {
	half := r.Steps() / 2
	return r.Moves(half) / float64(max(r.Steps()-half, 1))
}

// ess is the effective number of draws in the steps after the burn-in: of U, and the
// median over the blanks of that of “the token is the given one”.
func (r *record) ess(tokens []int32) (energy, blank float64) {
	half := r.Steps()/2 + 1
	var each []float64
	for i, id := range tokens {
		each = append(each, r.BlankESS(i, id, half))
	}
	slices.Sort(each)
	return r.EnergyESS(half), each[len(each)/2]
}

// commonest is the token of every blank that all samplers together chose most often.
func commonest(all []*record) []int32 {
	var out []int32
	for i := range all[0].Tokens[0][0] {
		count := map[int32]int{}
		best := int32(math.MaxInt32)
		for _, r := range all {
			for _, chain := range r.Tokens {
				for _, s := range chain[r.Steps()/2+1:] {
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
