package onnxgrad

import (
	"fmt"
	"math"
	"slices"

	"infill/mlm/onnx"
	"infill/mlm/onnxeval"
)

// probes is the number of sizes at which every shape is worked out. A dimension that is the same at
// both is constant. The sizes are chosen so that no product of them coincides with another.
const probes = 2

var (
	probeBlanks = [probes]int{3, 5}     // m, blanks of a chain
	probeChains = [probes]int{101, 103} // C
	probeLength = [probes]int{7, 11}    // L, padded length
	probeRows   = [probes]int{303, 515} // R = C·m
)

// dims is a shape at each probe.
type dims [probes][]int

func (d dims) rank() int { return len(d[0]) }

// at is dimension i at each probe.
func (d dims) at(i int) [probes]int { return [probes]int{d[0][i], d[1][i]} }

// constant reports whether dimension i does not depend on the sizes of a call.
func (d dims) constant(i int) bool { return d[0][i] == d[1][i] }

// isOne reports whether dimension i is 1, hence broadcast.
func (d dims) isOne(i int) bool { return d[0][i] == 1 && d[1][i] == 1 }

func (d dims) equal(e dims) bool { return slices.Equal(d[0], e[0]) && slices.Equal(d[1], e[1]) }

// dimsOf is the shape that at gives at each probe.
func dimsOf(at func(p int) []int) (d dims) {
	for p := range d {
		d[p] = at(p)
	}
	return d
}

// with replaces dimension i.
func (d dims) with(i int, v [probes]int) dims {
	return dimsOf(func(p int) []int { return slices.Concat(d[p][:i], v[p:p+1], d[p][i+1:]) })
}

// volume is the product of the dimensions from one to before another.
func (d dims) volume(from, to int) (v [probes]int) {
	for p := range v {
		v[p] = volume(d[p][from:to])
	}
	return v
}

func volume(s []int) int {
	n := 1
	for _, d := range s {
		n *= d
	}
	return n
}

// shapeOf gives the same dimensions at both probes.
func shapeOf(d ...int) dims { return dims{d, slices.Clone(d)} }

// value is a tensor of the graph.
type value struct {
	name   string // name in the original graph, "" for new ones
	typ    onnx.DataType
	shape  dims
	known  [probes]*onnxeval.Tensor // contents, where they follow from constants and shapes alone
	tensor *onnx.Tensor             // the stored tensor, for weights and constants
	fixed  bool                     // follows from weights alone
	from   *node                    // nil for inputs, weights and constants
}

// node is an operation. Reshape has a single input here: its target is the shape of its output.
// MatMul carries the transpositions and the factor of com.microsoft's FusedMatMul.
type node struct {
	op, domain     string
	name           string // of the original node it stems from, for messages
	in             []*value
	out            []*value
	attrs          []*onnx.Attribute
	transA, transB bool
	alpha          float64
}

// proto is the node in ONNX's terms, to read attributes from.
func (n *node) proto() *onnx.Node {
	return &onnx.Node{Name: n.name, Op: n.op, Domain: n.domain, Attrs: n.attrs}
}

// standard is the node under its ONNX name and with its ONNX attributes, without inputs and
// outputs.
func (n *node) standard() *onnx.Node {
	if n.op == "MatMul" {
		return fusedProto(n)
	}
	if p := asWhole(n); p != nil {
		return p
	}
	return n.proto()
}

// builder makes nodes in order.
type builder struct {
	opset   int64
	nodes   []*node
	consts  map[string]*value // constants made by the builder, to make each once
	follow  *int              // how many more elements of long contents are followed
	context string            // name of the node for which others are being made
	err     error             // first failure; later calls give harmless values
}

func newBuilder(opset int64) *builder {
	follow := maxFollowed
	return &builder{opset: opset, consts: map[string]*value{}, follow: &follow}
}

// rewritten is nodes with those that rewrite takes replaced by what it makes in their place. Its
// builder shares b's constants, and its failure becomes b's.
func (b *builder) rewritten(nodes []*node, rewrite func(out *builder, n *node) bool) []*node {
	out := newBuilder(b.opset)
	out.consts, out.follow = b.consts, b.follow
	for _, n := range nodes {
		out.context = n.name
		if !rewrite(out, n) {
			out.nodes = append(out.nodes, n)
		}
	}
	if out.err != nil {
		b.fail(out.err)
	}
	return out.nodes
}

func (b *builder) fail(err error) *value {
	if b.err == nil {
		b.err = err
	}
	return &value{typ: onnx.Float, shape: shapeOf(1)}
}

// add appends a node with one output and works out its shape.
func (b *builder) add(n *node) *value {
	if b.err != nil {
		return b.fail(b.err)
	}
	if n.name == "" {
		n.name = b.context
	}
	if n.out == nil {
		n.out = []*value{{}}
	}
	if err := infer(n, b.opset, b.follow); err != nil {
		return b.fail(err)
	}
	for _, o := range n.out {
		o.from = n
	}
	b.nodes = append(b.nodes, n)
	return n.out[0]
}

