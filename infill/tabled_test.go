package infill

import (
	"context"

	"infill/infill/internal/target"
	"infill/samplers"
)

// tabled is a target that asks the real one about each state once, so that thousands of chains on
// few states cost little more than their samplers.
type tabled struct {
	*target.Target
	known map[tableKey]tableEntry
}

var _ samplers.RowConditioner = (*tabled)(nil)

// A tableKey is a question about a state, given by its number. What is the coordinate of a
// conditional, or one of the constants below.
type tableKey struct{ what, state int }

const (
	whatEnergy = -1 - iota
	whatGradient
	whatRows
)

type tableEntry struct {
	u    float64
	more []float64
}

func newTabled(t *target.Target) *tabled { return &tabled{Target: t, known: map[tableKey]tableEntry{}} }

// number tells states apart.
func (t *tabled) number(x []int32) int {
	n := 0
	for i, v := range x {
		n = n*t.Product.K(i) + int(v)
	}
	return n
}

// answers has those of x, which ask has made once of those that were not known, in their order.
func (t *tabled) answers(x [][]int32, what func(k int) int,
	ask func(who []int, u []float64, more [][]float64) error, width func(k int) int) ([]tableEntry, error) {
	var who []int
	for k := range x {
		q := tableKey{what(k), t.number(x[k])}
		if _, ok := t.known[q]; !ok {
			t.known[q] = tableEntry{more: make([]float64, width(k))}
			who = append(who, k)
		}
	}
	if len(who) > 0 {
		u, more := make([]float64, len(who)), make([][]float64, len(who))
		for j, k := range who {
			more[j] = t.known[tableKey{what(k), t.number(x[k])}].more
		}
		if err := ask(who, u, more); err != nil {
			return nil, err
		}
		for j, k := range who {
			t.known[tableKey{what(k), t.number(x[k])}] = tableEntry{u[j], more[j]}
		}
	}
	out := make([]tableEntry, len(x))
	for k := range x {
		out[k] = t.known[tableKey{what(k), t.number(x[k])}]
	}
	return out, nil
}

// whole answers a tableKey of the whole state.
func (t *tabled) whole(x [][]int32, u []float64, more [][]float64, what, width int,
	ask func(x [][]int32, u []float64, more [][]float64) error) error {
	all, err := t.answers(x, func(int) int { return what },
		func(who []int, u []float64, more [][]float64) error { return ask(chosen(x, who), u, more) },
		func(int) int { return width })
	if err != nil {
		return err
	}
	for k, a := range all {
		u[k] = a.u
		if width > 0 {
			copy(more[k], a.more)
		}
	}
	return nil
}

func (t *tabled) Energy(ctx context.Context, x [][]int32, u []float64) error {
	return t.whole(x, u, nil, whatEnergy, 0, func(x [][]int32, u []float64, _ [][]float64) error {
		return t.Target.Energy(ctx, x, u)
	})
}

func (t *tabled) EnergyGrad(ctx context.Context, x [][]int32, u []float64, grad [][]float64) error {
	return t.whole(x, u, grad, whatGradient, t.Product.GradLen(),
		func(x [][]int32, u []float64, grad [][]float64) error {
			return t.Target.EnergyGrad(ctx, x, u, grad)
		})
}

func (t *tabled) EnergyRows(ctx context.Context, x [][]int32, u []float64, rows, _ [][]float64) error {
	return t.whole(x, u, rows, whatRows, t.Product.RowLen(),
		func(x [][]int32, u []float64, rows [][]float64) error {
			return t.Target.EnergyRows(ctx, x, u, rows, nil)
		})
}

func (t *tabled) Conditional(ctx context.Context, x [][]int32, i []int, logp [][]float64) error {
	all, err := t.answers(x, func(k int) int { return i[k] },
		func(who []int, _ []float64, more [][]float64) error {
			return t.Target.Conditional(ctx, chosen(x, who), chosen(i, who), more)
		},
		func(k int) int { return t.Product.K(i[k]) })
	if err != nil {
		return err
	}
	for k, a := range all {
		copy(logp[k], a.more)
	}
	return nil
}

// chosen has the elements of the given numbers.
func chosen[T any](from []T, who []int) []T {
	out := make([]T, len(who))
	for j, k := range who {
		out[j] = from[k]
	}
	return out
}
