package onnxgrad

import (
	"slices"

	"infill/mlm/onnx"
)

// separate gives a model in which the lookup of words is a node of its own where an optimiser has
// fused it with the normalisation after it (EmbedLayerNormalization), so that the embeddings can be
// replaced. Weights and the other nodes are shared with m, which stays as it is.
func separate(m *onnx.Model) *onnx.Model {
	isFused := func(n *onnx.Node) bool {
		return n.Op == "EmbedLayerNormalization" && len(n.Inputs) > 2 && n.Inputs[2] != ""
	}
	if !slices.ContainsFunc(m.Graph.Nodes, isFused) {
		return m
	}
	used := map[string]bool{}
	for _, n := range m.Graph.Nodes {
		for _, o := range n.Outputs {
			used[o] = true
		}
	}
	g := *m.Graph
	g.Nodes = nil
	for _, n := range m.Graph.Nodes {
		if !isFused(n) {
			g.Nodes = append(g.Nodes, n)
			continue
		}
		words := n.Outputs[0] + "/words"
		for used[words] {
			words += "'"
		}
		used[words] = true
		rest := *n
		rest.Inputs = slices.Clone(n.Inputs)
		rest.Inputs[0], rest.Inputs[2] = words, ""
		g.Nodes = append(g.Nodes, &onnx.Node{Name: n.Name + "/words", Op: "Gather",
			Inputs: []string{n.Inputs[2], n.Inputs[0]}, Outputs: []string{words}}, &rest)
	}
	out := *m
	out.Graph = &g
	return &out
}

// wordLookup is the node that looks input_ids up in the table of word embeddings, nil if there is
// none. Optimisers leave lookups behind that serve for their shape only. They are passed over.
func wordLookup(g *onnx.Graph) *onnx.Node {
	valued := map[string]bool{} // used for more than its shape
	for _, n := range g.Nodes {
		if n.Op != "Shape" {
			n.Uses(func(in string) { valued[in] = true })
		}
	}
	ids := map[string]bool{"input_ids": true}
	for _, n := range g.Nodes { // in topological order
		if len(n.Outputs) != 1 {
			continue
		}
		switch {
		case (n.Op == "Cast" || n.Op == "Identity") && len(n.Inputs) == 1 && ids[n.Inputs[0]]:
			ids[n.Outputs[0]] = true
		case n.Op == "Gather" && len(n.Inputs) == 2 && n.Int("axis", 0) == 0 && ids[n.Inputs[1]] &&
			valued[n.Outputs[0]]:
			return n
		}
	}
	return nil
}
