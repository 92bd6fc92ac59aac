package openvino

import "infill/mlm/onnx"

// negateMeans has every x - mean(y) computed as x + mean(-y), and returns how many there are. The
// numbers are the same bits. OpenVINO 2026.4 makes one kernel of a mean and of the sign that
// follows it. In bfloat16 that kernel rounds some rows of a batch in one way and some in another,
// by their place. A mean that something else reads, too, is not part of such a kernel and stays.
// m's graph is changed.
func negateMeans(m *onnx.Model) (changed int) {
	read := m.Graph.Reads()
	m.Graph.Each(func(g *onnx.Graph) { changed += negateMeansIn(g, read) })
	return changed
}

func negateMeansIn(g *onnx.Graph, read map[string]int) (changed int) {
	means := map[string]*onnx.Node{}
	negated := map[*onnx.Node]bool{}
	for _, n := range g.Nodes {
		if len(n.Inputs) == 0 || len(n.Outputs) == 0 {
			continue
		}
		if n.Op == "ReduceMean" && read[n.Outputs[0]] == 1 {
			means[n.Outputs[0]] = n
		}
		if n.Op == "Sub" && len(n.Inputs) > 1 && means[n.Inputs[1]] != nil {
			n.Op, negated[means[n.Inputs[1]]] = "Add", true
		}
	}
	var nodes []*onnx.Node
	for _, n := range g.Nodes {
		if negated[n] {
			minus := "minus " + n.Outputs[0]
			nodes = append(nodes, &onnx.Node{Name: minus, Op: "Neg", Inputs: n.Inputs[:1:1],
				Outputs: []string{minus}})
			n.Inputs = append([]string{minus}, n.Inputs[1:]...)
			changed++
		}
		nodes = append(nodes, n)
	}
	g.Nodes = nodes
	return changed
}
