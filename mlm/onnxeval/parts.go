package onnxeval

import "fmt"

// Tensors put together and taken apart.

func concat(c *Call) ([]*Tensor, error) {
	axis, err := Axis(c.Node.Int("axis", 0), len(c.In[0].Shape))
	if err != nil {
		return nil, err
	}
	return one(joined(c.In, axis))
}

func joined(in []*Tensor, axis int) (*Tensor, error) {
	shape := append([]int{}, in[0].Shape...)
	for _, t := range in[1:] {
		if len(t.Shape) != len(shape) || t.IsFloat() != in[0].IsFloat() {
			return nil, fmt.Errorf("cannot join shapes %v and %v", shape, t.Shape)
		}
		for i, d := range t.Shape {
			if i != axis && d != shape[i] {
				return nil, fmt.Errorf("cannot join shapes %v and %v", shape, t.Shape)
			}
		}
		shape[axis] += t.Shape[axis]
	}
	if !known(in...) {
		return &Tensor{Type: in[0].Type, Shape: shape}, nil
	}
	out, err := Alloc(in[0].Type, shape)
	if err != nil {
		return nil, err
	}
	outer, n, inner := Around(shape, axis)
	at := 0
	for _, t := range in {
		w := t.Shape[axis] * inner
		for o := range outer {
			out.Put(o*n*inner+at, t, o*w, w)
		}
		at += w
	}
	return out, nil
}

func split(c *Call) ([]*Tensor, error) {
	x := c.In[0]
	axis, err := Axis(c.Node.Int("axis", 0), len(x.Shape))
	if err != nil {
		return nil, err
	}
	sizes, _ := c.Node.Ints("split")
	if t := c.Arg(1); t != nil {
		sizes = t.I
	}
	if sizes == nil {
		parts := int(c.Node.Int("num_outputs", int64(len(c.Node.Outputs))))
		if parts < 1 || parts != len(c.Node.Outputs) {
			return nil, fmt.Errorf("split into %d parts for %d outputs", parts, len(c.Node.Outputs))
		}
		size := (x.Shape[axis] + parts - 1) / parts
		for left := x.Shape[axis]; len(sizes) < parts; left -= size {
			sizes = append(sizes, int64(max(0, min(size, left))))
		}
	}
	if len(sizes) != len(c.Node.Outputs) {
		return nil, fmt.Errorf("%d sizes for %d outputs", len(sizes), len(c.Node.Outputs))
	}
	own := Strides(x.Shape)
	var out []*Tensor
	at := 0
	for _, s := range sizes {
		if s < 0 || at+int(s) > x.Shape[axis] {
			return nil, fmt.Errorf("split %v of axis of %d", sizes, x.Shape[axis])
		}
		shape := append([]int{}, x.Shape...)
		shape[axis] = int(s)
		out = append(out, Viewed(x, shape, own, at*own[axis]))
		at += int(s)
	}
	return out, nil
}
