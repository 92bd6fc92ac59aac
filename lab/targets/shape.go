package targets

import (
	"errors"
	"fmt"
	"math"
)

// ErrShape marks arguments out of range, or whose sizes do not fit together.
// The message names the argument and what is allowed.
var ErrShape = errors.New("bad shape")

// maxSites bounds the coordinates of a target, and the numbers that it holds.
const maxSites = 1 << 24

// An argument is one of a constructor's, and whether it is in range.
type argument struct {
	name, got, want string
	ok              bool
}

// shape returns an error for the first argument that is out of range.
func shape(what string, args ...argument) error {
	for _, a := range args {
		if !a.ok {
			return fmt.Errorf("%w: %s: %s is %s, want %s", ErrShape, what, a.name, a.got, a.want)
		}
	}
	return nil
}

// whole is a whole number from lo to hi.
func whole(name string, v, lo, hi int) argument {
	want := fmt.Sprintf("%d to %d", lo, hi)
	if lo == hi {
		want = fmt.Sprint(lo)
	}
	return argument{name, fmt.Sprint(v), want, v >= lo && v <= hi}
}

// product is a product of counts, each at least 1, of at most maxSites.
func product(name string, factors ...int) argument {
	p := 1.0
	for _, f := range factors {
		p *= float64(f)
	}
	return argument{name, fmt.Sprintf("%.0f", p), fmt.Sprintf("at most %d", maxSites), p <= maxSites}
}

// length is the number of entries of a list, one of the wanted ones.
func length(name string, got int, want ...int) argument {
	a := argument{name: "the number of " + name, got: fmt.Sprint(got)}
	for i, w := range want {
		if i > 0 {
			a.want += " or "
		}
		a.want += fmt.Sprint(w)
		a.ok = a.ok || got == w
	}
	return a
}

// positive is a finite number above 0.
func positive(name string, v float64) argument {
	return argument{name, fmt.Sprint(v), "a number above 0", v > 0 && !math.IsInf(v, 1)}
}

// probability is a number between 0 and 1, both excluded.
func probability(name string, v float64) argument {
	return argument{name, fmt.Sprint(v), "a number above 0 and below 1", v > 0 && v < 1}
}

// number is a finite number.
func number(name string, v float64) argument {
	return argument{name, fmt.Sprint(v), "a finite number", !math.IsNaN(v) && !math.IsInf(v, 0)}
}

// spread repeats a single number n times.
func spread(what string, b []float64, n int) ([]float64, error) {
	if err := shape(what, length("field values", len(b), 1, n)); err != nil {
		return nil, err
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = b[min(i, len(b)-1)]
	}
	return out, nil
}

// weights are the weights of n·n modes: a copy of w, or ones where w is nil.
func weights(what string, n int, w []float64) ([]float64, error) {
	out := make([]float64, n*n)
	for j := range out {
		out[j] = 1
	}
	if w == nil {
		return out, nil
	}
	if err := shape(what, length("weights", len(w), n*n)); err != nil {
		return nil, err
	}
	copy(out, w)
	for j, v := range out {
		if err := shape(what, positive(fmt.Sprintf("weight %d", j), v)); err != nil {
			return nil, err
		}
	}
	return out, nil
}
