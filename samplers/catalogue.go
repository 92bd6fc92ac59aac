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

func timeParam(set func(Sampler, float64)) Param {
	return Param{
		Name: "time", Default: "auto", Min: 0, OpenMin: true, Max: inf, Auto: true,
		Doc: "simulation time h; auto adapts it in the burn-in",
		set: func(s Sampler, v value) { set(s, v.f) },
	}
}

func flipsParam(set func(Sampler, float64)) Param {
	return Param{
		Name: "flips", Default: "auto", Min: 1, Max: inf, Auto: true,
		Doc: "coordinates R that a proposal changes, on average; auto adapts it in the burn-in",
		set: func(s Sampler, v value) { set(s, v.f) },
	}
}

func countParam(name, def string, lo, hi int, doc string, set func(Sampler, int)) Param {
	return Param{
		Name: name, Default: def, Min: float64(lo), Max: float64(hi), Integer: true, Doc: doc,
		set: func(s Sampler, v value) { set(s, int(v.f)) },
	}
}

func preconditionParam(set func(Sampler, []float64)) Param {
	return Param{
		Name: "precondition", Default: "none", Min: 0, OpenMin: true, Max: inf, List: true,
		Doc: "factors of the step size, one per coordinate (on text: per list, per blank, or per token of a blank of several)",
		set: func(s Sampler, v value) { set(s, v.list) },
	}
}

// switchParam is a yes or no; changed is what the other word sets.
func switchParam(name string, def bool, doc string, changed func(Sampler) *bool) Param {
	words := []string{"no", "yes"}
	if def {
		words = []string{"yes", "no"}
	}
	return Param{
		Name: name, Default: words[0], Choices: words, Doc: doc,
		set: func(s Sampler, v value) { *changed(s) = v.word == 1 },
	}
}

