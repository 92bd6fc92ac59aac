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
		axes := c.axes()
		rank := len(x.Shape)
		drop := make([]bool, rank)
		if len(axes) == 0 {
			if c.Node.Int("noop_with_empty_axes", 0) != 0 {
				return c.In[:1], nil
			}
			for i := range drop {
				drop[i] = true
			}
		}
		for _, a := range axes {
			i, err := Axis(a, rank)
			if err != nil {
				return nil, err
			}
			drop[i] = true
		}
		kept, final := make([]int, rank), []int{}
		count := 1
		for i, d := range x.Shape {
			kept[i] = d
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
		wide := x
		var err error
		if !x.IsFloat() {
			if wide, err = cast(x, 11); err != nil {
				return nil, err
			}
		}
		acc := slices.Repeat([]float64{start}, Volume(kept))
		st := BroadcastStrides(kept, x.Shape)
		n, step := 1, 0
		if rank > 0 {
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
