// Package targets holds distributions on discrete spaces whose truth is known, to test and compare
// samplers on: factorised categorical and Bernoulli distributions, Ising and Potts models, the
// Gaussian–Bernoulli model, Bayesian logistic regression for variable selection, and grids of
// round modes. The tests of this folder draw from them with the samplers of the program. Exact
// answers come from enumeration (Enumerate), from transfer matrices (Ising), or from a closed form
// (Categorical).
//
// All targets are safe for concurrent use as long as nobody changes their fields.
package targets
