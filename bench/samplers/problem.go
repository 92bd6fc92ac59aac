// Package samplerbench compares samplers on targets whose truth is known: error
// against truth, effective sample size per evaluation and per second,
// acceptance and jump distance, as a table and as an SVG chart.
package samplerbench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"infill/samplers"
	"infill/samplers/targets"
)

// ErrSpec marks a target or sampler that is written wrongly.
var ErrSpec = errors.New("bad specification")

// Problem is a target and, where it is known, its truth.
type Problem struct {
	Name   string
	Target samplers.Target
	// Marginal holds P(θ_i = v) for all i and v in turn; nil when unknown.
	Marginal []float64
	Source   string // how the truth was found
}

// setting is one number of a problem's specification.
type setting struct {
	name string
	def  float64
	doc  string
}

// kind is a family of problems.
type kind struct {
	name, doc string
	settings  []setting
	make      func(v map[string]float64) (*Problem, error)
}

// maxSetting bounds the numbers of a specification.
const maxSetting = 1e6

func n(v map[string]float64, name string) int { return int(v[name]) }

var kinds = []kind{
	{"ising", "Ising model, every edge counted twice", []setting{
		{"rows", 5, "rows"}, {"cols", 5, "columns"}, {"periodic", 1, "1 for periodic boundaries"},
		{"a", 0.1, "coupling"}, {"b", 0.2, "field"},
	}, func(v map[string]float64) (*Problem, error) {
		t, err := targets.NewIsing(n(v, "rows"), n(v, "cols"), v["periodic"] != 0, v["a"], []float64{v["b"]}, false)
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
	}},
	{"potts", "Potts model, open boundaries", []setting{
		{"rows", 2, "rows"}, {"cols", 3, "columns"}, {"k", 4, "categories"}, {"a", 0.8, "coupling"}, {"seed", 1, "seed of the fields"},
	}, func(v map[string]float64) (*Problem, error) {
		k := n(v, "k")
		rng := rand.New(rand.NewPCG(uint64(v["seed"]), 1))
		field := make([]float64, max(k, 0))
		for i := range field {
			field[i] = 0.5 * rng.NormFloat64()
		}
		t, err := targets.NewPotts(n(v, "rows"), n(v, "cols"), k, false, v["a"], field)
		if err != nil {
			return nil, err
		}
		return enumerated(t), nil
	}},
	{"categorical", "factorised categorical, log-weights from N(0, sd²)", []setting{
		{"d", 200, "coordinates"}, {"k", 4, "categories"}, {"sd", 1.5, "standard deviation"}, {"seed", 1, "seed of the weights"},
	}, func(v map[string]float64) (*Problem, error) {
		t, theta, err := randomCategorical(n(v, "d"), n(v, "k"), v["sd"], uint64(v["seed"]))
		if err != nil {
			return nil, err
		}
		p := &Problem{Target: t, Source: "closed form"}
		for _, row := range theta {
			p.Marginal = append(p.Marginal, softmax(row)...)
		}
		return p, nil
	}},
	{"rbm", "restricted Boltzmann machine with random weights", []setting{
		{"d", 30, "visible units"}, {"k", 2, "categories; 2 is binary"}, {"h", 10, "hidden units"}, {"sd", 0.8, "standard deviation of the weights"}, {"seed", 1, "seed of the weights"},
	}, func(v map[string]float64) (*Problem, error) {
		t, err := targets.NewRBM(n(v, "d"), n(v, "k"), n(v, "h"), v["k"] == 2)
		if err != nil {
			return nil, err
		}
		t.Randomise(rand.New(rand.NewPCG(uint64(v["seed"]), 1)), v["sd"], 0.3)
		p := &Problem{Target: t}
		if m, err := t.Marginals(); err == nil {
			p.Marginal, p.Source = m, "sum over hidden states"
		}
		return p, nil
	}},
	{"fhmm", "factorial hidden Markov model", []setting{
		{"length", 50, "time steps"}, {"chains", 4, "chains"}, {"sigma", 0.5, "noise"}, {"seed", 1, "seed of the data"},
	}, func(v map[string]float64) (*Problem, error) {
		t, err := targets.NewFHMM(rand.New(rand.NewPCG(uint64(v["seed"]), 1)), n(v, "length"), n(v, "chains"), 0.1, 0.95, v["sigma"])
		if err != nil {
			return nil, err
		}
		p := &Problem{Target: t}
		if _, m, err := t.Exact(); err == nil {
			for _, q := range m {
				p.Marginal = append(p.Marginal, 1-q, q)
			}
			p.Source = "forward-backward recursion"
		}
		return p, nil
	}},
	{"gaussbern", "Gaussian-Bernoulli model, ones on the diagonal", []setting{
		{"d", 4, "coordinates"}, {"w", 0.5, "off-diagonal weight"},
	}, func(v map[string]float64) (*Problem, error) {
		d := n(v, "d")
		if d < 1 || d > 1000 {
			return nil, fmt.Errorf("%w: d=%d, want 1 to 1000", ErrSpec, d)
		}
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
		return enumerated(t), nil
	}},
	{"logreg", "variable selection in logistic regression", []setting{
		{"n", 100, "observations"}, {"d", 12, "features"}, {"prior", 0.3, "prior probability of a feature"}, {"seed", 1, "seed of the data"},
	}, func(v map[string]float64) (*Problem, error) {
		t, err := targets.NewLogReg(rand.New(rand.NewPCG(uint64(v["seed"]), 1)), n(v, "n"), n(v, "d"), v["prior"])
		if err != nil {
			return nil, err
		}
		return enumerated(t), nil
	}},
	{"modes", "grid of modes on two ordinal coordinates", []setting{
		{"n", 3, "modes a side"}, {"spacing", 12, "distance of modes"}, {"sigma", 2, "width of a mode"},
	}, func(v map[string]float64) (*Problem, error) {
		t, err := targets.NewModes(n(v, "n"), n(v, "spacing"), v["sigma"], nil)
		if err != nil {
			return nil, err
		}
		return enumerated(t), nil
	}},
}

