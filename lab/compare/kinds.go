package compare

import (
	"context"

	"infill/lab/papers"
	"infill/lab/targets"
)

// kinds are the families of problems, in the order of their description.
var kinds = []kind{
	{"ising", "Ising model, every edge counted twice", []setting{
		count("rows", 5, 1, "of the grid"), count("cols", 5, 1, "of the grid"), oneOrNone("periodic", 1,
			"1 for joined ends"),
		oneOrNone("spins", 0, "1 for {-1,1} in place of {0,1}"), real("a", 0.1, -maxSetting,
			"coupling"), real("b", 0.2, -maxSetting, "field"),
	}, makeIsing},
	{"potts", "Potts model", []setting{
		count("rows", 2, 1, "of the grid"), count("cols", 3, 1, "of the grid"), oneOrNone("periodic", 0,
			"1 for joined ends"),
		count("k", 4, 2, "categories"), real("a", 0.8, -maxSetting, "coupling"), seed("of the fields"),
	}, makePotts},
	{"bernoulli", "factorised Bernoulli, log-odds from N(0, sd²)", []setting{
		count("d", 200, 1, "coordinates"), real("sd", 1.5, 0, "standard deviation"),
		oneOrNone("spins", 0, "1 for {-1,1} in place of {0,1}"), seed("of the log-odds"),
	}, makeBernoulli},
	{"categorical", "factorised categorical, log-weights from N(0, sd²)", []setting{
		count("d", 200, 1, "coordinates"), count("k", 4, 1, "categories"), real("sd", 1.5, 0,
			"standard deviation"), seed("of the weights"),
	}, makeCategorical},
	{"rbm", "restricted Boltzmann machine with random weights", []setting{
		count("d", 30, 1, "visible units"), count("k", 2, 2, "categories; 2 is binary"), count("h", 10,
			1, "hidden units"),
		real("sd", 0.8, 0, "standard deviation of the weights"), seed("of the weights"),
	}, makeRBM},
	{"fhmm", "factorial hidden Markov model", []setting{
		count("length", 50, 1, "time steps"), count("chains", 4, 1, "hidden chains"), count("k", 2, 2,
			"states of a chain"),
		real("start", 0.9, 0, "probability that a chain begins in state 0"), real("stay", 0.8, 0,
			"probability that a chain keeps its state"),
		real("sigma", 2, 0, "noise"), seed("of the data"),
	}, makeFHMM},
	{"gaussbern", "Gaussian-Bernoulli model, ones on the diagonal", []setting{
		{"d", 4, "coordinates", 1, 1000, true}, real("w", 0.5, -maxSetting, "off-diagonal weight"),
		oneOrNone("conditional", 0,
			"1: sgdld draws the auxiliary variable given the state, for more than "+
				"20 coordinates"),
	}, makeGaussBern},
	{"logreg", "variable selection in logistic regression", []setting{
		count("n", 100, 1, "observations"), count("d", 12, 1, "features"), real("prior", 0.3, 0,
			"prior probability of a feature"), seed("of the data"),
	}, makeLogReg},
	{"selection", "variable selection with every column twice, of SGDLD's paper", []setting{
		count("n", 1000, 1, "observations"), count("d", 5, 1, "columns, without their copies"),
		seed("of the data"),
	}, makeSelection},
	{"modes", "grid of round modes on two ordinal coordinates", []setting{
		count("n", 3, 1, "modes a side"), count("spacing", 12, 1, "distance of modes"), real("sigma", 2,
			0, "width of a mode"), uneven, seed("of the weights"),
	}, makeModes},
	{"peaks", "grid of pointed modes on two ordinal coordinates, the toy of ACS", []setting{
		count("n", 5, 1, "modes a side"), count("spacing", 75, 1, "distance of modes"), real("width",
			3.75, 0, "width of a mode"),
		real("floor", 1e-10, 0, "density between modes"), uneven, seed("of the weights"),
	}, makePeaks},
}

var uneven = oneOrNone("uneven", 0, "1 for modes of different weights, 0.2 + Exp(1) each")

func makeIsing(v values) (*Problem, error) {
	t, err := targets.NewIsing(v.n("rows"), v.n("cols"), v.on("periodic"), v["a"], []float64{v["b"]},
		v.on("spins"))
	if err != nil {
		return nil, err
	}
	p := &Problem{Target: t}
	if _, mean, err := t.Exact(); err == nil {
		for _, m := range mean {
			p.Marginal = append(p.Marginal, (1-m)/2, (1+m)/2)
		}
		p.Source = "transfer matrices"
	}
	return p, nil
}

