package onnxeval

import (
	"cmp"
	"fmt"
	"math"

	"infill/mlm/onnx"
)

var elementwise = map[string]kernel{
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
	"Not": {1, func(c *call) ([]*Tensor, error) {
		return mapInts(c.in[0], func(v int64) int64 { return 1 - v })
	}},

	"Exp":   {1, unary(math.Exp)},
	"Log":   {1, unary(math.Log)},
	"Sqrt":  {1, unary(math.Sqrt)},
	"Erf":   {1, unary(math.Erf)},
	"Tanh":  {1, unary(math.Tanh)},
	"Sin":   {1, unary(math.Sin)},
	"Cos":   {1, unary(math.Cos)},
	"Floor": {1, unary(math.Floor)},
	"Round": {1, unary(math.RoundToEven)},
	"Sign": {1, unaryAny(func(x float64) float64 {
		switch {
		case x > 0:
			return 1
		case x < 0:
			return -1
		}
		return x
	}, func(x int64) int64 { return int64(cmp.Compare(x, 0)) })},
	"Ceil":       {1, unary(math.Ceil)},
	"Reciprocal": {1, unary(func(x float64) float64 { return 1 / x })},
	"Sigmoid":    {1, unary(sigmoid)},
	"Relu":       {1, unary(func(x float64) float64 { return max(x, 0) })},
	"Softplus": {1, unary(func(x float64) float64 {
		return max(x, 0) +
			math.Log1p(math.Exp(-math.Abs(x)))
	})},
	"Neg": {1, unaryAny(func(x float64) float64 { return -x },
		func(x int64) int64 { return -x })},
	"Abs": {1, unaryAny(math.Abs, func(x int64) int64 { return max(x, -x) })},
	"IsNaN": {1, func(c *call) ([]*Tensor, error) {
		out, err := alloc(onnx.Bool, c.in[0].Shape)
		if err != nil {
			return nil, err
		}
		for i, v := range c.in[0].F {
			if v != v {
				out.I[i] = 1
			}
		}
		return []*Tensor{out}, nil
	}},
	"Gelu": {1, func(c *call) ([]*Tensor, error) {
		if c.n.Str("approximate", "none") == "tanh" {
			return unary(fastGelu)(c)
		}
		return unary(gelu)(c)
	}},
	"FastGelu":  {1, biased(fastGelu)},
	"BiasGelu":  {2, biased(gelu)},
	"QuickGelu": {1, func(c *call) ([]*Tensor, error) { return quickGelu(c) }},
	"Identity":  {1, func(c *call) ([]*Tensor, error) { return c.in[:1], nil }},
	"Dropout":   {1, func(c *call) ([]*Tensor, error) { return c.in[:1], nil }},
	"Clip":      {1, clip},
	"Cast": {1, func(c *call) ([]*Tensor, error) {
		return one(cast(c.in[0],
			onnx.DataType(c.n.Int("to", 1))))
	}},
	"CastLike": {2, func(c *call) ([]*Tensor, error) { return one(cast(c.in[0], c.in[1].Type)) }},
	"Where":    {3, where},
}

var add = binary(func(a, b float64) float64 { return a + b },
	func(a, b int64) int64 { return a + b })

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// gelu is x·Φ(x) (Hendrycks & Gimpel 2016, arXiv:1606.08415); fastGelu its tanh approximation.
func gelu(x float64) float64 { return 0.5 * x * (1 + math.Erf(x/math.Sqrt2)) }

func fastGelu(x float64) float64 {
	return 0.5 * x * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
}

func quickGelu(c *call) ([]*Tensor, error) {
	a := float64(c.n.Float("alpha", 1.702))
	return unary(func(x float64) float64 { return x * sigmoid(a*x) })(c)
}

func unary(f func(float64) float64) run { return unaryAny(f, nil) }

