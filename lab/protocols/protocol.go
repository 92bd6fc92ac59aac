package protocols

import (
	"fmt"

	"infill/infill"
)

// protocol sets what the protocol's name says.
func protocol(name string, opt *infill.Options) error {
	opt.Collect = infill.CollectLast
	switch name {
	case "A":
	case "B":
		opt.Start = infill.StartArgmax
	case "C":
		opt.Chains, opt.Collect, opt.Thin = 1, infill.CollectChain, 1
	default:
		return fmt.Errorf("-protocols %s: want A, B or C", name)
	}
	return nil
}