func makePotts(v values) (*Problem, error) {
	rng := v.rng(1)
	field := make([]float64, v.n("k"))
	for i := range field {
		field[i] = 0.5 * rng.NormFloat64()
	}
	t, err := targets.NewPotts(v.n("rows"), v.n("cols"), v.n("k"), v.on("periodic"), v["a"], field)
	if err != nil {
		return nil, err
	}
	return enumerated(t), nil
}

func makeBernoulli(v values) (*Problem, error) {
	rng := v.rng(1)
	theta := make([]float64, v.n("d"))
	for i := range theta {
		theta[i] = v["sd"] * rng.NormFloat64()
	}
	t, err := targets.NewBernoulli(theta, v.on("spins"))
	if err != nil {
		return nil, err
	}
	p := &Problem{Target: t, Source: "closed form"}
	for i := range theta {
		p.Marginal = append(p.Marginal, 1-t.Mean(i), t.Mean(i))
	}
	return p, nil
}

func makeCategorical(v values) (*Problem, error) {
	t, theta, err := randomCategorical(v.n("d"), v.n("k"), v["sd"], uint64(v["seed"]))
	if err != nil {
		return nil, err
	}
	p := &Problem{Target: t, Source: "closed form"}
	for _, row := range theta {
		p.Marginal = append(p.Marginal, softmax(row)...)
	}
	return p, nil
}

func makeRBM(v values) (*Problem, error) {
	t, err := papers.NewRBM(v.n("d"), v.n("k"), v.n("h"), v.n("k") == 2)
	if err != nil {
		return nil, err
	}
	t.Randomise(v.rng(1), v["sd"], 0.3)
	p := &Problem{Target: t}
	if m, err := t.Marginals(); err == nil {
		p.Marginal, p.Source = m, "sum over hidden states"
	}
	return p, nil
}

func makeFHMM(v values) (*Problem, error) {
	t, err := papers.NewFHMM(v.rng(1), v.n("length"), v.n("chains"), v.n("k"), v["start"], v["stay"],
		v["sigma"])
	if err != nil {
		return nil, err
	}
	p := &Problem{Target: t}
	if _, m, err := t.Exact(); err == nil {
		p.Marginal, p.Source = m, "forward-backward recursion"
	}
	return p, nil
}

func makeGaussBern(v values) (*Problem, error) {
	d := v.n("d")
	w, b := make([]float64, d*d), make([]float64, d)
	for i := range w {
		w[i] = v["w"]
		if i%(d+1) == 0 {
			w[i] = 1
		}
		b[i/d] -= 0.5 * w[i]
	}
	t, err := targets.NewGaussianBernoulli(w, b)
	if err != nil {
		return nil, err
	}
	if v.on("conditional") {
		t.Estimator = targets.Conditional
	}
	return enumerated(t), nil
}

func makeLogReg(v values) (*Problem, error) {
	t, err := targets.NewLogReg(v.rng(1), v.n("n"), v.n("d"), v["prior"])
	if err != nil {
		return nil, err
	}
	return enumerated(t), nil
}

func makeSelection(v values) (*Problem, error) {
	t, err := papers.NewSelection(v.rng(1), v.n("n"), v.n("d"))
	if err != nil {
		return nil, err
	}
	p := &Problem{Target: t}
	m, err := t.Marginals(context.Background())
	if err != nil {
		return p, nil // too large: no truth
	}
	for _, q := range m {
		p.Marginal = append(p.Marginal, 1-q, q)
	}
	p.Source = "sums over 3^d sums"
	return p, nil
}

// weights are the weights of the modes of an uneven grid, nil for equal ones.
func (v values) weights() []float64 {
	if !v.on("uneven") || v.n("n") > 1<<10 { // the target refuses them
		return nil
	}
	rng := v.rng(2)
	out := make([]float64, v.n("n")*v.n("n"))
	for j := range out {
		out[j] = 0.2 + rng.ExpFloat64()
	}
	return out
}

func makeModes(v values) (*Problem, error) {
	t, err := targets.NewModes(v.n("n"), v.n("spacing"), v["sigma"], v.weights())
	if err != nil {
		return nil, err
	}
	return enumerated(t), nil
}

func makePeaks(v values) (*Problem, error) {
	t, err := papers.NewPeaks(v.n("n"), v.n("spacing"), v["width"], v["floor"], v.weights())
	if err != nil {
		return nil, err
	}
	return enumerated(t), nil
}
