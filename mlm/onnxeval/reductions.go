package onnxeval

import (
	"fmt"
	"math"
	"slices"
)

var reductions = Kernels{
	"ReduceSum": {1, reduce(0, func(a, v float64) float64 { return a + v }, nil)},
	"ReduceMean": {1, reduce(0, func(a, v float64) float64 { return a + v },
		func(a float64, n int) float64 { return a / float64(n) })},
	"ReduceMax":  {1, reduce(math.Inf(-1), math.Max, nil)},
	"ReduceMin":  {1, reduce(math.Inf(1), math.Min, nil)},
	"ReduceProd": {1, reduce(1, func(a, v float64) float64 { return a * v }, nil)},
	"ReduceL2": {1, reduce(0, func(a, v float64) float64 { return a + v*v },
		func(a float64, _ int) float64 { return math.Sqrt(a) })},
	"ReduceSumSquare": {1, reduce(0, func(a, v float64) float64 {
		return a + v*v
	}, nil)},
	"CumSum": {2, cumsum},
}

// reduce folds the elements along axes. Integers pass through float64, which is exact up to 2⁵³.
func reduce(start float64, f func(a, v float64) float64,
	finish func(a float64, n int) float64) Run {
	return func(c *Call) ([]*Tensor, error) {
		x := c.In[0]
		if len(c.axes()) == 0 && c.Node.Int("noop_with_empty_axes", 0) != 0 {
			return c.In[:1], nil
		}
		kept, final, count, err := c.reduced()
		if err != nil {
			return nil, err
		}
		if !known(x) {
			return shaped(x.Type, final)
		}
		wide := x
		if !x.IsFloat() {
			if wide, err = cast(x, 11); err != nil {
				return nil, err
			}
		}
		acc := slices.Repeat([]float64{start}, Volume(kept))
		st := BroadcastStrides(kept, x.Shape)
		n, step := 1, 0
		if rank := len(x.Shape); rank > 0 {
			n, step = x.Shape[rank-1], st[rank-1]
		}
		Walk(x.Shape, [][]int{st}, func(base []int, first int) {
			at := base[0]
			for _, v := range wide.F[first : first+n] {
				acc[at] = f(acc[at], v)
				at += step
			}
		})
		if finish != nil {
			for i := range acc {
				acc[i] = finish(acc[i], count)
			}
		}
		return one(cast(&Tensor{Type: 11, Shape: final, F: acc}, x.Type))
	}
}

// reduced are the shape of a reduction with its axes of length one, the one that it returns, and
// the number of elements that go into one.
func (c *Call) reduced() (kept, final []int, count int, err error) {
	shape, axes := c.In[0].Shape, c.axes()
	drop := slices.Repeat([]bool{len(axes) == 0}, len(shape))
	for _, a := range axes {
		i, err := Axis(a, len(shape))
		if err != nil {
			return nil, nil, 0, err
		}
		drop[i] = true
	}
	kept, final, count = slices.Clone(shape), []int{}, 1
	for i, d := range shape {
		if drop[i] {
			kept[i] = 1
			count *= d
		} else {
			final = append(final, d)
		}
	}
	if c.Node.Int("keepdims", 1) != 0 {
		final = kept
	}
	return kept, final, count, nil
}

func cumsum(c *Call) ([]*Tensor, error) {
	x := c.In[0]
	if len(c.In[1].I) != 1 {
		return nil, fmt.Errorf("axis must be one integer")
	}
	if c.Node.Int("exclusive", 0) != 0 || c.Node.Int("reverse", 0) != 0 {
		return nil, fmt.Errorf("%w: this form of cumulative sum", ErrOp)
	}
	axis, err := Axis(c.In[1].I[0], len(x.Shape))
	if err != nil {
		return nil, err
	}
	out, err := Alloc(x.Type, x.Shape)
	if err != nil {
		return nil, err
	}
	out.Put(0, x, 0, x.Len())
	_, n, inner := Around(x.Shape, axis)
	for at := range x.Len() {
		switch {
		case at/inner%n == 0:
		case x.IsFloat():
			out.F[at] += out.F[at-inner]
		default:
			out.I[at] += out.I[at-inner]
		}
	}
	return []*Tensor{out}, nil
}
