package onnxgrad

import "infill/mlm/onnx"

// outerProducts sums up products of few columns with few rows in one product,
//
//	A₁·B₁ + A₂·B₂ + … = [A₁ A₂ …]·[B₁; B₂; …],
//
// where each on its own would write, and each sum read and write again, a matrix that is much
// larger than its factors. The gradients that a layer with one query for every row sends to all
// positions are of this kind: through the scores, the weighted mean, and the position of the query
// itself.
func outerProducts(b *builder, nodes []*node) []*node {
	u := uses(nodes)
	return b.rewritten(nodes, func(out *builder, n *node) bool { return out.mergeOuter(n, u) })
}

// thin is the most columns that a factor may have to be little beside the product.
const thin = 32

// outer is a product Aᵀ·B of thin factors: A [R, K, L], B [R, K, D].
type outer struct{ a, b *value }

// mergeOuter replaces n if it is the last of a chain of sums that has two or more outer products.
func (b *builder) mergeOuter(n *node, u map[*value][]*node) bool {
	v := n.out[0]
	if n.op != "Add" || v.shape.rank() != 3 || v.typ != onnx.Float || partOfSum(v, u) {
		return false
	}
	var products []*node
	var rest []*value
	var walk func(x *value)
	walk = func(x *value) {
		switch sole := len(u[x]) == 1 && x.from != nil && x.shape.equal(v.shape); {
		case sole && x.from.op == "Add":
			walk(x.from.in[0])
			walk(x.from.in[1])
		case sole && isOuter(x.from):
			products = append(products, x.from)
		default:
			rest = append(rest, x)
		}
	}
	walk(n.in[0])
	walk(n.in[1])
	if len(products) < 2 {
		return false
	}
	var left, right []*value
	for _, p := range products {
		f := b.factors(p)
		left, right = append(left, f.a), append(right, f.b)
	}
	join := func(v []*value) *value { return b.with("Concat", "axis", 1, v...) }
	sum := &node{op: "MatMul", in: []*value{join(left), join(right)}, transA: true, alpha: 1}
	for _, x := range rest {
		sum = &node{op: "Add", in: []*value{x, b.add(sum)}}
	}
	sum.out = n.out
	b.add(sum)
	return true
}

// partOfSum reports whether v is only read by a sum of the same shape. The chain of sums then goes
// on.
func partOfSum(v *value, u map[*value][]*node) bool {
	return len(u[v]) == 1 && u[v][0].op == "Add" && u[v][0].out[0].shape.equal(v.shape)
}

// isOuter reports whether n is a product of thin factors, row by row.
func isOuter(n *node) bool {
	if len(n.in) != 2 || n.in[0].fixed || n.in[1].fixed || n.in[0].shape.rank() != 3 ||
		n.in[1].shape.rank() != 3 || n.in[0].shape.at(0) != n.in[1].shape.at(0) {
		return false
	}
	switch x, y := n.in[0].shape, n.in[1].shape; n.op {
	case "Mul":
		return x.isOne(2) && y.isOne(1) || x.isOne(1) && y.isOne(2)
	case "MatMul":
		k := 2
		if n.transA {
			k = 1
		}
		return x.constant(k) && x[0][k] <= thin
	}
	return false
}

// factors gives both factors of an outer product with the thin axis in the middle.
func (b *builder) factors(n *node) outer {
	x, y := n.in[0], n.in[1]
	if n.op == "Mul" {
		if x.shape.isOne(1) {
			x, y = y, x
		}
		return outer{b.transpose(x, []int64{0, 2, 1}), y}
	}
	swap := []int64{0, 2, 1}
	if !n.transA {
		x = b.transpose(x, swap)
	}
	if n.transB {
		y = b.transpose(y, swap)
	}
	if n.alpha != 1 {
		x = b.mul(x, b.scalar(n.alpha))
	}
	return outer{x, y}
}
