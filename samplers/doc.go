// Package samplers draws from unnormalised distributions on discrete spaces
//
//	π(θ) ∝ exp(U(θ)),  θ ∈ Θ = Π_i {0..K_i−1}
//
// with the gradient-based samplers of the literature and the classical ones
// they are compared with. A target supplies energies (and, for most samplers,
// gradients) for a batch of states. A sampler is a plain struct whose zero
// value is ready to use. Start joins the two and several chains.
//
//	run, err := samplers.Start(ctx, &samplers.DMALA{}, target, x0,
//		samplers.Options{Seed: 1, Burnin: 100})
//	if err != nil { … }
//	err = run.Sample(ctx, 1000, func(r *samplers.Run) error {
//		use(r.X[0], r.U[0])
//		return nil
//	})
//
// Sample makes the burn-in first, in which step sizes and the like are adapted.
// Its states are not draws of π, and visits do not see them.
//
// # States, energies, gradients
//
// A state is a []int32 of category indices, one per coordinate, whatever the
// kind of the coordinate. A coordinate's kind says what the categories mean:
// Nominal (one-hot, no order), Binary (two values) or Ordinal (evenly spaced
// numbers). The gradient of U is flat; a nominal coordinate owns K_i
// consecutive entries (the gradient of the multilinear one-hot extension) and
// a binary or ordinal one owns a single entry, dU/dvalue. Domain.GradOffset
// gives the place. Throughout the package
//
//	Δ_i(v) = ∇U_i[v] − ∇U_i[θ_i]              nominal
//	Δ_i(v) = ∇U_i·(value(v) − value(θ_i))     binary, ordinal
//
// is the first-order estimate of U(θ with θ_i=v) − U(θ), and the squared
// distance of a move is 2 for a nominal coordinate (one-hot vectors) and
// (value(v) − value(θ_i))² otherwise.
//
// # Chains
//
// All chains of a step go to the target in one call, so that a target that is
// a neural network sees one batch. A chain's result depends on the target, on
// its start, on its own random stream (NewStream) and on the sampler's
// parameters, and on nothing else: step sizes and the like are adapted per
// chain. The same chain therefore comes out the same alone or among others.
//
// # Learning a target
//
// A target may change between the steps of a run: Run.Retarget tells the chains, and Run.Rescale
// does where U was multiplied by a number. The scale of a run of AB or ACS may change, too:
// Run.SetStride sets it, also for steps without the acceptance test, and Run.SearchStep looks for
// one. AIS estimates the normaliser of what was learned. A target that is an Annealer says how.
//
// # Writing a sampler
//
// A Sampler has a Name and an Attach, which returns the Kernel of given chains.
// Most are a Proposal (draw, and say with what probability) that NewMH makes into
// the Metropolis–Hastings kernel. What else a proposal can do it says by further
// small interfaces: Adapter, Starter, Scheduler, Asker, Counter, Keeper, Tuned. A
// kernel of another kind implements Step, and Preparer where its start is special.
// A kernel asks for energies and gradients by Chains.Evaluate. A Describer says what
// the sampler needs and whether it is exact. The example of NewMH is a complete
// sampler, that of Target a complete target.
//
// # Cost
//
// Every Metropolis–Hastings sampler keeps (U, ∇U) of the current state; on
// acceptance the proposal's become current. No state is evaluated twice, but by LB1, which
// asks for all values of every coordinate, and a proposal equal to the current state is
// not evaluated at all. A target for which
// a state is cheap that is near another is a ChainEnergizer: it hears which chain asks,
// and which state that chain is in. Steady-state steps allocate nothing. Stats.Evals
// counts these evaluations. The paper on DLMC counts a step with gradients as four, which
// Info.Calls does.
//
// # Sources
//
// DLP: Zhang, Liu, Liu, "A Langevin-like sampler for discrete distributions",
// ICML 2022. DLMC: Sun et al., "Discrete Langevin samplers via Wasserstein
// gradient flow", AISTATS 2023. GWG: Grathwohl et al., "Oops I took a
// gradient", ICML 2021. PAS: Sun et al., "Path auxiliary proposal for MCMC in
// discrete space", ICLR 2022, and "Optimal scaling for locally balanced
// proposals in discrete spaces", NeurIPS 2022. AB: Sun et al., "Any-scale
// balanced samplers for discrete space", ICLR 2023. ACS: Pynadath et al.,
// "Gradient-based discrete sampling with automatic cyclical scheduling",
// NeurIPS 2024. LB: Zanella, "Informed proposals for local MCMC in discrete
// spaces", JASA 2020. HB: Titsias, Yau, "The Hamming ball sampler", JASA 2017.
// Gibbs: Geman, Geman, "Stochastic relaxation, Gibbs distributions, and the
// Bayesian restoration of images", IEEE PAMI 1984; in blocks: Jensen, Kong,
// Kjærulff, "Blocking Gibbs sampling in very large probabilistic expert systems",
// 1995. Gibbs–MH: Hastings, Biometrika 1970; Goyal, Dyer, Berg-Kirkpatrick,
// "Exposing the implicit energy networks behind masked language models via
// Metropolis–Hastings", ICLR 2022. Rows has no paper: its comment derives it.
// RWM: Metropolis et al. 1953. SGDLD: "Stochastic gradient discrete Langevin
// dynamics", anonymous authors, under double-blind review. DISCS: Goshvadi et
// al., NeurIPS 2023. W&C: Wang, Cho, "BERT has a mouth, and it must speak",
// 2019.
package samplers