func unaryAny(f func(float64) float64, g func(int64) int64) run {
	return func(c *call) ([]*Tensor, error) {
		x := c.in[0]
		if !x.float() {
			if g == nil {
				return nil, fmt.Errorf("needs floating numbers, has %v", x.Type)
			}
			return mapInts(x, g)
		}
		out, err := alloc(x.Type, x.Shape)
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
	if x.float() {
		return nil, fmt.Errorf("needs integers or booleans, has %v", x.Type)
	}
	out, err := alloc(x.Type, x.Shape)
	if err != nil {
		return nil, err
	}
	for i, v := range x.I {
		out.I[i] = f(v)
	}
	return []*Tensor{out}, nil
}

// biased applies f to the sum of the input and an optional bias along the last axis.
func biased(f func(float64) float64) run {
	return func(c *call) ([]*Tensor, error) {
		x := c.in[0]
		if b := c.arg(1); b != nil {
			sum, err := add(&call{c.n, []*Tensor{x, b}, c.opset})
			if err != nil {
				return nil, err
			}
			x = sum[0]
		}
		return unary(f)(&call{c.n, []*Tensor{x}, c.opset})
	}
}

// combine broadcasts a and b and writes f of their elements to out.
func combine[T, U any](shape []int, a, b []T, sa, sb []int, out []U, f func(T, T) U) {
	stepA, stepB, n := 0, 0, 1
	if k := len(shape); k > 0 {
		stepA, stepB, n = sa[k-1], sb[k-1], shape[k-1]
	}
	walk(shape, [][]int{sa, sb}, func(base []int, first int) {
		i, j := base[0], base[1]
		for k := first; k < first+n; k++ {
			out[k] = f(a[i], b[j])
			i, j = i+stepA, j+stepB
		}
	})
}

func binary(f func(a, b float64) float64, g func(a, b int64) int64) run {
	return func(c *call) ([]*Tensor, error) {
		acc := c.in[0]
		for _, b := range c.in[1:] { // Min and Max take any number
			shape, err := Broadcast(acc.Shape, b.Shape)
			if err != nil {
				return nil, err
			}
			if acc.float() != b.float() {
				return nil, fmt.Errorf("mixes %v and %v", acc.Type, b.Type)
			}
			out, err := alloc(acc.Type, shape)
			if err != nil {
				return nil, err
			}
			sa, sb := broadcastStrides(acc.Shape, shape), broadcastStrides(b.Shape, shape)
			if acc.float() {
				combine(shape, acc.F, b.F, sa, sb, out.F, f)
			} else {
				combine(shape, acc.I, b.I, sa, sb, out.I, g)
			}
			acc = out
		}
		return []*Tensor{acc}, nil
	}
}

func compare(f func(a, b float64) bool, g func(a, b int64) bool) run {
	return func(c *call) ([]*Tensor, error) {
		a, b := c.in[0], c.in[1]
		shape, err := Broadcast(a.Shape, b.Shape)
		if err != nil {
			return nil, err
		}
		out, err := alloc(onnx.Bool, shape)
		if err != nil {
			return nil, err
		}
		bit := func(v bool) int64 {
			if v {
				return 1
			}
			return 0
		}
		sa, sb := broadcastStrides(a.Shape, shape), broadcastStrides(b.Shape, shape)
		switch {
		case a.float() && b.float() && f != nil:
			combine(shape, a.F, b.F, sa, sb, out.I,
				func(x, y float64) int64 { return bit(f(x, y)) })
		case !a.float() && !b.float():
			combine(shape, a.I, b.I, sa, sb, out.I, func(x, y int64) int64 { return bit(g(x, y)) })
		default:
			return nil, fmt.Errorf("cannot compare %v and %v", a.Type, b.Type)
		}
		return []*Tensor{out}, nil
	}
}

// pow allows the exponent to have another type than the base.
func pow(c *call) ([]*Tensor, error) {
	b, err := cast(c.in[1], onnx.Double)
	if err != nil {
		return nil, err
	}
	a, err := cast(c.in[0], onnx.Double)
	if err != nil {
		return nil, err
	}
	f := math.Pow
	if len(b.F) == 1 && b.F[0] == 2 {
		f = func(x, _ float64) float64 { return x * x }
	}
	out, err := binary(f, nil)(&call{c.n, []*Tensor{a, b}, c.opset})
	if err != nil {
		return nil, err
	}
	return one(cast(out[0], c.in[0].Type))
}

func clip(c *call) ([]*Tensor, error) {
	x := c.in[0]
	if !x.float() {
		lo, hi := int64(math.MinInt64), int64(math.MaxInt64)
		if t := c.arg(1); t != nil {
			lo = t.I[0]
		}
		if t := c.arg(2); t != nil {
			hi = t.I[0]
		}
		return mapInts(x, func(v int64) int64 { return min(max(v, lo), hi) })
	}
	lo, hi := math.Inf(-1), math.Inf(1)
	if c.opset < 11 {
		lo, hi = float64(c.n.Float("min", -math.MaxFloat32)),
			float64(c.n.Float("max", math.MaxFloat32))
	}
	if t := c.arg(1); t != nil {
		lo = t.F[0]
	}
	if t := c.arg(2); t != nil {
		hi = t.F[0]
	}
	return unary(func(v float64) float64 { return min(max(v, lo), hi) })(c)
}
