// Package papers holds targets of the papers that the lab repeats, with their exact answers:
// restricted Boltzmann machines and their block Gibbs sampler, factorial hidden Markov models,
// grids of peaks, and the selection of variables. Package infill/lab/targets has the others.
//
// All targets are safe for concurrent use as long as nobody changes their fields. Who learns an RBM
// changes them between steps, and tells the run by Retarget.
package papers
