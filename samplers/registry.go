package samplers

import "slices"

// registry holds every sampler of this package, in the order of the documentation.
var registry = []Info{
	gibbsInfo,
	gibbsMHInfo,
	rowsInfo,
	dulaInfo,
	dmalaInfo,
	rwmInfo,
	gwgInfo,
	pasInfo,
	dlmcInfo,
	dlmcfInfo,
	abInfo,
	acsInfo,
	exactGibbsInfo,
	blockGibbsInfo,
	hammingBallInfo,
	lb1Info,
	sgdldInfo,
}

// List describes all samplers, in the order of the documentation.
func List() []Info { return slices.Clone(registry) }

// Names lists the names of all samplers.
func Names() []string {
	out := make([]string, len(registry))
	for i, r := range registry {
		out[i] = r.Name
	}
	return out
}

// Lookup finds a sampler by name; the error is an *UnknownError.
func Lookup(name string) (Info, error) {
	for _, r := range registry {
		if r.Name == name {
			return r, nil
		}
	}
	return Info{}, unknown("sampler", name, Names())
}

// New makes the named sampler. Its parameters are texts. Those not named keep
// their defaults. Errors: unknown
// sampler, parameter or word (*UnknownError), value out of range (*ParamError).
func New(name string, params map[string]string) (Sampler, error) {
	info, err := Lookup(name)
	if err != nil {
		return nil, err
	}
	s := info.make()
	names := make([]string, 0, len(params))
	for n := range params {
		names = append(names, n)
	}
	slices.Sort(names) // the same error every time
	for _, n := range names {
		p, err := info.Param(n)
		if err != nil {
			return nil, err
		}
		v, err := p.parse(name, params[n])
		if err != nil {
			return nil, err
		}
		p.set(s, v)
	}
	return s, nil
}

// Param finds a parameter by name; the error is an *UnknownError.
func (i Info) Param(name string) (Param, error) {
	known := make([]string, len(i.Params))
	for j, p := range i.Params {
		if p.Name == name {
			return p, nil
		}
		known[j] = p.Name
	}
	err := unknown("parameter of "+i.Name, name, known)
	for _, other := range registry {
		if slices.ContainsFunc(other.Params, func(p Param) bool { return p.Name == name }) {
			err.Having = append(err.Having, other.Name)
		}
	}
	if len(err.Having) > 0 {
		err.Suggestion = "" // the name is right, and the sampler is another
	}
	return Param{}, err
}
