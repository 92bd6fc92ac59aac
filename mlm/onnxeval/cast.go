package onnxeval

import (
	"fmt"

	"infill/mlm/onnx"
)

// cast converts between types. Casts between floating types keep the float64 value: the reference
// does not round to narrower floats.
func cast(x *Tensor, to onnx.DataType) (*Tensor, error) {
	if to.Size() == 0 {
		return nil, fmt.Errorf("cast to %v", to)
	}
	if x.IsFloat() == isFloat(to) && to != onnx.Bool {
		out := x.With(x.Shape)
		out.Type = to
		if x.IsFloat() || x.Type == to || to == onnx.Int64 || x.Type == onnx.Bool {
			return out, nil
		}
	}
	out, err := Alloc(to, x.Shape)
	if err != nil {
		return nil, err
	}
	switch {
	case isFloat(to):
		for i, v := range x.I {
			out.F[i] = float64(v)
		}
	case to == onnx.Bool && x.IsFloat():
		for i, v := range x.F {
			if v != 0 {
				out.I[i] = 1
			}
		}
	case to == onnx.Bool:
		for i, v := range x.I {
			if v != 0 {
				out.I[i] = 1
			}
		}
	case x.IsFloat():
		for i, v := range x.F {
			out.I[i] = int64(v)
		}
	default:
		for i, v := range x.I {
			out.I[i] = to.Wrap(v)
		}
	}
	return out, nil
}

func where(c *Call) ([]*Tensor, error) {
	cond, a, b := c.In[0], c.In[1], c.In[2]
	shape, err := Broadcast(cond.Shape, a.Shape, b.Shape)
	if err != nil {
		return nil, err
	}
	if err := fits(shape); err != nil {
		return nil, err
	}
	whole := func(t *Tensor) *Tensor {
		return Viewed(t, shape, BroadcastStrides(t.Shape, shape), 0)
	}
	out, other := whole(b), whole(a)
	for i, v := range whole(cond).I {
		if v != 0 {
			out.Put(i, other, i, 1)
		}
	}
	out.Type = a.Type
	return []*Tensor{out}, nil
}
