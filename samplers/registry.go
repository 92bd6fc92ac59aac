package samplers

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// known makes every sampler of this package, in the order of the documentation.
var known = []func() Sampler{
	func() Sampler { return &Gibbs{} },
	func() Sampler { return &GibbsMH{} },
	func() Sampler { return &Rows{} },
	func() Sampler { return &DULA{} },
	func() Sampler { return &DMALA{} },
	func() Sampler { return &GWG{} },
	func() Sampler { return &DLMC{} },
	func() Sampler { return &ACS{} },
	func() Sampler { return &SGDLD{} },
}

// List describes all samplers, in a fixed order.
func List() []Info {
	out := make([]Info, len(known))
	for n, fresh := range known {
		out[n] = fresh().Info()
	}
	return out
}

// Names lists the names of all samplers.
func Names() []string {
	var out []string
	for _, i := range List() {
		out = append(out, i.Name)
	}
	return out
}

// Lookup finds a sampler by name; the error is an ErrUnknown that suggests the nearest name.
func Lookup(name string) (Info, error) {
	s, err := find(name)
	if err != nil {
		return Info{}, err
	}
	return s.Info(), nil
}

// find makes the named sampler with the default of every parameter.
func find(name string) (Sampler, error) {
	for _, fresh := range known {
		if s := fresh(); s.Info().Name == name {
			return s, nil
		}
	}
	err := unknown("sampler", name, Names())
	if slices.Contains(elsewhere, name) {
		err.Remedy = "it is in the laboratory of the repository now: bin/lab compare has it"
	}
	return nil, err
}

// elsewhere are samplers that this package had.
var elsewhere = []string{"ab", "block-gibbs", "exact-gibbs", "hb", "lb1", "pas", "rwm"}

// New makes the named sampler. Values of parameters are strings. Those not named keep
// their defaults. Errors: ErrUnknown for a sampler, parameter or word, *ParamError for a value out
// of range.
func New(name string, params map[string]string) (Sampler, error) {
	s, err := find(name)
	if err != nil {
		return nil, err
	}
	if err := s.Info().Set(s, params); err != nil {
		return nil, err
	}
	return s, nil
}

// Set gives s, the sampler that i describes, the values of its parameters, as New does.
func (i Info) Set(s Sampler, params map[string]string) error {
	for _, n := range slices.Sorted(maps.Keys(params)) { // the same error every time
		p, err := i.Param(n)
		if err != nil {
			return err
		}
		v, err := p.parse(i.Name, params[n])
		if err != nil {
			return err
		}
		p.Set(s, v)
	}
	return nil
}

// Param finds a parameter by name; the error is an ErrUnknown.
func (i Info) Param(name string) (Param, error) {
	known := make([]string, len(i.Params))
	for j, p := range i.Params {
		if p.Name == name {
			return p, nil
		}
		known[j] = p.Name
	}
	err := unknown("parameter of "+i.Name, name, known)
	for _, other := range List() {
		if slices.ContainsFunc(other.Params, func(p Param) bool { return p.Name == name }) {
			err.Having = append(err.Having, other.Name)
		}
	}
	if len(err.Having) > 0 {
		err.Suggestion = "" // the name is right, and the sampler is another
	}
	return Param{}, err
}

// ParseSpec splits "name:parameter=value:parameter=value" into a name and its parameters,
// as New takes them. A comma may stand for a colon between parameters. Spaces around names and
// values do not count. The error is an ErrParam.
func ParseSpec(spec string) (name string, params map[string]string, err error) {
	name, rest, found := strings.Cut(spec, ":")
	params = map[string]string{}
	if !found {
		return strings.TrimSpace(name), params, nil
	}
	for _, kv := range strings.Split(strings.ReplaceAll(rest, ",", ":"), ":") {
		k, v, ok := strings.Cut(kv, "=")
		k = strings.TrimSpace(k)
		if !ok || k == "" {
			return "", nil, fmt.Errorf("%w: %q of %q: want NAME=VALUE", ErrParam, kv, spec)
		}
		if _, twice := params[k]; twice {
			return "", nil, fmt.Errorf("%w: %s is given twice in %q", ErrParam, k, spec)
		}
		params[k] = strings.TrimSpace(v)
	}
	return strings.TrimSpace(name), params, nil
}

// Info describes a sampler.
type Info struct {
	Name      string
	Title     string
	Doc       string // one or two sentences
	Exact     bool   // it leaves π invariant
	Corrected bool   // an acceptance test decides about every proposal; others take every draw
	Needs     []Need // what a target must give; none says that it is not known
	Cost      string // per step
	Params    []Param
}

// Need is something that a target must give a sampler, by the interface named.
type Need uint8

const (
	NeedEnergies            Need = iota // Target
	NeedGradients                       // Gradienter
	NeedConditionals                    // Conditioner
	NeedRows                            // Conditioner, better a RowConditioner
	needStochasticGradients             // StochasticGradienter
	needEstimates                       // StochasticGradienter or RatioEstimator
)

var needText = []string{
	NeedEnergies:            "energies",
	NeedGradients:           "gradients",
	NeedConditionals:        "conditionals",
	NeedRows:                "conditionals of all coordinates",
	needStochasticGradients: "stochastic gradients",
	needEstimates:           "stochastic gradients or ratios of neighbours from mini-batches",
}

// String says what is needed in words.
func (n Need) String() string {
	if int(n) < len(needText) {
		return needText[n]
	}
	return "something unknown"
}
