package samplers

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

func (s *BlockGibbs) Attach(c *Chains) (Kernel, error) {
	return newBallKernel(c, blockGibbsInfo.Name, s.Block, blockGibbsBlock, 0, false)
}

func (s *BlockGibbs) Info() Info { return blockGibbsInfo }

var blockGibbsInfo = Info{
	Name: "block-gibbs", Title: "Block Gibbs",
	Exact: true, Enumerates: true,
	Doc: "resamples a random block of coordinates from its exact joint " +
		"conditional",
	Needs: []Need{NeedEnergies}, Cost: "K^block energies",
	Params: []Param{
		countParam("block", blockGibbsBlock, 1, maxBlock,
			"most coordinates in a block; all where there are fewer",
			func(s Sampler, v int) { s.(*BlockGibbs).Block = v }),
	},
}
