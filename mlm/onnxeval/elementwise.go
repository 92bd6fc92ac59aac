package onnxeval

import (
	"cmp"
	"fmt"
	"math"

	"infill/mlm/onnx"
)

var elementwise = Kernels{
	"Add": {2, add},
	"Sub": {2, binary(func(a, b float64) float64 { return a - b },
		func(a, b int64) int64 { return a - b })},
	"Mul": {2, binary(func(a, b float64) float64 { return a * b },
		func(a, b int64) int64 { return a * b })},
	"Div": {2, binary(func(a, b float64) float64 { return a / b },
		func(a, b int64) int64 { return a / b })},
	"Mod": {2, binary(math.Mod, func(a, b int64) int64 { return ((a % b) + b) % b })},
	"Pow": {2, pow},
	"Min": {1, binary(math.Min, func(a, b int64) int64 { return min(a, b) })},
	"Max": {1, binary(math.Max, func(a, b int64) int64 { return max(a, b) })},

	"Equal": {2, compare(func(a, b float64) bool { return a == b },
		func(a, b int64) bool { return a == b })},
	"Less": {2, compare(func(a, b float64) bool { return a < b },
		func(a, b int64) bool { return a < b })},
	"Greater": {2, compare(func(a, b float64) bool { return a > b },
		func(a, b int64) bool { return a > b })},
	"LessOrEqual": {2, compare(func(a, b float64) bool { return a <= b },
		func(a, b int64) bool { return a <= b })},
	"GreaterOrEqual": {2, compare(func(a, b float64) bool { return a >= b },
		func(a, b int64) bool { return a >= b })},
	"And": {2, compare(nil, func(a, b int64) bool { return a != 0 && b != 0 })},
	"Or":  {2, compare(nil, func(a, b int64) bool { return a != 0 || b != 0 })},
	"Xor": {2, compare(nil, func(a, b int64) bool { return (a != 0) != (b != 0) })},
	"Not": {1, func(c *Call) ([]*Tensor, error) {
		return mapInts(c.In[0], func(v int64) int64 { return 1 - v })
	}},

	"Exp":   {1, Unary(math.Exp)},
	"Log":   {1, Unary(math.Log)},
	"Sqrt":  {1, Unary(math.Sqrt)},
	"Sin":   {1, Unary(math.Sin)},
	"Cos":   {1, Unary(math.Cos)},
	"Floor": {1, Unary(math.Floor)},
	"Round": {1, Unary(math.RoundToEven)},
	"Sign": {1, unaryAny(func(x float64) float64 {
		switch {
		case x > 0:
			return 1
		case x < 0:
			return -1
		}
		return x
	}, func(x int64) int64 { return int64(cmp.Compare(x, 0)) })},
	"Ceil":       {1, Unary(math.Ceil)},
	"Reciprocal": {1, Unary(func(x float64) float64 { return 1 / x })},
	"Neg": {1, unaryAny(func(x float64) float64 { return -x },
		func(x int64) int64 { return -x })},
	"Abs":      {1, unaryAny(math.Abs, func(x int64) int64 { return max(x, -x) })},
	"Identity": {1, func(c *Call) ([]*Tensor, error) { return c.In[:1], nil }},
	"Clip":     {1, clip},
	"Cast": {1, func(c *Call) ([]*Tensor, error) {
		return one(cast(c.In[0],
			onnx.DataType(c.Node.Int("to", 1))))
	}},
	"CastLike": {2, func(c *Call) ([]*Tensor, error) { return one(cast(c.In[0], c.In[1].Type)) }},
	"Where":    {3, where},
}

var add = binary(func(a, b float64) float64 { return a + b },
	func(a, b int64) int64 { return a + b })

func Unary(f func(float64) float64) Run { return unaryAny(f, nil) }

func unaryAny(f func(float64) float64, g func(int64) int64) Run {
	return func(c *Call) ([]*Tensor, error) {
		x := c.In[0]
		if !x.IsFloat() {
			if g == nil {
				return nil, fmt.Errorf("needs floating numbers, has %v", x.Type)
			}
			return mapInts(x, g)
		}
		out, err := Alloc(x.Type, x.Shape)
		if err != nil {
			return nil, err
		}
		for i, v := range x.F {
			out.F[i] = f(v)
		}
		return []*Tensor{out}, nil
	}
}

