package kernels

import (
	"cmp"

	"infill/samplers"
)

// HammingBall is the Hamming ball sampler (Titsias and Yau 2017) with random
// blocks: u is drawn uniformly from the ball of Radius around θ within a block
// of coordinates, and θ' from π restricted to the ball around u,
//
//	u ~ Uniform(H(θ)),   θ' ~ π(·)·1[· ∈ H(u)]
//
// which is Gibbs sampling on the pair (θ, u). Cost: one energy for each state of the ball a step.
type HammingBall struct {
	Radius int // 0 means 1
	Block  int // coordinates in a block, or all where there are fewer; 0 means 10
}

// Defaults of HammingBall, and the largest radius. The number of states bounds a ball anyway.
const (
	hbRadius  = 1
	hbBlock   = 10
	maxRadius = 64
)

func (s *HammingBall) Attach(c *samplers.Chains) (samplers.Kernel, error) {
	if err := checkCount(hammingBallInfo.Name, "radius", s.Radius, maxRadius); err != nil {
		return nil, err
	}
	return newBallKernel(c, hammingBallInfo.Name, s.Block, hbBlock, cmp.Or(s.Radius, hbRadius), true)
}

func (s *HammingBall) Info() samplers.Info { return hammingBallInfo }

var hammingBallInfo = samplers.Info{
	Name: "hb", Title: "Hamming ball",
	Exact: true,
	Doc: "resamples within a Hamming ball around a random neighbour (Titsias and " +
		"Yau 2017)",
	Needs: []samplers.Need{samplers.NeedEnergies}, Cost: "the ball's size in energies",
	Params: []samplers.Param{
		countParam("radius", hbRadius, maxRadius, "radius of the ball",
			func(s samplers.Sampler, v int) { s.(*HammingBall).Radius = v }),
		countParam("block", hbBlock, maxBlock,
			"most coordinates in a block; all where there are fewer",
			func(s samplers.Sampler, v int) { s.(*HammingBall).Block = v }),
	},
}
