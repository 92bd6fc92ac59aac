// Package targets holds distributions on discrete spaces whose truth is known,
// to test and compare samplers on: factorised categorical and Bernoulli
// distributions, Ising and Potts models, restricted Boltzmann machines, factorial
// hidden Markov models, the Gaussian–Bernoulli model, Bayesian logistic regression
// for variable selection, and grids of modes, round and pointed. Exact answers come
// from enumeration (Enumerate), from transfer matrices (Ising, FHMM), from sums over
// hidden units (RBM) or from a closed form (Categorical). RBM has a sampler of
// its own besides, RBMGibbs.
//
// All targets are safe for concurrent use as long as nobody changes their fields. Who learns an RBM
// changes them between steps, and tells the run by Retarget.
package targets
