package onnxgrad

import (
	"math"
	"slices"

	"infill/mlm/onnx"
)

// convolutionOps are convolutions along the sequence, which DeBERTa-v2 xlarge and xxlarge have
// beside their first layer.
func convolutionOps() []operator {
	return []operator{{name: "Conv", least: 2, most: 3, lower: lowerConv}}
}

// mostTaps bounds the places that a convolution looks at. Each is a node of the graph.
const mostTaps = 1024

// lowerConv writes a convolution of x [B, D, L] with weights [H, D, K] as one product: the K
// neighbours of a position side by side, [B, L', K·D], times the weights as [K·D, H].
func lowerConv(l *loaded, o *onnx.Node, in []*value) []*value {
	x, w, bias := in[0], in[1], optional(in, 2)
	list := func(name string, otherwise ...int64) []int64 {
		if v, ok := o.Ints(name); ok {
			return v
		}
		return otherwise
	}
	if x.shape.rank() != 3 || w.shape.rank() != 3 || !x.shape.constant(1) || !w.shape.constant(2) {
		return l.refuse(o, "convolution of shapes %v and %v, only those along a sequence are known",
			x.shape[0], w.shape[0])
	}
	size := int64(w.shape[0][2])
	strides, dilations, pads := list("strides", 1), list("dilations", 1), list("pads", 0, 0)
	auto := o.Str("auto_pad", "NOTSET")
	switch {
	case len(strides) != 1 || len(dilations) != 1 || len(pads) != 2 || size < 1:
		return l.refuse(o, "convolution with strides %v, dilations %v, pads %v", strides, dilations,
			pads)
	case strides[0] != 1 || dilations[0] < 1 || pads[0] < 0 || pads[1] < 0:
		return l.refuse(o, "convolution with stride %d, dilation %d, pads %v", strides[0],
			dilations[0], pads)
	case o.Int("group", 1) != 1 || w.shape.at(1) != x.shape.at(1):
		return l.refuse(o, "convolution in %d groups", o.Int("group", 1))
	case size > mostTaps:
		return l.refuse(o, "convolution over %d places, at most %d are derived", size, mostTaps)
	case auto != "NOTSET" && auto != "VALID":
		return l.refuse(o, "convolution with padding %s", auto)
	}
	swap := []int64{0, 2, 1}
	x = l.swapped(x)
	if auto == "NOTSET" && (pads[0] > 0 || pads[1] > 0) {
		x = l.op("Pad", x, l.ints(0, pads[0], 0, 0, pads[1], 0))
	}
	reach := dilations[0] * (size - 1)
	var beside []*value
	for k := range size {
		from := k * dilations[0]
		to := from - reach // from the end
		if to == 0 {
			to = math.MaxInt32
		}
		beside = append(beside, l.op("Slice", x, l.ints(from), l.ints(to), l.ints(1)))
	}
	if size > 1 {
		x = l.with("Concat", "axis", 2, beside...)
	}
	if l.err != nil {
		return nil
	}
	rows := shapeOf(int(size)*w.shape[0][1], w.shape[0][0])
	y := l.matmul(x, l.reshape(l.transpose(w, []int64{2, 1, 0}), rows), false, false, 1)
	return []*value{l.transpose(l.sum(y, bias), swap)}
}

// swapped exchanges the last two axes of x [B, D, L], or takes the exchange before it back.
func (b *builder) swapped(x *value) *value {
	if t := is(x, "Transpose"); t != nil && slices.Equal(perm(t), []int64{0, 2, 1}) {
		return t.in[0]
	}
	return b.transpose(x, []int64{0, 2, 1})
}