func acsParam(name, def string, most float64, doc string, field func(*ACS) *float64) Param {
	return Param{
		Name: name, Default: def, Min: 0, OpenMin: true, Max: most, Auto: def == "auto", Doc: doc,
		set: func(s Sampler, v value) { *field(s.(*ACS)) = v.f },
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
		Needs: "conditionals, energies", Cost: "1 conditional and, when the draw differs, 1 energy (on text 1 row, and then m rows for m tokens)",
		Params: []Param{scanParam(func(s Sampler, v Scan) { s.(*GibbsMH).Scan = v })},
		make:   func() Sampler { return &GibbsMH{} },
	},
	{
		Name: "dula", Title: "Discrete unadjusted Langevin", Exact: false,
		Doc:   "moves all coordinates at once along the gradient, without correction; the bias vanishes as the step size does (DLP 2022)",
		Needs: "gradients", Cost: "1 energy and gradient; with batch b 1 mini-batch (on text 2b rows, instead of m for m tokens)",
		Params: []Param{
			stepParam(func(s Sampler, v float64) { s.(*DULA).StepSize = v }),
			balanceParam(func(s Sampler, v Balance) { s.(*DULA).Balance = v }),
			preconditionParam(func(s Sampler, v []float64) { s.(*DULA).Precondition = v }),
			acceptParam("0.574", func(s Sampler, v float64) { s.(*DULA).TargetAcceptance = v }),
			countParam("batch", "0", 0, maxBatch, "terms per stochastic gradient; 0 for the full gradient; on text at least 2, of all tokens if there are fewer", func(s Sampler, v int) { s.(*DULA).Batch = v }),
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
			preconditionParam(func(s Sampler, v []float64) { s.(*DMALA).Precondition = v }),
			acceptParam("0.574", func(s Sampler, v float64) { s.(*DMALA).TargetAcceptance = v }),
		},
		make: func() Sampler { return &DMALA{} },
	},
	{
		Name: "rwm", Title: "Random-walk Metropolis", Exact: true,
		Doc:   "changes R random coordinates to random values; the baseline without gradients",
		Needs: "energies", Cost: "1 energy",
		Params: []Param{
			flipsParam(func(s Sampler, v float64) { s.(*RWM).Flips = v }),
			acceptParam("0.234", func(s Sampler, v float64) { s.(*RWM).TargetAcceptance = v }),
		},
		make: func() Sampler { return &RWM{} },
	},
	{
		Name: "gwg", Title: "Gibbs with gradients", Exact: true,
		Doc:   "changes one coordinate a step, chosen with its value from one softmax over all changes (Grathwohl et al. 2021); draws above 1 is GWG-X",
		Needs: "gradients", Cost: "1 energy and gradient",
		Params: []Param{
			balanceParam(func(s Sampler, v Balance) { s.(*GWG).Balance = v }),
			{
				Name: "draws", Default: "1", Min: 1, Max: maxDraws, Integer: true, Auto: true,
				Doc: "changes drawn per step, with replacement; auto adapts their number in the burn-in",
				set: func(s Sampler, v value) { s.(*GWG).Draws, s.(*GWG).Adapt = int(v.f), v.f == 0 },
			},
		},
		make: func() Sampler { return &GWG{} },
	},
	{
		Name: "pas", Title: "Path auxiliary sampler", Exact: true,
		Doc:   "changes R different coordinates drawn one after the other by their weights (Sun et al. 2022)",
		Needs: "gradients", Cost: "1 energy and gradient",
		Params: []Param{
			flipsParam(func(s Sampler, v float64) { s.(*PAS).Flips = v }),
			balanceParam(func(s Sampler, v Balance) { s.(*PAS).Balance = v }),
			acceptParam("0.574", func(s Sampler, v float64) { s.(*PAS).TargetAcceptance = v }),
		},
		make: func() Sampler { return &PAS{} },
	},
	{
		Name: "dlmc", Title: "Discrete Langevin Monte Carlo", Exact: true,
		Doc:   "lets each coordinate follow its linearised jump process for a time h (Sun et al. 2023)",
		Needs: "gradients", Cost: "1 energy and gradient",
		Params: []Param{
			timeParam(func(s Sampler, v float64) { s.(*DLMC).Time = v }),
			balanceParam(func(s Sampler, v Balance) { s.(*DLMC).Balance = v }),
			acceptParam("0.574", func(s Sampler, v float64) { s.(*DLMC).TargetAcceptance = v }),
		},
		make: func() Sampler { return &DLMC{} },
	},
	{
		Name: "dlmcf", Title: "Discrete Langevin Monte Carlo, forward Euler", Exact: true,
		Doc:   "the forward-Euler form of dlmc: moves with probability h times the rate (Sun et al. 2023)",
		Needs: "gradients", Cost: "1 energy and gradient",
		Params: []Param{
			timeParam(func(s Sampler, v float64) { s.(*DLMCf).Time = v }),
			balanceParam(func(s Sampler, v Balance) { s.(*DLMCf).Balance = v }),
			acceptParam("0.574", func(s Sampler, v float64) { s.(*DLMCf).TargetAcceptance = v }),
		},
		make: func() Sampler { return &DLMCf{} },
	},
	{
		Name: "ab", Title: "Any-scale balanced sampler", Exact: true,
		Doc:   "parallel moves with step size and balancing exponent tuned to the longest accepted jumps (Sun et al. 2023)",
		Needs: "gradients", Cost: "1 energy and gradient",
		Params: []Param{
			stepParam(func(s Sampler, v float64) { s.(*AB).StepSize = v }),
			{
				Name: "beta", Default: "auto", Min: 0.5, Max: 1, Auto: true,
				Doc: "exponent β of the balancing function; auto tunes it in the burn-in",
				set: func(s Sampler, v value) { s.(*AB).Beta = v.f },
			},
		},
		make: func() Sampler { return &AB{} },
	},
	{
		Name: "acs", Title: "Automatic cyclical sampler", Exact: true,
		Doc:   "step sizes fall along a cosine and jump back each cycle: large ones find modes, small ones explore them (Pynadath et al. 2024); tunes itself in the burn-in",
		Needs: "gradients", Cost: "1 energy and gradient",
		Params: []Param{
			acsParam("alpha-max", "auto", inf, "largest step size", func(s *ACS) *float64 { return &s.AlphaMax }),
			acsParam("alpha-min", "auto", inf, "smallest step size", func(s *ACS) *float64 { return &s.AlphaMin }),
			acsParam("alpha-ceil", "5", inf, "largest step size that tuning tries", func(s *ACS) *float64 { return &s.AlphaCeil }),
			acsParam("alpha-floor", "0.05", inf, "smallest step size that tuning tries", func(s *ACS) *float64 { return &s.AlphaFloor }),
			acsParam("beta-max", "0.95", 1, "largest exponent β", func(s *ACS) *float64 { return &s.BetaMax }),
			acsParam("beta-min", "0.5", 1, "smallest exponent β", func(s *ACS) *float64 { return &s.BetaMin }),
			acsParam("power", "1", inf, "exponent of the cosine: above 1 more of a cycle goes to small steps", func(s *ACS) *float64 { return &s.Power }),
			countParam("cycle", "20", 1, 1_000_000, "steps per cycle", func(s Sampler, v int) { s.(*ACS).Cycle = v }),
			switchParam("fixed-beta", false, "do not tune β: it goes linearly with the step size from beta-min to beta-max", func(s Sampler) *bool { return &s.(*ACS).FixedBeta }),
			acceptParam("0.5", func(s Sampler, v float64) { s.(*ACS).TargetAcceptance = v }),
		},
		make: func() Sampler { return &ACS{} },
	},
	{
		Name: "exact-gibbs", Title: "Gibbs", Exact: true,
		Doc:   "resamples one coordinate from its exact conditional; on text among a fixed set of candidates per blank",
		Needs: "energies of all values of a coordinate", Cost: "1 conditional or K energies",
		Params: []Param{scanParam(func(s Sampler, v Scan) { s.(*ExactGibbs).Scan = v })},
		make:   func() Sampler { return &ExactGibbs{} },
	},
	{
		Name: "block-gibbs", Title: "Block Gibbs", Exact: true,
		Doc:   "resamples a random block of coordinates from its exact joint conditional; on text among a fixed set of candidates per blank",
		Needs: "energies of all values of a block", Cost: "K^block energies",
		Params: []Param{countParam("block", "2", 1, 1000, "coordinates in a block, up to so many: all where there are fewer", func(s Sampler, v int) { s.(*BlockGibbs).Block = v })},
		make:   func() Sampler { return &BlockGibbs{} },
	},
	{
		Name: "hb", Title: "Hamming ball", Exact: true,
		Doc:   "resamples within a Hamming ball around a random neighbour (Titsias and Yau 2017); on text among a fixed set of candidates per blank",
		Needs: "energies of a Hamming ball", Cost: "the ball's size in energies",
		Params: []Param{
			countParam("radius", "1", 1, 64, "radius of the ball", func(s Sampler, v int) { s.(*HammingBall).Radius = v }),
			countParam("block", "10", 1, 1000, "coordinates in a block, up to so many: all where there are fewer", func(s Sampler, v int) { s.(*HammingBall).Block = v }),
		},
		make: func() Sampler { return &HammingBall{} },
	},
	{
		Name: "lb1", Title: "Locally balanced", Exact: true,
		Doc:   "changes one coordinate a step by the exact energies of all neighbours (Zanella 2020); on text among a fixed set of candidates per blank",
		Needs: "energies of all neighbours", Cost: "the sum of K energies",
		Params: []Param{balanceParam(func(s Sampler, v Balance) { s.(*LB1).Balance = v })},
		make:   func() Sampler { return &LB1{} },
	},
	{
		Name: "sgdld", Title: "Stochastic-gradient discrete Langevin dynamics", Exact: false,
		Doc:   "jumps between single-coordinate neighbours with rates from cached mini-batch estimates; exact only in the limit of small jump probabilities, and its states carry weights, by which averages have to be taken; infill fill counts and ranks last states without them",
		Needs: "stochastic gradients", Cost: "1 mini-batch (on text 2b rows for a batch of b)",
		Params: []Param{
			{
				Name: "balance", Default: "ratio", Choices: BalanceNames, Doc: "balancing function g of the rates",
				set: func(s Sampler, v value) {
					s.(*SGDLD).Balance = Balance(v.word)
					s.(*SGDLD).SqrtRates = Balance(v.word) == Sqrt
				},
			},
			{
				Name: "jump", Default: "auto", Min: 0, OpenMin: true, Max: 1, Auto: true,
				Doc: "constant jump probability h; auto is max(3/√(10+t), min-jump)",
				set: func(s Sampler, v value) { s.(*SGDLD).Jump = v.f },
			},
			{
				Name: "min-jump", Default: "0.1", Min: 0, OpenMin: true, Max: 1,
				Doc: "smallest jump probability of the decreasing schedule",
				set: func(s Sampler, v value) { s.(*SGDLD).MinJump = v.f },
			},
			countParam("batch", "1", 1, maxBatch, "terms per estimate; on text at least 2, of all tokens if there are fewer", func(s Sampler, v int) { s.(*SGDLD).Batch = v }),
			switchParam("self", false, "count the state itself among its neighbours, with rate g(1): less bias", func(s Sampler) *bool { return &s.(*SGDLD).Self }),
			switchParam("cache", true, "average the estimates of a state's neighbours until it is left; no: a new mini-batch each step", func(s Sampler) *bool { return &s.(*SGDLD).NoCache }),
		},
		make: func() Sampler { return &SGDLD{} },
	},
}
