package onnxgrad

import (
	"fmt"
	"math"
	"slices"

	"infill/mlm/onnx"
)

// mostRounded is the largest whole number of a weight. Two products of it and 255 have 16 bits.
// Processors of x86 without VNNI add them up there, and saturate beyond.
const mostRounded = 64

// number gives the matrices that Int8 rounds their numbers, in the order of the products that read
// them: all that are stored as matrices of weights, but for the head, whose numbers are the answer.
func (d *derivation) number() error {
	d.matrices = map[*onnx.Tensor]int{}
	head := headOf(d.logits)
	for _, n := range d.nodes {
		if w := roundable(n); w != nil && n != head {
			if _, ok := d.matrices[w]; !ok {
				d.matrices[w] = len(d.matrices)
			}
		}
	}
	if k := len(d.opt.Exact); d.opt.Int8 && k != 0 && k != len(d.matrices) {
		return refused(errShape, "columns of %d matrices for a model with %d", k, len(d.matrices))
	}
	return nil
}

// roundable is the stored matrix that n multiplies what follows from the words with, nil if n is
// not such a product.
func roundable(n *node) *onnx.Tensor {
	if n.op != "MatMul" || n.transA || !n.in[1].fixed || n.in[1].shape.rank() != 2 || n.in[0].fixed ||
		n.in[0].shape.rank() < 2 || n.out[0].typ != onnx.Float {
		return nil
	}
	w := weightOf(n.in[1])
	if w == nil || w.Type != onnx.Float && w.Type != onnx.Float16 {
		return nil
	}
	return w
}

// A joint is products that read the same value: it is rounded once for them.
type joint struct {
	x        *value
	products []*node
	numbers  []int // of their matrices
	exact    []int // columns of x that stay in float32
}

// joints are the products with numbered matrices among nodes, by the first of each.
func (d *derivation) joints(nodes []*node) (list []*joint, of map[*node]*joint) {
	of = map[*node]*joint{}
	at := map[string]*joint{}
	for _, n := range nodes {
		w := roundable(n)
		k, ok := d.matrices[w]
		if w == nil || !ok {
			continue
		}
		var exact []int
		if len(d.opt.Exact) > 0 {
			exact = d.opt.Exact[k]
		}
		key := fmt.Sprintf("%p %v", n.in[0], exact)
		j := at[key]
		if j == nil {
			j = &joint{x: n.in[0], exact: exact}
			at[key], list = j, append(list, j)
		}
		j.products, j.numbers = append(j.products, n), append(j.numbers, k)
		of[n] = j
	}
	return list, of
}

// watch has the largest sizes of what matrices are multiplied with as outputs, one for each joint.
func (d *derivation) watch() error {
	list, _ := d.joints(d.forward.nodes)
	for _, j := range list {
		var axes []int
		for i := range j.x.shape.rank() - 1 {
			axes = append(axes, i)
		}
		d.largest = append(d.largest, d.forward.reduce("ReduceMax", d.forward.op("Abs", j.x), axes...))
		d.watched = append(d.watched, j.numbers)
	}
	return d.forward.err
}

// integers has the products with matrices of weights computed in 8 bits. A row x of what they are
// multiplied with becomes whole numbers q from 0 to 255, by the smallest and the largest of its
// numbers, and a column of weights whole numbers W₈ with a scale w. A few columns f of x, whose
// numbers are far larger than the others, stay in float32:
//
//	s = (max x' − min x')/255,   −z = round(min x'/s),   q = round(x'/s − (−z)),   x' = x without f
//	x·W ≈ s·w ⊙ (q·W₈) + [x_f, −z·s] · [W_f; w ⊙ Σ W₈]
//
// A row depends on no other, and sums are of integers, the same on every processor. Left as they
// are: the head, and products with what is not stored as a matrix.
func (d *derivation) integers() error {
	_, of := d.joints(d.forward.nodes)
	d.forward.nodes = d.forward.rewritten(d.forward.nodes, func(out *builder, n *node) bool {
		j := of[n]
		if j != nil && j.products[0] == n {
			d.rounded(out, j)
		}
		return j != nil
	})
	return d.forward.err
}

