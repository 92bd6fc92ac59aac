package onnxgrad

import (
	"fmt"

	"infill/mlm/onnxeval"
)

// pad surrounds x with zeros (or a given value). Other modes are not used by our models.
func pad(c *call) ([]*dense, error) {
	x := c.In[0]
	pads, err := onnxeval.AsInts(c.In[1])
	if err != nil || c.Node.Str("mode", "constant") != "constant" || c.Arg(3) != nil ||
		len(pads) != 2*len(x.Shape) {
		return nil, fmt.Errorf("this form of padding is not supported")
	}
	shape, own := make([]int, len(x.Shape)), onnxeval.Strides(x.Shape)
	first := 0
	for i, d := range x.Shape {
		if pads[i] < 0 || pads[i+len(x.Shape)] < 0 {
			return nil, fmt.Errorf("negative padding")
		}
		shape[i] = d + pads[i] + pads[i+len(x.Shape)]
	}
	out, err := onnxeval.Alloc(x.Type, shape)
	if err != nil {
		return nil, err
	}
	if v := c.Arg(2); v != nil && x.IsFloat() {
		for i := range out.F {
			out.F[i] = v.F[0]
		}
	}
	st := onnxeval.Strides(shape)
	for i := range shape {
		first += pads[i] * st[i]
	}
	onnxeval.Walk(x.Shape, [][]int{own, st}, func(base []int, _ int) {
		n := 1
		if k := len(x.Shape); k > 0 {
			n = x.Shape[k-1]
		}
		out.Put(first+base[1], x, base[0], n)
	})
	return []*dense{out}, nil
}
