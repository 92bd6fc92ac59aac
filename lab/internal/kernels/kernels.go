// Package kernels has samplers that the experiments of the lab compare with those of package
// samplers: random walks, samplers that evaluate many neighbours, and others of the literature.
// Each is a samplers.Sampler, so that samplers.Start runs it.
//
// AB: Sun et al., "Any-scale balanced samplers for discrete space", ICLR 2023. Gibbs in blocks:
// Jensen, Kong, Kjærulff, 1995. HB: Titsias, Yau, "The Hamming ball sampler", JASA 2017. LB:
// Zanella, "Informed proposals for local MCMC in discrete spaces", JASA 2020. PAS: Sun et al.,
// "Path auxiliary proposal for MCMC in discrete space", ICLR 2022, and "Optimal scaling for locally
// balanced proposals in discrete spaces", NeurIPS 2022. RWM: Metropolis et al. 1953.
//
// AIS estimates normalisers of targets by annealed importance sampling: Neal 2001.
package kernels

import "infill/samplers"

// own are the samplers of this package, and one setting that has a name here.
var own = map[string]func() samplers.Sampler{
	"ab":          func() samplers.Sampler { return &AB{} },
	"block-gibbs": func() samplers.Sampler { return &BlockGibbs{} },
	"dlmcf":       func() samplers.Sampler { return &samplers.DLMC{Euler: true} },
	"exact-gibbs": func() samplers.Sampler { return &ExactGibbs{} },
	"gwg-x":       func() samplers.Sampler { return &GWGX{} },
	"hb":          func() samplers.Sampler { return &HammingBall{} },
	"lb1":         func() samplers.Sampler { return &LB1{} },
	"pas":         func() samplers.Sampler { return &PAS{} },
	"rwm":         func() samplers.Sampler { return &RWM{} },
}

// Names lists the samplers that the lab compares, in the order of its pages: those of package
// samplers and those of this one.
func Names() []string {
	return []string{"gibbs", "gibbs-mh", "rows", "dula", "dmala", "rwm", "gwg", "pas", "dlmc", "dlmcf",
		"ab", "acs", "exact-gibbs", "block-gibbs", "hb", "lb1", "sgdld"}
}

// New makes a sampler of this package or of package samplers, with the errors of samplers.New.
func New(name string, params map[string]string) (samplers.Sampler, error) {
	fresh, ok := own[name]
	if !ok {
		return samplers.New(name, params)
	}
	s := fresh()
	if err := s.Info().Set(s, params); err != nil {
		return nil, err
	}
	return s, nil
}
