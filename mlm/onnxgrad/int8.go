package onnxgrad

import (
	"math"

	"infill/mlm/onnx"
)

// int8Block is how many factors in a row share a scale.
const int8Block = 64

// integers has the forward products with matrices of weights computed in 8 bits, by the runtime's
// MatMulNBits. Each block of 64 weights that a sum goes over is rounded to whole numbers with a
// scale of its own, once and for all, and so is what they are multiplied with, at every call. A row
// depends on no other. Left as they are: the head, whose numbers are the answer, products with what
// is not stored as a matrix, and the backward pass.
func (d *derivation) integers() error {
	made := map[rounding][2]*value{}
	d.forward.nodes = d.forward.rewritten(d.forward.nodes, func(out *builder, n *node) bool {
		if n.op != "MatMul" || n == d.head || n.transA || !n.in[1].fixed ||
			n.in[1].shape.rank() != 2 || n.in[0].fixed || n.out[0].typ != onnx.Float {
			return false
		}
		w := weightOf(n.in[1])
		if w == nil || w.Type != onnx.Float && w.Type != onnx.Float16 {
			return false
		}
		key := rounding{w, n.transB, n.alpha}
		if made[key] == [2]*value{} {
			var err error
			if made[key], err = roundWeights(key); err != nil {
				out.fail(err)
				return false
			}
		}
		q := made[key]
		product := &node{op: "MatMulNBits", domain: onnx.Microsoft, name: n.name,
			in: []*value{n.in[0], q[0], q[1]}, out: n.out, attrs: []*onnx.Attribute{
				onnx.Attr("K", key.depth()), onnx.Attr("N", q[0].shape[0][0]),
				onnx.Attr("bits", 8), onnx.Attr("block_size", int8Block), onnx.Attr("accuracy_level", 4)}}
		n.out[0].from = product
		out.nodes = append(out.nodes, product)
		return true
	})
	return d.forward.err
}

// rounding says what is rounded: w, or its transpose, times alpha. Weights are told apart by where
// they lie, because those that were computed from others have no name.
type rounding struct {
	w          *onnx.Tensor
	transposed bool
	alpha      float64
}

// depth is the number of terms in a sum of the product.
func (r rounding) depth() int {
	if r.transposed {
		return int(r.w.Dims[1])
	}
	return int(r.w.Dims[0])
}

// roundWeights gives the whole numbers, 128 added, [columns, blocks, int8Block], and their scales,
// [columns·blocks]. A sum that does not fill its last block has zeros there.
func roundWeights(r rounding) (out [2]*value, err error) {
	values, err := r.w.Float64s()
	if err != nil {
		return out, err
	}
	depth := r.depth()
	width := len(values) / max(depth, 1)
	if !r.transposed {
		turned := make([]float64, len(values))
		for i, v := range values {
			turned[i%width*depth+i/width] = v
		}
		values = turned
	}
	blocks := (depth + int8Block - 1) / int8Block
	data, scales := make([]byte, width*blocks*int8Block), make([]float32, 0, width*blocks)
	for c := range width {
		for b := range blocks {
			block := values[c*depth+b*int8Block : c*depth+min((b+1)*int8Block, depth)]
			to := data[(c*blocks+b)*int8Block:][:int8Block]
			s := blockScale(block)
			for i := range to {
				to[i] = 128
				if i < len(block) && s > 0 {
					to[i] += byte(int8(math.RoundToEven(block[i] / s)))
				}
			}
			scales = append(scales, float32(s*r.alpha))
		}
	}
	if out[0], err = stored(onnx.NewTensor("", onnx.Uint8,
		[]int64{int64(width), int64(blocks), int8Block}, data)); err != nil {
		return out, err
	}
	out[1], err = stored(onnx.Floats("", []int64{int64(len(scales))}, scales...))
	return out, err
}

// blockScale is what the whole numbers of a block are multiplied with: the largest is 127. Weights
// that were whole numbers from -8 to 8 times something before they were stored in float16, as those
// of models in 4 bits, are found out, and become the same numbers or twice them. Only that
// something is then off, by less than float16 rounds.
func blockScale(block []float64) float64 {
	top := 0.0
	for _, v := range block {
		top = max(top, math.Abs(v))
	}
	const slack = 8. / 1024 // of two numbers rounded to 11 binary digits, 8 times
search:
	for most := 8.0; most > 4 && top > 0; most-- {
		along, square := 0.0, 0.0
		for _, v := range block {
			x := v / top * most
			q := math.RoundToEven(x)
			if math.Abs(x-q) > slack {
				continue search
			}
			along, square = along+q*v, square+q*q
		}
		return along / square
	}
	return top / 127
}
