package onnxgrad

import (
	"fmt"

	"infill/mlm/onnxeval"
)

var convolutions = table{"Conv": {Least: 2, Run: conv}}

// conv is a convolution along one axis. Inputs: x [B, D, L], weights [H, D/groups, K], bias [H] or
// none.
func conv(c *call) ([]*dense, error) {
	x, w, bias := c.In[0], c.In[1], c.Arg(2)
	list := func(name string, otherwise ...int64) []int64 {
		if v, ok := c.Node.Ints(name); ok {
			return v
		}
		return otherwise
	}
	if len(x.Shape) != 3 || len(w.Shape) != 3 || !x.IsFloat() || !w.IsFloat() {
		return nil, fmt.Errorf("%w: convolution of shapes %v and %v", onnxeval.ErrOp, x.Shape, w.Shape)
	}
	strides, dilations, pads := list("strides", 1), list("dilations", 1), list("pads", 0, 0)
	auto, groups := c.Node.Str("auto_pad", "NOTSET"), int(c.Node.Int("group", 1))
	if auto == "VALID" {
		pads = []int64{0, 0}
	}
	if len(strides) != 1 || len(dilations) != 1 || len(pads) != 2 || auto != "NOTSET" &&
		auto != "VALID" {
		return nil, fmt.Errorf("%w: this form of convolution", onnxeval.ErrOp)
	}
	stride, dilation, before := int(strides[0]), int(dilations[0]), int(pads[0])
	batch, depth, length := x.Shape[0], x.Shape[1], x.Shape[2]
	width, part, size := w.Shape[0], w.Shape[1], w.Shape[2]
	if stride < 1 || dilation < 1 || before < 0 || pads[1] < 0 || groups < 1 || size < 1 ||
		width%groups != 0 || part*groups != depth || bias != nil && bias.Len() != width {
		return nil,
			fmt.Errorf("convolution of %v by %v with stride %d, dilation %d, pads %v, %d groups",
				x.Shape, w.Shape, stride, dilation, pads, groups)
	}
	span := length + before + int(pads[1]) - dilation*(size-1)
	if span < 1 {
		return nil, fmt.Errorf("a kernel of %d is longer than a sequence of %d", size, length)
	}
	n := (span-1)/stride + 1
	out, err := onnxeval.Alloc(x.Type, []int{batch, width, n})
	if err != nil {
		return nil, err
	}
	for b := range batch {
		for h := range width {
			first := h / (width / groups) * part // channel of x
			to := out.F[(b*width+h)*n : (b*width+h+1)*n]
			for i := range to {
				if bias != nil {
					to[i] = bias.F[h]
				}
				for k := range size {
					at := i*stride + k*dilation - before
					if at < 0 || at >= length {
						continue
					}
					for d := range part {
						to[i] += w.F[(h*part+d)*size+k] * x.F[(b*depth+first+d)*length+at]
					}
				}
			}
		}
	}
	return []*dense{out}, nil
}
