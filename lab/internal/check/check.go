// Package check has the checks of arguments of the lab's distributions.
package check

import (
	"errors"
	"fmt"
	"math"
)

// ErrShape marks arguments out of range, or whose sizes do not fit together.
// The message names the argument and what is allowed.
var ErrShape = errors.New("bad shape")

// MaxSites bounds the coordinates of a target, and the numbers that it holds.
const MaxSites = 1 << 24

// An Argument is one of a constructor's, and whether it is in range.
type Argument struct {
	name, got, want string
	ok              bool
}

// Shape returns an error for the first Argument that is out of range.
func Shape(what string, args ...Argument) error {
	for _, a := range args {
		if !a.ok {
			return fmt.Errorf("%w: %s: %s is %s, want %s", ErrShape, what, a.name, a.got, a.want)
		}
	}
	return nil
}

// Whole is a whole number from lo to hi.
func Whole(name string, v, lo, hi int) Argument {
	want := fmt.Sprintf("%d to %d", lo, hi)
	if lo == hi {
		want = fmt.Sprint(lo)
	}
	return Argument{name, fmt.Sprint(v), want, v >= lo && v <= hi}
}

// Product is a product of counts, each at least 1, of at most MaxSites.
func Product(name string, factors ...int) Argument {
	p := 1.0
	for _, f := range factors {
		p *= float64(f)
	}
	return Argument{name, fmt.Sprintf("%.0f", p), fmt.Sprintf("at most %d", MaxSites), p <= MaxSites}
}

// Length is the number of entries of a list, one of the wanted ones.
func Length(name string, got int, want ...int) Argument {
	a := Argument{name: "the number of " + name, got: fmt.Sprint(got)}
	for i, w := range want {
		if i > 0 {
			a.want += " or "
		}
		a.want += fmt.Sprint(w)
		a.ok = a.ok || got == w
	}
	return a
}

// Positive is a finite number above 0.
func Positive(name string, v float64) Argument {
	return Argument{name, fmt.Sprint(v), "a number above 0", v > 0 && !math.IsInf(v, 1)}
}

// Probability is a number between 0 and 1, both excluded.
func Probability(name string, v float64) Argument {
	return Argument{name, fmt.Sprint(v), "a number above 0 and below 1", v > 0 && v < 1}
}

// Number is a finite number.
func Number(name string, v float64) Argument {
	return Argument{name, fmt.Sprint(v), "a finite number", !math.IsNaN(v) && !math.IsInf(v, 0)}
}

// Weights are the weights of n·n modes: a copy of w, or ones where w is nil.
func Weights(what string, n int, w []float64) ([]float64, error) {
	out := make([]float64, n*n)
	for j := range out {
		out[j] = 1
	}
	if w == nil {
		return out, nil
	}
	if err := Shape(what, Length("weights", len(w), n*n)); err != nil {
		return nil, err
	}
	copy(out, w)
	for j, v := range out {
		if err := Shape(what, Positive(fmt.Sprintf("weight %d", j), v)); err != nil {
			return nil, err
		}
	}
	return out, nil
}
