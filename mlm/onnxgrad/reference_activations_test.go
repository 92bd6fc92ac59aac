package onnxgrad

import (
	"math"

	"infill/mlm/onnx"
	"infill/mlm/onnxeval"
)

var activations = table{
	"Erf":     {Least: 1, Run: onnxeval.Unary(math.Erf)},
	"Tanh":    {Least: 1, Run: onnxeval.Unary(math.Tanh)},
	"Sigmoid": {Least: 1, Run: onnxeval.Unary(sigmoid)},
	"Relu":    {Least: 1, Run: onnxeval.Unary(func(x float64) float64 { return max(x, 0) })},
	"Softplus": {Least: 1, Run: onnxeval.Unary(func(x float64) float64 {
		return max(x, 0) +
			math.Log1p(math.Exp(-math.Abs(x)))
	})},
	"IsNaN": {Least: 1, Run: func(c *call) ([]*dense, error) {
		out, err := onnxeval.Alloc(onnx.Bool, c.In[0].Shape)
		if err != nil {
			return nil, err
		}
		for i, v := range c.In[0].F {
			if v != v {
				out.I[i] = 1
			}
		}
		return []*dense{out}, nil
	}},
	"Gelu": {Least: 1, Run: func(c *call) ([]*dense, error) {
		if c.Node.Str("approximate", "none") == "tanh" {
			return onnxeval.Unary(fastGelu)(c)
		}
		return onnxeval.Unary(gelu)(c)
	}},
	"FastGelu":  {Least: 1, Run: withBias(fastGelu)},
	"BiasGelu":  {Least: 2, Run: withBias(gelu)},
	"QuickGelu": {Least: 1, Run: func(c *call) ([]*dense, error) { return quickGelu(c) }},
	"Dropout":   {Least: 1, Run: func(c *call) ([]*dense, error) { return c.In[:1], nil }},
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// gelu is x·Φ(x) (Hendrycks & Gimpel 2016, arXiv:1606.08415); fastGelu its tanh approximation.
func gelu(x float64) float64 { return 0.5 * x * (1 + math.Erf(x/math.Sqrt2)) }

func fastGelu(x float64) float64 {
	return 0.5 * x * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
}

func quickGelu(c *call) ([]*dense, error) {
	a := float64(c.Node.Float("alpha", 1.702))
	return onnxeval.Unary(func(x float64) float64 { return x * sigmoid(a*x) })(c)
}

// withBias applies f to the sum of the input and an optional bias along the last axis.
func withBias(f func(float64) float64) onnxeval.Run {
	return func(c *call) ([]*dense, error) {
		x, err := sum(c.In[0], c.Arg(1))
		if err != nil {
			return nil, err
		}
		return onnxeval.Unary(f)(&call{Node: c.Node, In: []*dense{x}, Opset: c.Opset})
	}
}
