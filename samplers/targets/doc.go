// Package targets holds distributions on discrete spaces whose truth is known,
// to test and compare samplers on: factorised categorical and Bernoulli
// distributions, Ising and Potts models, restricted Boltzmann machines, factorial
// hidden Markov models, the Gaussian–Bernoulli model, Bayesian logistic regression
// for variable selection, and grids of modes, round and pointed. Exact answers come
// from enumeration (Enumerate), from transfer matrices (Ising, FHMM), from sums over
// hidden units (RBM) or from a closed form (Categorical). RBM has a block Gibbs
// sampler besides.
//
// All targets are immutable once made and safe for concurrent use, except that
// the PCD trainer changes its RBM.
package targets
