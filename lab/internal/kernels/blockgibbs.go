package kernels

import "infill/samplers"

// BlockGibbs resamples a block B of coordinates, drawn uniformly at each step,
// from its exact joint conditional, enumerated:
//
//	θ_B ~ π(· | θ_{−B}) ∝ exp(U(·, θ_{−B}))
//
// the Gibbs sampler (Geman and Geman 1984) with blocks (Jensen, Kong, Kjærulff
// 1995). Cost: Π_{i∈B} K_i energies a step.
type BlockGibbs struct {
	Block int // coordinates in a block, or all where there are fewer; 0 means 2
}

const blockGibbsBlock = 2 // the default

func (s *BlockGibbs) Attach(c *samplers.Chains) (samplers.Kernel, error) {
	return newBallKernel(c, blockGibbsInfo.Name, s.Block, blockGibbsBlock, 0, false)
}

func (s *BlockGibbs) Info() samplers.Info { return blockGibbsInfo }

var blockGibbsInfo = samplers.Info{
	Name: "block-gibbs", Title: "Block Gibbs",
	Exact: true,
	Doc: "resamples a random block of coordinates from its exact joint " +
		"conditional",
	Needs: []samplers.Need{samplers.NeedEnergies}, Cost: "K^block energies",
	Params: []samplers.Param{
		countParam("block", blockGibbsBlock, maxBlock,
			"most coordinates in a block; all where there are fewer",
			func(s samplers.Sampler, v int) { s.(*BlockGibbs).Block = v }),
	},
}
