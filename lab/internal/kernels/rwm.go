package kernels

import (
	"math/rand/v2"

	"infill/samplers"
)

// RWM is the random-walk Metropolis sampler on a discrete space: R coordinates,
// chosen uniformly without replacement, move to uniformly chosen other values
// (Metropolis et al. 1953; the baseline of DISCS):
//
//	q(θ→θ') = 1/C(d, R) Π_{i: θ'_i≠θ_i} 1/(K_i − 1)   where R of d coordinates differ
//
// which is symmetric. d and K_i count the coordinates that can change and their allowed values.
type RWM struct {
	Flips            float64 // R, as in PAS
	NoSingles        bool    // as in PAS
	TargetAcceptance float64 // 0 means 0.234
}

// randomWalkAcceptance is the mean acceptance probability that RWM is adapted to.
const randomWalkAcceptance = 0.234

func (s *RWM) Attach(c *samplers.Chains) (samplers.Kernel, error) {
	p, err := s.proposer(c)
	if err != nil {
		return nil, err
	}
	return samplers.NewMH(c, p, samplers.MHOptions{})
}

func (s *RWM) proposer(c *samplers.Chains) (*rwmProposer, error) {
	r, err := newCounter(c, rwmInfo.Name, s.Flips, s.TargetAcceptance, randomWalkAcceptance,
		s.NoSingles)
	if err != nil {
		return nil, err
	}
	p := &rwmProposer{counter: r, dom: c.Domain, perm: make([][]int32, c.Len())}
	for k := range p.perm {
		p.perm[k] = append([]int32(nil), r.free...)
	}
	return p, nil
}

type rwmProposer struct {
	*counter
	dom  *samplers.Domain
	perm [][]int32 // a permutation of the free coordinates per chain
}

func (p *rwmProposer) Propose(k int, x []int32, _ []float64, rng *rand.Rand, y []int32) float64 {
	perm := p.perm[k]
	for j := range p.draw(k, rng) {
		o := j + rng.IntN(len(perm)-j) // partial Fisher–Yates
		perm[j], perm[o] = perm[o], perm[j]
		i := int(perm[j])
		y[i] = otherValue(p.dom, rng, i, x[i])
	}
	return 0
}

func (p *rwmProposer) Reverse(int, []int32, []int32, []float64) float64 { return 0 }

// otherValue draws uniformly from the allowed categories other than v.
func otherValue(d *samplers.Domain, rng *rand.Rand, i int, v int32) int32 {
	n, allowed := rng.IntN(d.Support(i)-1), d.Coord(i).Allowed
	if allowed == nil {
		if int32(n) >= v {
			n++
		}
		return int32(n)
	}
	for w, ok := range allowed {
		if ok && int32(w) != v {
			if n == 0 {
				return int32(w)
			}
			n--
		}
	}
	return v
}

func (s *RWM) Info() samplers.Info { return rwmInfo }

var rwmInfo = samplers.Info{
	Name: "rwm", Title: "Random-walk Metropolis",
	Exact: true, Corrected: true,
	Doc:   "changes R random coordinates to random values; the baseline without gradients",
	Needs: []samplers.Need{samplers.NeedEnergies}, Cost: "1 energy",
	Params: []samplers.Param{
		flipsParam(func(s samplers.Sampler, v float64) { s.(*RWM).Flips = v }),
		singlesParam(func(s samplers.Sampler) *bool { return &s.(*RWM).NoSingles }),
		acceptParam(randomWalkAcceptance,
			func(s samplers.Sampler) *float64 { return &s.(*RWM).TargetAcceptance }),
	},
}
