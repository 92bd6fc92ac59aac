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
	for i := range x.Len() {
		switch {
		case isFloat(to):
			out.F[i] = float64(x.I[i])
		case to == onnx.Bool:
			if x.IsFloat() && x.F[i] != 0 || !x.IsFloat() && x.I[i] != 0 {
				out.I[i] = 1
			}
		case x.IsFloat():
			out.I[i] = int64(x.F[i])
		default:
			out.I[i] = to.Wrap(x.I[i])
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
