package protocols

import (
	"fmt"

	"infill/infill"
)

// fromRandom is the protocol whose chains begin at random words.
const fromRandom = "R"

// protocol sets what the protocol's name says.
func protocol(name string, opt *infill.Options) error {
	opt.Results.Collect = infill.CollectLast
	switch name {
	case "A":
	case "B":
		opt.Sampling.Start = infill.StartArgmax
	case fromRandom:
		opt.Sampling.Start = infill.StartRandom
	case fromMasks: // see masked.go
	case "C":
		opt.Sampling.Chains, opt.Results.Collect, opt.Results.Thin = 1, infill.CollectChain, 1
	default:
		return fmt.Errorf("-protocols %s: want A, B, C, M or R", name)
	}
	return nil
}
