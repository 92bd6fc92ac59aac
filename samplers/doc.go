// Package samplers draws from unnormalised distributions on discrete spaces
//
//	π(θ) ∝ exp(U(θ)),  θ ∈ Θ = Π_i {0..K_i−1}
//
// with the gradient-based samplers of the literature and the classical ones. A target supplies
// energies (and, for most samplers, gradients) for a batch of states. A sampler is a plain struct
// whose zero value is ready to use. Start joins the two and several chains.
//
//	run, err := samplers.Start(ctx, &samplers.DMALA{}, target, x0,
//		samplers.Options{Seed: 1, Burnin: 100})
//	if err != nil { … }
//	err = run.Sample(ctx, 1000, func(r *samplers.Run) error {
//		use(r.X[0], r.U[0])
//		return nil
//	})
//
// Sample makes the burn-in first, in which step sizes and the like are adapted, unseen by visits.
//
// # States, energies, gradients
//
// A state is a []int32 of category indices, one per coordinate. The kind of a coordinate says what
// they mean: Nominal, Binary or Ordinal. The gradient of U is flat; a nominal coordinate owns K_i
// consecutive entries (the gradient of the multilinear one-hot extension) and another one a single
// entry, dU/dvalue. Throughout the package
//
//	Δ_i(v) = ∇U_i[v] − ∇U_i[θ_i]              nominal
//	Δ_i(v) = ∇U_i·(value(v) − value(θ_i))     binary, ordinal
//
// is the first-order estimate of U(θ with θ_i=v) − U(θ), and the squared distance of a move is 2
// for a nominal coordinate and (value(v) − value(θ_i))² otherwise.
//
// # Chains
//
// All chains of a step go to the target in one call, so that a neural network sees one batch. A
// chain's result depends on the target, its start, its own random stream (NewStream) and the
// sampler's parameters, and on nothing else: step sizes and the like are adapted per chain. A
// target may change between the steps of a run: see Run.Retarget.
//
// # Samplers
//
// All but Gibbs, DULA and SGDLD are exact: they leave π invariant. A step of those with gradients
// costs one evaluation of (U, ∇U), and none where the proposal is the current state, whose values
// are kept. Steady-state steps allocate nothing. A scale that is 0 is automatic: each chain adapts
// it in the burn-in to a mean acceptance probability (Stats.MeanProb) of TargetAcceptance. That is
// 0.574 if it is 0, the optimum for locally balanced proposals (Sun et al., NeurIPS 2022). Gibbs
// samplers visit coordinates at random.
//
// # Abilities
//
// Target, Sampler, Kernel and Proposal are what has to be implemented. Nine interfaces say what
// else a target or a proposal can do:
//
//	Gradienter            a target has gradients
//	Conditioner           … a distribution of one coordinate given the others
//	RowConditioner        … those of all coordinates with the energy
//	StochasticGradienter  … estimates of gradients from mini-batches
//	RatioEstimator        … estimates of the probability ratios of neighbours
//	ChainEnergizer        … energies that are cheap near the state of a chain
//	Adapter               a proposal learns from the burn-in
//	keeper                … keeps something of the present states: Enter, Accepted
//	scheduler             … prepares each step: Schedule
//
// A type that wraps or embeds a target or a proposal passes these on.
//
// # Writing a sampler
//
// A Sampler has an Info, which says what it is, and an Attach, which returns the Kernel of given
// chains. Most are a Proposal that NewMH makes into the Metropolis–Hastings kernel. The example of
// NewMH is a complete sampler.
//
// # Sources
//
// ACS: Pynadath et al., "Gradient-based discrete sampling with automatic cyclical scheduling",
// NeurIPS 2024. DISCS: Goshvadi et al., NeurIPS 2023. DLMC: Sun et al., "Discrete Langevin samplers
// via Wasserstein gradient flow", AISTATS 2023. DLP: Zhang, Liu, Liu, "A Langevin-like sampler for
// discrete distributions", ICML 2022. Gibbs of given conditionals: Wang, Cho, 2019. Corrected:
// Hastings, Biometrika 1970, Goyal, Dyer, Berg-Kirkpatrick, ICLR 2022. GWG: Grathwohl et al., "Oops
// I took a gradient", ICML 2021. Balancing functions: Zanella, "Informed proposals for local MCMC
// in discrete spaces", JASA 2020. Acceptance: Sun et al., "Optimal scaling for locally balanced
// proposals in discrete spaces", NeurIPS 2022. Rows has no paper: its comment derives it. SGDLD:
// "Stochastic gradient discrete Langevin dynamics", anonymous authors, under double-blind review.
package samplers
