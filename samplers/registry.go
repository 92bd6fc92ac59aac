package samplers

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Param describes one parameter of a sampler for a user interface.
type Param struct {
	Name    string
	Doc     string
	Default string   // as it would be written
	Min     float64  // smallest and largest allowed number
	Max     float64  // +Inf for no limit
	OpenMin bool     // Min itself is not allowed
	Integer bool     // whole numbers only
	Auto    bool     // "auto" is allowed and stands for 0
	List    bool     // one number per coordinate, with slashes between; "none" is allowed
	Choices []string // allowed words; then Min and Max mean nothing

	set func(s Sampler, v value)
}

// Range says in words what values are allowed.
func (p Param) Range() string {
	if p.Choices != nil {
		return strings.Join(p.Choices, "|")
	}
	kind := "a number"
	if p.Integer {
		kind = "a whole number"
	}
	if p.List {
		kind = "a number for each coordinate, as in 2/1/0.5, each"
	}
	lo, hi := plain(p.Min), plain(p.Max)
	var r string
	switch {
	case math.IsInf(p.Max, 1) && p.OpenMin:
		r = kind + " above " + lo
	case math.IsInf(p.Max, 1):
		r = kind + " from " + lo
	case p.OpenMin:
		r = kind + " above " + lo + ", up to " + hi
	default:
		r = kind + " from " + lo + " to " + hi
	}
	if p.Auto {
		r = "auto or " + r
	}
	if p.List {
		r = "none or " + r
	}
	return r
}

// plain writes a number without an exponent.
func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// value is a parsed parameter.
type value struct {
	f    float64
	word int       // index into Choices
	list []float64 // nil for "none"
}

// parse reads and checks one value.
func (p Param) parse(sampler, s string) (value, error) {
	s = strings.TrimSpace(s)
	if p.Choices != nil {
		if i := slices.Index(p.Choices, s); i >= 0 {
			return value{word: i}, nil
		}
		return value{}, unknown(p.Name+" of "+sampler, s, p.Choices)
	}
	if p.Auto && s == "auto" {
		return value{}, nil
	}
	if !p.List {
		f, ok := p.number(s)
		if !ok {
			return value{}, &ParamError{sampler, p.Name, strconv.Quote(s), p.Range()}
		}
		return value{f: f}, nil
	}
	if s == "none" {
		return value{}, nil
	}
	var v value
	for part := range strings.SplitSeq(s, "/") {
		f, ok := p.number(part)
		if !ok || len(v.list) == maxCategories {
			return value{}, &ParamError{sampler, p.Name, strconv.Quote(shorten(s)), p.Range()}
		}
		v.list = append(v.list, f)
	}
	return v, nil
}

// number reads one number within the range.
func (p Param) number(s string) (float64, bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	bad := err != nil || math.IsNaN(f) || math.IsInf(f, 0) || f < p.Min || f > p.Max ||
		p.OpenMin && f == p.Min || p.Integer && (f != math.Trunc(f) || math.Abs(f) > 1<<31)
	return f, !bad
}

// shorten cuts a value that is too long for a message.
func shorten(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}

// Info describes a sampler.
type Info struct {
	Name   string
	Title  string
	Doc    string // one or two sentences
	Exact  bool   // leaves π invariant
	Needs  string // what the target must give
	Cost   string // per step
	Params []Param

	make func() Sampler
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

// New makes the named sampler with its parameters given as text, as on a
// command line; parameters not named keep their defaults. Errors: unknown
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
	return Param{}, unknown("parameter of "+i.Name, name, known)
}
