package onnxeval

import "fmt"

// pad surrounds x with zeros (or a given value). Other modes are not used by our models.
func pad(c *call) ([]*Tensor, error) {
	x := c.in[0]
	pads, err := asInts(c.in[1])
	if err != nil || c.n.Str("mode", "constant") != "constant" || c.arg(3) != nil ||
		len(pads) != 2*len(x.Shape) {
		return nil, fmt.Errorf("this form of padding is not supported")
	}
	shape, own := make([]int, len(x.Shape)), strides(x.Shape)
	first := 0
	for i, d := range x.Shape {
		if pads[i] < 0 || pads[i+len(x.Shape)] < 0 {
			return nil, fmt.Errorf("negative padding")
		}
		shape[i] = d + pads[i] + pads[i+len(x.Shape)]
	}
	out, err := alloc(x.Type, shape)
	if err != nil {
		return nil, err
	}
	if v := c.arg(2); v != nil && x.float() {
		for i := range out.F {
			out.F[i] = v.F[0]
		}
	}
	st := strides(shape)
	for i := range shape {
		first += pads[i] * st[i]
	}
	walk(x.Shape, [][]int{own, st}, func(base []int, _ int) {
		n := 1
		if k := len(x.Shape); k > 0 {
			n = x.Shape[k-1]
		}
		out.put(first+base[1], x, base[0], n)
	})
	return []*Tensor{out}, nil
}
