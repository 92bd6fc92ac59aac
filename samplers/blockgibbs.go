package samplers

// BlockGibbs resamples a block B of coordinates, drawn uniformly at each step,
// from its exact joint conditional, enumerated:
//
//	θ_B ~ π(· | θ_{−B}) ∝ exp(U(·, θ_{−B}))
//
// the Gibbs sampler (Geman and Geman 1984) with blocks (Jensen, Kong, Kjærulff
// 1995). Exact. Cost: Π_{i∈B} K_i energies a step. On text it works on a fixed
// candidate set per blank. The zero value has blocks of two coordinates, or one
// where no more can change.
type BlockGibbs struct {
	Block int // coordinates in a block, or all where there are fewer; 0 means 2
}

const blockGibbsBlock = 2 // the default

// Name implements Sampler.
func (s *BlockGibbs) Name() string { return "block-gibbs" }

// Attach implements Sampler.
func (s *BlockGibbs) Attach(c *Chains) (Kernel, error) {
	return newBallKernel(c, s.Name(), s.Block, blockGibbsBlock, 0, false)
}

// Info implements Describer.
func (s *BlockGibbs) Info() Info { return blockGibbsInfo }

var blockGibbsInfo = Info{
	Name: "block-gibbs", Title: "Block Gibbs",
	Exact: true, Enumerates: true,
	Doc: "resamples a random block of coordinates from its exact joint " +
		"conditional; on text among a fixed set of candidates per blank",
	Needs: Needs{NeedBlock}, Cost: "K^block energies",
	Params: []Param{
		countParam("block", blockGibbsBlock, 1, maxBlock,
			"most coordinates in a block; all where there are fewer",
			func(s Sampler, v int) { s.(*BlockGibbs).Block = v }),
	},
	make: func() Sampler { return &BlockGibbs{} },
}