// enumerated adds the truth by enumeration where the target is small enough.
func enumerated(t samplers.Target) *Problem {
	p := &Problem{Target: t}
	e, err := targets.Enumerate(context.Background(), t)
	if err != nil {
		return p // too large: no truth
	}
	for i := range t.Domain().Len() {
		p.Marginal = append(p.Marginal, e.Marginal(i)...)
	}
	p.Source = "enumeration"
	return p
}

// Describe lists the problems with their settings, a line each.
func Describe() []string {
	out := make([]string, len(kinds))
	for i, k := range kinds {
		parts := make([]string, len(k.settings))
		for j, s := range k.settings {
			parts[j] = fmt.Sprintf("%s=%g", s.name, s.def)
		}
		out[i] = fmt.Sprintf("%s:%s  %s", k.name, strings.Join(parts, ","), k.doc)
	}
	return out
}

// ProblemNames lists the kinds of problems.
func ProblemNames() []string {
	out := make([]string, len(kinds))
	for i, k := range kinds {
		out[i] = k.name
	}
	return out
}

// ParseProblem makes a problem from "kind" or "kind:name=value,…"; settings
// that are left out keep the values that Describe shows. Errors wrap ErrSpec.
func ParseProblem(spec string) (*Problem, error) {
	name, params, err := parseSpec(spec)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if i < 0 {
		return nil, fmt.Errorf("%w: unknown target %q; known: %s", ErrSpec, name, strings.Join(ProblemNames(), ", "))
	}
	k := kinds[i]
	v := map[string]float64{}
	for _, s := range k.settings {
		v[s.name] = s.def
	}
	for p, text := range params {
		if _, ok := v[p]; !ok {
			return nil, fmt.Errorf("%w: target %s has no setting %q; it is %s", ErrSpec, name, p, Describe()[i])
		}
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || !(f >= -maxSetting && f <= maxSetting) {
			return nil, fmt.Errorf("%w: target %s: %s is %q, want a number between -1e6 and 1e6", ErrSpec, name, p, text)
		}
		v[p] = f
	}
	p, err := k.make(v)
	if err != nil {
		return nil, fmt.Errorf("%w: target %s: %w", ErrSpec, spec, err)
	}
	p.Name = spec
	return p, nil
}

// parseSpec splits "name:key=value,key=value".
func parseSpec(spec string) (name string, params map[string]string, err error) {
	name, rest, found := strings.Cut(strings.TrimSpace(spec), ":")
	params = map[string]string{}
	if !found {
		return name, params, nil
	}
	for _, kv := range strings.Split(rest, ",") {
		k, val, ok := strings.Cut(kv, "=")
		k = strings.TrimSpace(k)
		if !ok || k == "" {
			return "", nil, fmt.Errorf("%w: %q in %q is not name=value", ErrSpec, kv, spec)
		}
		if _, dup := params[k]; dup {
			return "", nil, fmt.Errorf("%w: %s is given twice in %q", ErrSpec, k, spec)
		}
		params[k] = strings.TrimSpace(val)
	}
	return name, params, nil
}

// Entry is a sampler of a comparison.
type Entry struct {
	Label   string // as it was written
	Sampler samplers.Sampler
}

// ParseEntry makes a sampler from "name" or "name:param=value,…".
func ParseEntry(spec string) (Entry, error) {
	name, params, err := parseSpec(spec)
	if err != nil {
		return Entry{}, err
	}
	s, err := samplers.New(name, params)
	if err != nil {
		return Entry{}, err
	}
	return Entry{Label: strings.TrimSpace(spec), Sampler: s}, nil
}
