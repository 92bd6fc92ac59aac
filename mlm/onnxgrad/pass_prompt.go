package onnxgrad

import "infill/mlm/onnx"

// softPrompt has the model read, at the blanks of every row, vectors that are an input:
//
//	e' = e·(1 − Σ_j hot_j) + Σ_j hot_jᵀ·prompt_j,   hot_j the one-hot of blank j among the positions
func (d *derivation) softPrompt() error {
	b := d.next("prompt")
	looked := d.embedding.out[0]
	m := func(rest ...int) dims { // [R, m, …]
		return dimsOf(func(p int) []int { return append([]int{probeRows[p], probeBlanks[p]}, rest...) })
	}
	d.blanks = &value{name: inBlanks, typ: onnx.Int64, shape: m()}
	d.prompt = &value{name: inPrompt, typ: onnx.Float, shape: m(looked.shape[0][2])}
	column, row := m(1), looked.shape.with(2, [probes]int{1, 1})
	hot := b.cast(b.op("Equal", b.upTo(d.inputs[0], 1), b.reshape(d.blanks, column)), onnx.Float)
	words := b.sub(b.scalar(1), b.reshape(b.reduce("ReduceSum", hot, 1), row))
	d.words = b.op("Add", b.mul(looked, words), b.matmul(hot, d.prompt, true, false, 1))
	if b.err != nil {
		return b.err
	}
	var nodes []*node
	for _, n := range d.nodes {
		for i, v := range n.in {
			if v == looked {
				n.in[i] = d.words
			}
		}
		nodes = append(nodes, n)
		if n == d.embedding {
			nodes = append(nodes, b.nodes...)
		}
	}
	d.nodes = nodes
	return nil
}
