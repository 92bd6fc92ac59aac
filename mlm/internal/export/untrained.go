package export

import (
	"slices"

	"infill/mlm/onnx"
)

// NewHead reports whether the layers that make the logits are as a new layer has
// them: every vector from the logits back to the last product before the head's own, which
// are biases and the scales of norms, is all 0 or all 1. Training moves each of them, and
// nothing else resets them, so a trained head is never taken for a new one. Such a head
// comes about when a checkpoint has weights for the layers below only, as DeBERTa-v3's
// have: the exporter draws the rest at random.
//
// A head with fewer than two vectors gives too little evidence and counts as trained, as
// EuroBERT's does, which is a single matrix. So does one whose vectors cannot be read.
func (m Exported) NewHead() bool {
	s := newSources(m.Model)
	w := headWalk{sources: s, seen: map[*onnx.Node]bool{}, vectors: map[string]*onnx.Tensor{}}
	// The first product is the one with the vocabulary, the second ends the head.
	below := w.upTo([]*onnx.Node{s.producer[logits(m.Model).Name]})
	w.upTo(w.producers(below))
	if len(w.vectors) < 2 {
		return false
	}
	for _, t := range w.vectors {
		if !isNew(t) {
			return false
		}
	}
	return true
}

// headWalk is a walk back from the logits.
type headWalk struct {
	sources
	seen    map[*onnx.Node]bool
	vectors map[string]*onnx.Tensor // found, by name
}

// upTo visits nodes and what they are computed from, back to the nodes that have a matrix
// of their own, and returns these. The vectors on the way, and those of the nodes with a
// matrix, are noted.
func (w *headWalk) upTo(nodes []*onnx.Node) (products []*onnx.Node) {
	for len(nodes) > 0 {
		n := nodes[len(nodes)-1]
		nodes = nodes[:len(nodes)-1]
		if n == nil || w.seen[n] {
			continue
		}
		w.seen[n] = true
		product := false
		for _, in := range n.Inputs {
			switch t := w.weight(in); {
			case t == nil:
			case sides(t) == 1 && floating(t):
				w.vectors[t.Name] = t
			case sides(t) > 1:
				product = true
			}
		}
		if product {
			products = append(products, n)
		} else {
			nodes = append(nodes, w.producers([]*onnx.Node{n})...)
		}
	}
	return products
}

// producers are the nodes that compute the inputs of the given ones, without those that
// only bring a stored weight into shape.
func (w *headWalk) producers(nodes []*onnx.Node) (out []*onnx.Node) {
	for _, n := range nodes {
		for _, in := range n.Inputs {
			if w.weight(in) == nil {
				out = append(out, w.producer[in])
			}
		}
	}
	return out
}

// sides is the number of dimensions above 1: 0 of a single number, 1 of a vector.
func sides(t *onnx.Tensor) (n int) {
	for _, d := range t.Dims {
		if d > 1 {
			n++
		}
	}
	return n
}

// floating reports whether a weight is of a floating type, which zero points are not.
func floating(t *onnx.Tensor) bool {
	switch t.Type {
	case onnx.Float, onnx.Double, onnx.Float16, onnx.BFloat16:
		return true
	}
	return false
}

// isNew reports whether all values are 0 or all are 1.
func isNew(t *onnx.Tensor) bool {
	v, err := t.Float64s()
	if err != nil || len(v) == 0 || v[0] != 0 && v[0] != 1 {
		return false
	}
	return !slices.ContainsFunc(v, func(x float64) bool { return x != v[0] })
}