func mapInts(x *Tensor, f func(int64) int64) ([]*Tensor, error) {
	if x.IsFloat() {
		return nil, fmt.Errorf("needs integers or booleans, has %v", x.Type)
	}
	out, err := Alloc(x.Type, x.Shape)
	if err != nil {
		return nil, err
	}
	for i, v := range x.I {
		out.I[i] = f(v)
	}
	return []*Tensor{out}, nil
}

// combine broadcasts a and b and writes f of their elements to out.
func combine[T, U any](shape []int, a, b []T, sa, sb []int, out []U, f func(T, T) U) {
	stepA, stepB, n := 0, 0, 1
	if k := len(shape); k > 0 {
		stepA, stepB, n = sa[k-1], sb[k-1], shape[k-1]
	}
	Walk(shape, [][]int{sa, sb}, func(base []int, first int) {
		i, j := base[0], base[1]
		for k := first; k < first+n; k++ {
			out[k] = f(a[i], b[j])
			i, j = i+stepA, j+stepB
		}
	})
}

func binary(f func(a, b float64) float64, g func(a, b int64) int64) Run {
	return func(c *Call) ([]*Tensor, error) {
		acc := c.In[0]
		for _, b := range c.In[1:] { // Min and Max take any number
			shape, err := Broadcast(acc.Shape, b.Shape)
			if err != nil {
				return nil, err
			}
			if acc.IsFloat() != b.IsFloat() {
				return nil, fmt.Errorf("mixes %v and %v", acc.Type, b.Type)
			}
			out, err := Alloc(acc.Type, shape)
			if err != nil {
				return nil, err
			}
			sa, sb := BroadcastStrides(acc.Shape, shape), BroadcastStrides(b.Shape, shape)
			if acc.IsFloat() {
				combine(shape, acc.F, b.F, sa, sb, out.F, f)
			} else {
				combine(shape, acc.I, b.I, sa, sb, out.I, g)
			}
			acc = out
		}
		return []*Tensor{acc}, nil
	}
}

func compare(f func(a, b float64) bool, g func(a, b int64) bool) Run {
	return func(c *Call) ([]*Tensor, error) {
		a, b := c.In[0], c.In[1]
		shape, err := Broadcast(a.Shape, b.Shape)
		if err != nil {
			return nil, err
		}
		out, err := Alloc(onnx.Bool, shape)
		if err != nil {
			return nil, err
		}
		bit := func(v bool) int64 {
			if v {
				return 1
			}
			return 0
		}
		sa, sb := BroadcastStrides(a.Shape, shape), BroadcastStrides(b.Shape, shape)
		switch {
		case a.IsFloat() && b.IsFloat() && f != nil:
			combine(shape, a.F, b.F, sa, sb, out.I,
				func(x, y float64) int64 { return bit(f(x, y)) })
		case !a.IsFloat() && !b.IsFloat():
			combine(shape, a.I, b.I, sa, sb, out.I, func(x, y int64) int64 { return bit(g(x, y)) })
		default:
			return nil, fmt.Errorf("cannot compare %v and %v", a.Type, b.Type)
		}
		return []*Tensor{out}, nil
	}
}

// pow allows the exponent to have another type than the base.
func pow(c *Call) ([]*Tensor, error) {
	b, err := cast(c.In[1], onnx.Double)
	if err != nil {
		return nil, err
	}
	a, err := cast(c.In[0], onnx.Double)
	if err != nil {
		return nil, err
	}
	f := math.Pow
	if len(b.F) == 1 && b.F[0] == 2 {
		f = func(x, _ float64) float64 { return x * x }
	}
	out, err := binary(f, nil)(&Call{c.Node, []*Tensor{a, b}, c.Opset})
	if err != nil {
		return nil, err
	}
	return one(cast(out[0], c.In[0].Type))
}

func clip(c *Call) ([]*Tensor, error) {
	x := c.In[0]
	if !x.IsFloat() {
		lo, hi := int64(math.MinInt64), int64(math.MaxInt64)
		if t := c.Arg(1); t != nil {
			lo = t.I[0]
		}
		if t := c.Arg(2); t != nil {
			hi = t.I[0]
		}
		return mapInts(x, func(v int64) int64 { return min(max(v, lo), hi) })
	}
	lo, hi := math.Inf(-1), math.Inf(1)
	if t := c.Arg(1); t != nil {
		lo = t.F[0]
	}
	if t := c.Arg(2); t != nil {
		hi = t.F[0]
	}
	return Unary(func(v float64) float64 { return min(max(v, lo), hi) })(c)
}
