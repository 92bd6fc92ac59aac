package onnxgrad

import (
	"encoding/binary"
	"fmt"
	"math"

	"infill/mlm/onnx"
)

// quantised replaces the products of the backward pass with matrices of weights by products of
// 8-bit integers, Y = s·(round(X/s)·Q)·c:
//
//   - Q is W rounded to −127 … 127 with a scale c for each of its columns, once and for all.
//   - X is rounded to 127 steps either way of zero with a scale s for each of its rows, at every
//     call. A row depends on no other, and sums of integers on no order: results stay the same bits
//     in any batch.
//
// Gradients are then off by a few hundredths. Energies are not touched. The sampler's acceptance
// step takes the gradient for what it is, a function of the state, and stays exact. Two kinds of
// products stay as they are: those with what is not stored as a matrix of weights, and those with
// probabilities, for which a hundred steps are too few.
//
// Unsigned stores Q + 128 with a zero point of 128. The products are the same integers, and so Y is
// the same bits (see Options.Unsigned).
func quantised(b *builder, nodes []*node, unsigned bool) []*node {
	q := quantiser{unsigned: unsigned, zeros: map[int]*value{},
		rounded: map[rounding]*roundedWeights{}}
	return b.rewritten(nodes, func(out *builder, n *node) bool {
		if n.op != "MatMul" || n.transA || !n.in[1].fixed || n.in[1].shape.rank() != 2 ||
			n.in[0].fixed ||
			is(n.in[0], "Exp") != nil || n.in[0].shape.rank() < 2 || n.out[0].typ != onnx.Float {
			return false
		}
		w := weightOf(n.in[1])
		if w == nil || w.Type != onnx.Float && w.Type != onnx.Float16 {
			return false
		}
		m, err := q.weights(out, rounding{w, n.transB, n.alpha})
		if err != nil {
			out.fail(fmt.Errorf("weights of node %q: %w", n.name, err))
			return false
		}
		q.product(out, n, m)
		return true
	})
}

// rounding says what is rounded: w, or its transpose, times alpha. Weights are told apart by where
// they lie, because those that were computed from others have no name.
type rounding struct {
	w          *onnx.Tensor
	transposed bool
	alpha      float64
}

// roundedWeights are the integers Q and the scales c of its columns.
type roundedWeights struct{ integers, scale *value }

// quantiser makes each rounded matrix once, and the zero points once for each number of rows.
type quantiser struct {
	unsigned bool
	zeros    map[int]*value
	rounded  map[rounding]*roundedWeights
}

// product writes n as a product with the integers of m.
func (q *quantiser) product(b *builder, n *node, m *roundedWeights) {
	x, y := n.in[0], n.out[0]
	var flatIn, flatOut, column, line dims
	for p := range flatIn {
		r := x.shape.rank() - 1
		rows := volume(x.shape[p][:r])
		flatIn[p], flatOut[p] = []int{rows, x.shape[p][r]},
			[]int{rows, y.shape[p][y.shape.rank()-1]}
		column[p], line[p] = []int{rows, 1}, []int{rows}
	}
	x = b.reshape(x, flatIn)
	// A row of zeros has scale 0, which nothing can be divided by.
	s := b.op("Add", b.mul(b.reduce("ReduceMax", b.op("Abs", x), 1), b.scalar(1.0/127)),
		b.scalar(1e-30))
	steps := b.reshape(s, line)
	zero := b.constant("zero point", func() *onnx.Tensor {
		return onnx.NewTensor("", onnx.Uint8,
			nil, []byte{128})
	})
	zeros := q.zeros[line[0][0]]
	if zeros == nil {
		zeros = b.typed("Expand", onnx.Uint8, line, zero, b.op("Shape", steps))
		q.zeros[line[0][0]] = zeros
	}
	whole := b.typed("QuantizeLinear", onnx.Uint8, flatIn, x, steps, zeros)
	whole.from.attrs = []*onnx.Attribute{intAttr("axis", 0)}
	in := []*value{whole, m.integers, b.scalar(1), m.scale, zero}
	if q.unsigned {
		in = append(in, zero)
	}
	product := b.typed("MatMulIntegerToFloat", onnx.Float, flatOut, in...)
	product.from.domain = onnx.Microsoft
	last := &node{op: "Mul", in: []*value{product, s}}
	if !y.shape.equal(flatOut) {
		last = &node{op: "Reshape", in: []*value{b.add(last)}}
	}
	last.out = []*value{y}
	b.add(last)
}