func (b *builder) op(op string, in ...*value) *value { return b.add(&node{op: op, in: in}) }

func (b *builder) mul(x, y *value) *value { return b.op("Mul", x, y) }
func (b *builder) sub(x, y *value) *value { return b.op("Sub", x, y) }

// sum adds, taking nil for zero.
func (b *builder) sum(x, y *value) *value {
	switch {
	case x == nil:
		return y
	case y == nil:
		return x
	}
	return b.op("Add", x, y)
}

func (b *builder) matmul(x, y *value, transX, transY bool, alpha float64) *value {
	return b.add(&node{op: "MatMul", in: []*value{x, y}, transA: transX, transB: transY,
		alpha: alpha})
}

func (b *builder) transpose(x *value, perm []int64) *value {
	return b.add(&node{op: "Transpose", in: []*value{x},
		attrs: []*onnx.Attribute{onnx.Attr("perm", perm)}})
}

// reshape gives x the shape to. Nothing is done if it has it.
func (b *builder) reshape(x *value, to dims) *value {
	if x.shape.equal(to) {
		return x
	}
	return b.add(&node{op: "Reshape", in: []*value{x}, out: []*value{{shape: to}}})
}

// reduce sums or averages over axes, keeping them as 1.
func (b *builder) reduce(op string, x *value, axes ...int) *value {
	list := make([]int64, len(axes))
	for i, a := range axes {
		list[i] = int64(a)
	}
	n := &node{op: op, in: []*value{x}, attrs: []*onnx.Attribute{onnx.Attr("keepdims", 1)}}
	if op == "ReduceSum" && b.opset >= 13 || b.opset >= 18 { // axes became an input
		n.in = append(n.in, b.ints(list...))
	} else {
		n.attrs = append(n.attrs, onnx.Attr("axes", list))
	}
	return b.add(n)
}

// ints is a one-dimensional int64 constant.
func (b *builder) ints(v ...int64) *value {
	return b.constant(fmt.Sprint("ints", v), func() *onnx.Tensor {
		return onnx.Ints("", onnx.Int64,
			[]int64{int64(len(v))}, v...)
	})
}

// scalar is a float32 constant of no dimensions.
func (b *builder) scalar(v float64) *value {
	return b.constant(fmt.Sprint("scalar", math.Float32bits(float32(v))),
		func() *onnx.Tensor { return onnx.Floats("", nil, float32(v)) })
}

func (b *builder) constant(key string, make func() *onnx.Tensor) *value {
	if v := b.consts[key]; v != nil {
		return v
	}
	v, err := stored(make())
	if err != nil {
		return b.fail(err)
	}
	b.consts[key] = v
	return v
}

// Contents are followed in tensors of at most maxKnown elements, which is above [R, L, L] at the
// probes. Those of at most smallKnown are all followed, since shapes are computed with them. Of
// longer ones maxFollowed elements are followed in all nodes together: a node of 50 bytes of a file
// could otherwise ask for maxKnown elements of 8 bytes, and many nodes for any memory. A layer of
// DeBERTa takes half a million.
const (
	smallKnown  = 1 << 12
	maxKnown    = 1 << 17
	maxFollowed = 1 << 25
)

// stored makes the value of a tensor of the file or of our own.
func stored(t *onnx.Tensor) (*value, error) {
	v := &value{name: t.Name, typ: t.Type, tensor: t, fixed: true}
	for p := range v.shape {
		v.shape[p] = make([]int, len(t.Dims))
		for i, d := range t.Dims {
			v.shape[p][i] = int(d)
		}
	}
	small := t.Len() <= smallKnown || t.Type == onnx.Int64 && t.Len() <= maxKnown
	if small && t.Type.Size() > 0 {
		k, err := onnxeval.FromONNX(t)
		if err != nil {
			return nil, err
		}
		v.known = [probes]*onnxeval.Tensor{k, k}
	}
	return v, nil
}

// scalarOf is the value of a constant with one element.
func scalarOf(v *value) (float64, bool) {
	if v == nil || v.known[0] == nil || v.known[1] == nil || !v.known[0].Equal(v.known[1]) ||
		v.known[0].Len() != 1 {
		return 0, false
	}
	if len(v.known[0].F) == 1 {
		return v.known[0].F[0], true
	}
	return float64(v.known[0].I[0]), true
}

// with is an operation that has a whole number as its attribute.
func (b *builder) with(op, attribute string, v int64, in ...*value) *value {
	return b.add(&node{op: op, in: in, attrs: []*onnx.Attribute{onnx.Attr(attribute, v)}})
}

func (b *builder) cast(x *value, to onnx.DataType) *value {
	return b.with("Cast", "to", int64(to), x)
}
