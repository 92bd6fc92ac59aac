package samplers

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Param describes one parameter of a sampler for a user interface.
type Param struct {
	Name    string
	Doc     string
	Default string                   // as it would be written
	Min     float64                  // smallest and largest allowed number
	Max     float64                  // +Inf for no limit
	OpenMin bool                     // Min itself is not allowed
	Integer bool                     // whole numbers only
	Auto    bool                     // "auto" is allowed and stands for 0
	Choices []string                 // allowed words; then Min and Max mean nothing
	Set     func(s Sampler, v Value) // gives a sampler the value, which is in range

	// fits reports whether a sampler of this package has a value in range, after 0 was replaced by
	// the default. value is what it has. nil for no check.
	fits func(s Sampler) (value any, ok bool)
}

// complete checks the parameters of a sampler, and gives those that are 0 their defaults. The error
// is a *ParamError.
func (i Info) complete(s Sampler) error {
	for _, p := range i.Params {
		if p.fits == nil {
			continue
		}
		if v, ok := p.fits(s); !ok {
			want := strings.TrimPrefix(p.Range(), "auto or ")
			if p.Choices == nil {
				want += ", or 0 for " + p.Default
			}
			return &ParamError{i.Name, p.Name, fmt.Sprint(v), want}
		}
	}
	return nil
}

// Value is the value of a parameter.
type Value struct {
	Number float64
	Word   int // index into Choices
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
	return r
}

var inf = math.Inf(1)

// plain writes a number without an exponent.
func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// parse reads and checks one value.
func (p Param) parse(sampler, s string) (Value, error) {
	s = strings.TrimSpace(s)
	if p.Choices != nil {
		if i := slices.Index(p.Choices, s); i >= 0 {
			return Value{Word: i}, nil
		}
		return Value{}, unknown(p.Name+" of "+sampler, s, p.Choices)
	}
	if p.Auto && s == "auto" {
		return Value{}, nil
	}
	f, ok := p.number(s)
	if !ok {
		return Value{}, &ParamError{sampler, p.Name, strconv.Quote(shorten(s)), p.Range()}
	}
	return Value{Number: f}, nil
}

// number reads one number within the range.
func (p Param) number(s string) (float64, bool) {
	f, err := strconv.ParseFloat(s, 64)
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

// checkPositive refuses NaN, infinities and numbers that are not positive.
func checkPositive(sampler, param string, v float64) error {
	if v > 0 && !math.IsInf(v, 1) {
		return nil
	}
	return &ParamError{sampler, param, fmt.Sprint(v), "a positive number"}
}

// What parameters are made of. field is the place of the value in a sampler.

// numberParam is a number above 0, auto where def is 0.
func numberParam[S Sampler](name string, def, most float64, doc string,
	field func(S) *float64) Param {
	text := "auto"
	if def > 0 {
		text = plain(def)
	}
	return Param{
		Name: name, Default: text, Min: 0, OpenMin: true, Max: most, Auto: def == 0, Doc: doc,
		Set: func(s Sampler, v Value) { *field(s.(S)) = v.Number },
		fits: func(s Sampler) (any, bool) {
			v := field(s.(S))
			if *v == 0 {
				*v = def
				return 0, true
			}
			return *v, *v > 0 && *v <= most && !math.IsInf(*v, 1)
		},
	}
}

const stepDoc = "step size α; auto adapts it in the burn-in"

func acceptParam[S Sampler](def float64, field func(S) *float64) Param {
	return numberParam("target-acceptance", def, 0.999,
		"acceptance rate that automatic values are adapted to", field)
}

func balanceParam[S Sampler](field func(S) *Balance) Param {
	return Param{
		Name: "balance", Default: "sqrt", Choices: balanceNames,
		Doc: "balancing function g",
		Set: func(s Sampler, v Value) { *field(s.(S)) = Balance(v.Word) },
		fits: func(s Sampler) (any, bool) {
			g := *field(s.(S))
			return g, int(g) < len(balanceNames)
		},
	}
}

func countParam[S Sampler](name string, def, lo, hi int, doc string, field func(S) *int) Param {
	return Param{
		Name: name, Default: plain(float64(def)), Min: float64(lo), Max: float64(hi), Integer: true,
		Doc: doc,
		Set: func(s Sampler, v Value) { *field(s.(S)) = int(v.Number) },
		fits: func(s Sampler) (any, bool) {
			n := field(s.(S))
			*n = cmp.Or(*n, def)
			return *n, *n >= lo && *n <= hi
		},
	}
}

// eitherParam is one of two words, the first unless the field is set.
func eitherParam[S Sampler](name string, words [2]string, doc string, field func(S) *bool) Param {
	return Param{
		Name: name, Default: words[0], Choices: words[:], Doc: doc,
		Set: func(s Sampler, v Value) { *field(s.(S)) = v.Word == 1 },
	}
}
