package onnxgrad

import (
	"fmt"
	"slices"

	"infill/mlm/onnx"
)

// productOps are matrix products. Inside the derivation there is one, MatMul, which carries the
// transpositions and the factor of the runtime's FusedMatMul. Gemm comes back where a bias is
// added.
func productOps() []operator {
	return []operator{
		{name: "MatMul", least: 2, most: 2, shape: matmulShape, typ: firstType, heavy: true,
			along: matmulAlong, derivative: matmulBackward},
		{name: "FusedMatMul", least: 2, most: 2, lower: lowerFusedMatMul},
		{name: "Gemm", least: 2, most: 3, shape: gemmShape, typ: firstType, simplify: productAndSum,
			along: never, none: replaced},
	}
}

func matmulShape(n *node, p int, _ int64) ([][]int, error) {
	a, b := slices.Clone(n.in[0].shape[p]), slices.Clone(n.in[1].shape[p])
	if len(a) < 2 || len(b) < 2 {
		return nil, fmt.Errorf("matrix product with a vector")
	}
	swap := func(s []int) { k := len(s); s[k-1], s[k-2] = s[k-2], s[k-1] }
	if n.transA {
		swap(a)
	}
	if n.transB {
		swap(b)
	}
	ra, rb := len(a), len(b)
	if a[ra-1] != b[rb-2] {
		return nil, fmt.Errorf("matrix product of shapes %v and %v", a, b)
	}
	lead := &node{in: []*value{{shape: shapeOf(a[:ra-2]...)}, {shape: shapeOf(b[:rb-2]...)}}}
	batch, err := broadcastShape(lead, p, 0)
	if err != nil {
		return nil, err
	}
	return [][]int{append(batch[0], a[ra-2], b[rb-1])}, nil
}

func gemmShape(n *node, p int, opset int64) ([][]int, error) {
	c := *n
	c.transA, c.transB = n.proto().Int("transA", 0) != 0, n.proto().Int("transB", 0) != 0
	return matmulShape(&c, p, opset)
}

// matmulAlong: rows of the product come from the first operand, columns from the second, and there
// is one for each place of the axes before.
func matmulAlong(n *node, a int) []int {
	side := a - (n.out[0].shape.rank() - 2)
	if side < 0 {
		return pointwise(n, a)
	}
	r := all(n)
	r[side] = n.in[side].shape.rank() - 2 + side
	if side == 0 && n.transA {
		r[0]++
	}
	if side == 1 && n.transB {
		r[1]--
	}
	return r
}

// matmulBackward: for Y = α·A·B, gA = α·g·Bᵀ and gB = α·Aᵀ·g. Transposed operands move the
// transposition around.
func matmulBackward(b *builder, e *entry, g []*value) []*value {
	x, y, d := e.in[0], e.in[1], g[0]
	return e.each(func(i int) *value {
		var v *value
		switch {
		case i == 0 && !e.transA:
			v = b.matmul(d, y, false, !e.transB, e.alpha)
		case i == 0:
			v = b.matmul(y, d, e.transB, true, e.alpha)
		case !e.transB:
			v = b.matmul(x, d, !e.transA, false, e.alpha)
		default:
			v = b.matmul(d, x, true, e.transA, e.alpha)
		}
		return b.unbroadcast(v, e.in[i].shape)
	})
}

// lowerFusedMatMul reads the runtime's product into our own.
func lowerFusedMatMul(l *loaded, o *onnx.Node, in []*value) []*value {
	if o.Int("transBatchA", 0) != 0 || o.Int("transBatchB", 0) != 0 {
		return l.refuse(o, "batch transposition")
	}
	return l.enter(&node{op: "MatMul", name: o.Name, in: in, alpha: float64(o.Float("alpha", 1)),
		transA: o.Int("transA", 0) != 0, transB: o.Int("transB", 0) != 0}, o.Outputs)
}

// productAndSum writes Gemm as a product and a sum, so that the bias can be seen.
func productAndSum(l *loaded, n *node) *value {
	p := n.proto()
	y := l.matmul(n.in[0], n.in[1], p.Int("transA", 0) != 0, p.Int("transB", 0) != 0,
		float64(p.Float("alpha", 1)))
	if c := optional(n.in, 2); c != nil {
		if beta := float64(p.Float("beta", 1)); beta != 1 {
			c = l.mul(c, l.scalar(beta))
		}
		y = l.sum(y, c)
	}
	return y
}

// fusedProto is a product as MatMul if it can be, else as the runtime's FusedMatMul.
func fusedProto(n *node) *onnx.Node {
	p := &onnx.Node{Name: n.name, Op: "MatMul"}
	if !n.transA && !n.transB && n.alpha == 1 {
		return p
	}
	p.Op, p.Domain = "FusedMatMul", onnx.Microsoft
	if n.transA {
		p.Attrs = append(p.Attrs, onnx.Attr("transA", 1))
	}
	if n.transB {
		p.Attrs = append(p.Attrs, onnx.Attr("transB", 1))
	}
	p.Attrs = append(p.Attrs, onnx.Attr("alpha", float32(n.alpha)))
	return p
}
