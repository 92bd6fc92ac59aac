package samplers

import "math"

var inf = math.Inf(1)

// The parameters that several samplers share. set is given by each.

func stepParam(set func(Sampler, float64)) Param {
	return Param{
		Name: "step-size", Default: "auto", Min: 0, OpenMin: true, Max: inf, Auto: true,
		Doc: "step size α; auto adapts it in the burn-in",
		set: func(s Sampler, v value) { set(s, v.f) },
	}
}

func balanceParam(set func(Sampler, Balance)) Param {
	return Param{
		Name: "balance", Default: "sqrt", Choices: BalanceNames,
		Doc: "balancing function g",
		set: func(s Sampler, v value) { set(s, Balance(v.word)) },
	}
}

func acceptParam(def string, set func(Sampler, float64)) Param {
	return Param{
		Name: "target-acceptance", Default: def, Min: 0, OpenMin: true, Max: 0.999,
		Doc: "acceptance rate that automatic values are adapted to",
		set: func(s Sampler, v value) { set(s, v.f) },
	}
}

func scanParam(set func(Sampler, Scan)) Param {
	return Param{
		Name: "scan", Default: "random", Choices: ScanNames,
		Doc: "order in which coordinates are visited",
		set: func(s Sampler, v value) { set(s, Scan(v.word)) },
	}
}

// registry describes every sampler, in the order of the documentation.
var registry = []Info{
	{
		Name: "gibbs", Title: "Masked-conditional Gibbs", Exact: false,
		Doc:   "resamples one coordinate from the model's masked conditional (Wang and Cho 2019); not exact, because masked conditionals belong to no joint distribution",
		Needs: "conditionals", Cost: "1 conditional",
		Params: []Param{scanParam(func(s Sampler, v Scan) { s.(*Gibbs).Scan = v })},
		make:   func() Sampler { return &Gibbs{} },
	},
	{
		Name: "gibbs-mh", Title: "Masked-conditional Gibbs, corrected", Exact: true,
		Doc:   "the draw of gibbs with a Metropolis–Hastings correction",
		Needs: "conditionals, energies", Cost: "1 conditional and 1 energy",
		Params: []Param{scanParam(func(s Sampler, v Scan) { s.(*GibbsMH).Scan = v })},
		make:   func() Sampler { return &GibbsMH{} },
	},
	{
		Name: "dula", Title: "Discrete unadjusted Langevin", Exact: false,
		Doc:   "moves all coordinates at once along the gradient, without correction; the bias vanishes as the step size does (DLP 2022)",
		Needs: "gradients", Cost: "1 energy and gradient",
		Params: []Param{
			stepParam(func(s Sampler, v float64) { s.(*DULA).StepSize = v }),
			balanceParam(func(s Sampler, v Balance) { s.(*DULA).Balance = v }),
			acceptParam("0.574", func(s Sampler, v float64) { s.(*DULA).TargetAcceptance = v }),
		},
		make: func() Sampler { return &DULA{} },
	},
	{
		Name: "dmala", Title: "Discrete Metropolis-adjusted Langevin", Exact: true,
		Doc:   "moves all coordinates at once along the gradient, with a Metropolis–Hastings correction (DLP 2022)",
		Needs: "gradients", Cost: "1 energy and gradient",
		Params: []Param{
			stepParam(func(s Sampler, v float64) { s.(*DMALA).StepSize = v }),
			balanceParam(func(s Sampler, v Balance) { s.(*DMALA).Balance = v }),
			acceptParam("0.574", func(s Sampler, v float64) { s.(*DMALA).TargetAcceptance = v }),
		},
		make: func() Sampler { return &DMALA{} },
	},
}
