package onnxgrad

import (
	"fmt"
	"slices"

	"infill/mlm/onnx"
)

// findEmbedding looks for the Gather of rows of a table by input_ids.
func (d *derivation) findEmbedding() error {
	var seen []string
	v := d.logits.shape[0][2]
	u := uses(d.nodes)
	sized := func(n *node) bool { return n.op != "Shape" }
	for _, n := range d.nodes {
		if n.op != "Gather" || n.proto().Int("axis", 0) != 0 || !n.in[0].fixed ||
			!isInput(n.in[1], "input_ids") {
			continue
		}
		if n.out[0] != d.logits && !slices.ContainsFunc(u[n.out[0]], sized) {
			// an optimiser fused another lookup of the same words and left this one for its shape
			continue
		}
		t := n.in[0].shape
		if t.rank() == 2 && t[0][0] >= v && n.out[0].typ == onnx.Float {
			if d.embedding != nil {
				return refused(errEmbedding, "input_ids are looked up in two tables, nodes %q and %q",
					d.embedding.name, n.name)
			}
			d.embedding = n
		}
		seen = append(seen, fmt.Sprintf("%q %v", n.name, t[0]))
	}
	if d.embedding == nil {
		return refused(errEmbedding, "no float32 table of at least %d rows is indexed by input_ids "+
			"(lookups seen: %v)", v, seen)
	}
	d.words = d.embedding.out[0]
	return nil
}

// isInput reports whether v is the model input name, possibly cast.
func isInput(v *value, name string) bool {
	for v != nil && v.from != nil && v.from.op == "Cast" {
		v = v.from.in[0]
	}
	return v != nil && v.from == nil && v.name == name
}

// tie finds a product whose weight is the embedding table transposed and uses the table instead.
func (d *derivation) tie() error {
	table := d.embedding.in[0]
	for _, n := range d.nodes {
		if n.op != "MatMul" || !n.in[1].fixed {
			continue
		}
		switch w := n.in[1]; {
		case w == table, n.transB && w.shape.equal(table.shape) && sameWeights(w, table, false):
		case !n.transB && sameWeights(w, table, true):
			n.transB = true
		default:
			continue
		}
		n.in[1], d.tied = table, true
	}
	d.nodes = live(d.nodes, d.logits)
	return nil
}

// weightOf follows a widening cast to the stored tensor.
func weightOf(v *value) *onnx.Tensor {
	if c := is(v, "Cast"); c != nil {
		v = c.in[0]
	}
	return v.tensor
}