// rounded writes the products of a joint.
func (d *derivation) rounded(out *builder, j *joint) {
	m := out.roundMatrices(j)
	if out.err != nil {
		return
	}
	x, last := j.x, j.x.shape.rank()-1
	if len(j.exact) > 0 {
		x = out.mul(x, m.others)
	}
	least := out.reduce("ReduceMin", x, last)
	size := out.op("Max", out.sub(out.reduce("ReduceMax", x, last), least), out.scalar(1e-9))
	steps, scale := out.op("Div", out.scalar(255), size), out.op("Div", size, out.scalar(255))
	zero := out.op("Round", out.mul(least, steps))
	q := out.op("Round", out.sub(out.mul(x, steps), zero))
	q = out.cast(out.op("Min", q, out.scalar(255)), onnx.Uint8)
	wide := x.shape.with(last, [probes]int{m.width, m.width})
	sums := &value{typ: onnx.Int32, shape: wide}
	sums.from = &node{op: "MatMulInteger", name: out.context, in: []*value{q, m.whole},
		out: []*value{sums}}
	out.nodes = append(out.nodes, sums.from)
	y := out.mul(out.mul(out.cast(sums, onnx.Float), m.scales), scale)
	few := out.mul(zero, scale)
	if len(j.exact) > 0 {
		few = out.with("Concat", "axis", int64(last), out.with("Gather", "axis", int64(last), j.x,
			m.exact), few)
	}
	few = out.matmul(few, m.few, false, false, 1)
	if len(j.products) == 1 {
		out.add(&node{op: "Add", in: []*value{y, few}, out: j.products[0].out})
		return
	}
	y = out.op("Add", y, few)
	from := 0
	for _, n := range j.products {
		to := from + n.out[0].shape[0][last]
		out.add(&node{op: "Slice", name: n.name, in: []*value{y, out.ints(int64(from)),
			out.ints(int64(to)), out.ints(int64(last))}, out: n.out})
		from = to
	}
}

// rounding is what a joint's matrices, side by side, become.
type rounding struct {
	width  int
	whole  *value // W₈ [depth, width], int8
	scales *value // w [width]
	few    *value // [f and one more, width], in float32
	exact  *value // f
	others *value // [depth], 1, and 0 for f
}

// roundMatrices rounds the matrices of a joint. Those of shared layers are rounded once.
func (b *builder) roundMatrices(j *joint) (r rounding) {
	depth := j.x.shape[0][j.x.shape.rank()-1]
	key := fmt.Sprint("rounded ", j.numbers, j.exact)
	for _, n := range j.products {
		key += fmt.Sprint(" ", n.transB, n.alpha)
		r.width += n.out[0].shape[0][n.out[0].shape.rank()-1]
	}
	one := func(name string, make func() *onnx.Tensor) *value { return b.constant(key+name, make) }
	exact, others := make([]int64, len(j.exact)), slices.Repeat([]float32{1}, depth)
	for i, f := range j.exact {
		if f < 0 || f >= depth || others[f] == 0 {
			b.fail(refused(errShape, "columns %v of %d", j.exact, depth))
			return r
		}
		exact[i], others[f] = int64(f), 0
	}
	d, w, few := int64(depth), int64(r.width), int64(len(j.exact)+1)
	if b.consts[key] == nil {
		whole, scales, fewer := make([]byte, depth*r.width), make([]float32, r.width),
			make([]float32, int(few)*r.width)
		from := 0
		for _, n := range j.products {
			values, err := weightOf(n.in[1]).Float64s()
			if err != nil {
				b.fail(err)
				return r
			}
			c := matrix{values, depth, n.alpha, n.transB}
			for i := range c.width() {
				c.round(i, j.exact, whole[from:], scales[from:], fewer[from:], r.width)
				from++
			}
		}
		one("", func() *onnx.Tensor { return onnx.NewTensor("", onnx.Int8, []int64{d, w}, whole) })
		one("w", func() *onnx.Tensor { return onnx.Floats("", []int64{w}, scales...) })
		one("few", func() *onnx.Tensor { return onnx.Floats("", []int64{few, w}, fewer...) })
	}
	r.whole, r.scales, r.few = b.consts[key], b.consts[key+"w"], b.consts[key+"few"]
	r.exact = b.ints(exact...)
	r.others = one("others", func() *onnx.Tensor { return onnx.Floats("", []int64{d}, others...) })
	return r
}

// matrix is a stored matrix [depth, columns], or turned [columns, depth], times alpha.
type matrix struct {
	values []float64
	depth  int
	alpha  float64
	turned bool
}

func (m matrix) width() int { return len(m.values) / max(m.depth, 1) }

// column is column i.
func (m matrix) column(i int) []float64 {
	out := make([]float64, m.depth)
	for k := range out {
		if m.turned {
			out[k] = m.alpha * m.values[i*m.depth+k]
		} else {
			out[k] = m.alpha * m.values[k*m.width()+i]
		}
	}
	return out
}

// round writes what becomes of column i to the first place of every row of width numbers. The rows
// f go to few, and the sum of the others behind them.
func (m matrix) round(i int, f []int, whole []byte, scale, few []float32, width int) {
	column := m.column(i)
	for k, at := range f {
		few[k*width], column[at] = float32(column[at]), 0
	}
	top := 0.0
	for _, v := range column {
		top = max(top, math.Abs(v))
	}
	if top == 0 {
		top = 1
	}
	w, sum := float64(float32(top/mostRounded)), 0.0
	for k, v := range column {
		q := math.RoundToEven(v / w)
		whole[k*width] = byte(int8(q))
		sum += q
	}
	scale[0], few[len(f)*width] = float32(w), float32(w*sum)
}