// typed appends a node whose type and shape are known, of an operation that models do not have.
func (b *builder) typed(op string, typ onnx.DataType, shape dims, in ...*value) *value {
	v := &value{typ: typ, shape: shape}
	v.from = &node{op: op, name: b.context, in: in, out: []*value{v}}
	b.nodes = append(b.nodes, v.from)
	return v
}

// weights rounds a matrix, the first time it is asked for.
func (q *quantiser) weights(b *builder, r rounding) (*roundedWeights, error) {
	if m := q.rounded[r]; m != nil {
		return m, nil
	}
	data, steps, dims, err := roundWeights(r.w, r.transposed, r.alpha)
	if err != nil {
		return nil, err
	}
	typ := onnx.Int8
	if q.unsigned {
		typ = onnx.Uint8
		for i := range data {
			data[i] += 128
		}
	}
	integers, err := stored(onnx.NewTensor("", typ, dims, data))
	if err != nil {
		return nil, err
	}
	scale, err := stored(onnx.Floats("", dims[1:], steps...))
	if err != nil {
		return nil, err
	}
	q.rounded[r] = &roundedWeights{integers, scale}
	return q.rounded[r], nil
}

// roundWeights gives the integers, row by row, and the scale of each column.
func roundWeights(w *onnx.Tensor, transposed bool, alpha float64) (data []byte, scale []float32,
	dims []int64, err error) {
	rows, cols := int(w.Dims[0]), int(w.Dims[1])
	dims = []int64{w.Dims[0], w.Dims[1]}
	if transposed {
		dims[0], dims[1] = dims[1], dims[0]
	}
	top := make([]float32, dims[1])
	err = eachRow(w, rows, cols, func(r int, row []float32) {
		for c, v := range row {
			j := c
			if transposed {
				j = r
			}
			top[j] = max(top[j], v, -v)
		}
	})
	if err != nil {
		return nil, nil, nil, err
	}
	scale = make([]float32, len(top))
	for j, t := range top {
		scale[j] = float32(float64(t) / 127 * alpha)
	}
	data = make([]byte, rows*cols)
	err = eachRow(w, rows, cols, func(r int, row []float32) {
		for c, v := range row {
			j, at := c, r*cols+c
			if transposed {
				j, at = r, c*rows+r
			}
			if top[j] > 0 {
				data[at] = byte(int8(math.RoundToEven(float64(v / top[j] * 127))))
			}
		}
	})
	return data, scale, dims, err
}

// eachRow calls f for the rows of a stored matrix. A strip of them is in memory at a time.
func eachRow(w *onnx.Tensor, rows, cols int, f func(r int, row []float32)) error {
	if rows == 0 || cols == 0 {
		return nil
	}
	d, err := w.Open()
	if err != nil {
		return err
	}
	defer d.Close() //nolint:errcheck // opened for reading
	width := cols * w.Type.Size()
	each := max(1, min(rows, stripBytes/width))
	row := make([]float32, cols)
	for from := 0; from < rows; from += each {
		n := min(each, rows-from)
		buf := make([]byte, n*width)
		if err := d.Read(buf, int64(from)*int64(width)); err != nil {
			return err
		}
		if w.Type != onnx.Float {
			v, err := onnx.NewTensor("", w.Type, []int64{int64(n), int64(cols)}, buf).Float64s()
			if err != nil {
				return err
			}
			for r := range n {
				for c := range row {
					row[c] = float32(v[r*cols+c])
				}
				f(from+r, row)
			}
			continue
		}
		for r := range n {
			for c := range row {
				row[c] = math.Float32frombits(binary.LittleEndian.Uint32(buf[4*(r*cols+c):]))
			}
			f(from+r, row)
		}
	}
	return nil
}
