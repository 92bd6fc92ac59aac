package samplers

import (
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

// checkTarget checks a target acceptance rate, 0 for the default.
func checkTarget(name string, a, def float64) (float64, error) {
	if a == 0 {
		return def, nil
	}
	if !(a > 0 && a < 1) {
		return 0, &ParamError{name, "target acceptance", fmt.Sprint(a),
			"a number in (0, 1), or 0 for the default"}
	}
	return a, nil
}

// checkCount refuses negative counts and those above limit.
func checkCount(sampler, param string, n, limit int) error {
	if n >= 0 && n <= limit {
		return nil
	}
	return &ParamError{sampler, param, fmt.Sprint(n), fmt.Sprintf("0 (the default) to %d", limit)}
}

// checkPositive refuses NaN, infinities and negative numbers, and 0 unless it
// means "automatic".
func checkPositive(sampler, param string, v float64, zeroOK bool) error {
	if v > 0 && !math.IsInf(v, 1) || v == 0 && zeroOK {
		return nil
	}
	want := "a positive number"
	if zeroOK {
		want = "a positive number, or 0 for automatic"
	}
	return &ParamError{sampler, param, fmt.Sprint(v), want}
}
