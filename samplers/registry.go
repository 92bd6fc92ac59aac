package samplers

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// A registry makes samplers by name, in the order of the documentation.
type registry struct {
	mu    sync.RWMutex
	infos []Info
	make  []func() Sampler
}

// known has every sampler of this package, and those that were registered.
var known = newRegistry(
	func() Sampler { return &Gibbs{} },
	func() Sampler { return &GibbsMH{} },
	func() Sampler { return &Rows{} },
	func() Sampler { return &DULA{} },
	func() Sampler { return &DMALA{} },
	func() Sampler { return &RWM{} },
	func() Sampler { return &GWG{} },
	func() Sampler { return &PAS{} },
	func() Sampler { return &DLMC{} },
	func() Sampler { return &DLMCf{} },
	func() Sampler { return &AB{} },
	func() Sampler { return &ACS{} },
	func() Sampler { return &ExactGibbs{} },
	func() Sampler { return &BlockGibbs{} },
	func() Sampler { return &HammingBall{} },
	func() Sampler { return &LB1{} },
	func() Sampler { return &SGDLD{} },
)

func newRegistry(all ...func() Sampler) *registry {
	r := &registry{make: all}
	for _, f := range all {
		r.infos = append(r.infos, f().Info())
	}
	return r
}

// Register adds a sampler to those that New, List, Names and Lookup know. A program calls it before
// it reads settings. make returns a new sampler with the default of every parameter. The error is
// an ErrParam for a name that is missing, taken, or has a colon, comma, equals sign or space.
func Register(make func() Sampler) error { return known.register(make) }

func (r *registry) register(make func() Sampler) error {
	var s Sampler
	if make != nil {
		s = make()
	}
	if isNil(s) {
		return fmt.Errorf("%w: no sampler to register; give a function that makes one", ErrParam)
	}
	info := s.Info()
	if err := usable("sampler", info.Name); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, p := range info.Params {
		if err := usable("parameter of "+info.Name, p.Name); err != nil {
			return err
		}
		if seen[p.Name] || p.Set == nil {
			return fmt.Errorf("%w: sampler %s has the parameter %s twice, or without Set", ErrParam,
				info.Name, p.Name)
		}
		seen[p.Name] = true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, other := range r.infos {
		if other.Name == info.Name {
			return fmt.Errorf("%w: there is a sampler %s already; give this one another name", ErrParam,
				info.Name)
		}
	}
	r.infos, r.make = append(r.infos, info), append(r.make, make)
	return nil
}

// usable refuses names that what ParseSpec reads cannot hold.
func usable(what, name string) error {
	if name == "" || strings.ContainsFunc(name, func(c rune) bool {
		return unicode.IsSpace(c) || strings.ContainsRune(":,=", c)
	}) {
		return fmt.Errorf("%w: %s %q; a name has no colon, comma, equals sign or space", ErrParam, what,
			name)
	}
	return nil
}

// List describes all samplers, in a fixed order.
func List() []Info { return known.list() }

func (r *registry) list() []Info {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Clone(r.infos)
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
	info, _, err := known.find(name)
	return info, err
}

func (r *registry) find(name string) (Info, func() Sampler, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	names := make([]string, len(r.infos))
	for n, i := range r.infos {
		if i.Name == name {
			return i, r.make[n], nil
		}
		names[n] = i.Name
	}
	return Info{}, nil, unknown("sampler", name, names)
}

// New makes the named sampler. Values of parameters are strings. Those not named keep
// their defaults. Errors: ErrUnknown for a sampler, parameter or word, *ParamError for a value out
// of range.
func New(name string, params map[string]string) (Sampler, error) {
	info, fresh, err := known.find(name)
	if err != nil {
		return nil, err
	}
	s := fresh()
	for _, n := range slices.Sorted(maps.Keys(params)) { // the same error every time
		p, err := info.Param(n)
		if err != nil {
			return nil, err
		}
		v, err := p.parse(name, params[n])
		if err != nil {
			return nil, err
		}
		p.Set(s, v)
	}
	return s, nil
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
