package onnx

import (
	"fmt"
	"slices"
)

// The operator sets whose semantics the rest of the program knows. Below 7 broadcasting worked
// differently. Above 25 nothing has been seen yet.
const (
	minOpset = 7
	maxOpset = 25
)

// Microsoft is the domain of ONNX Runtime's own operators, the only other one allowed.
const Microsoft = "com.microsoft"

// Check verifies that a parsed model is consistent: known operator sets, no custom operators, every
// value defined exactly once and every input defined, no cycles. It sorts the nodes of each graph
// topologically if they are not. The runtime should never see a model that has not passed.
func (m *Model) Check() error {
	if m.IRVersion < 3 || m.IRVersion > 13 {
		return errorf(errUnsupported, "model", "IR version %d (3 to 13 are known)", m.IRVersion)
	}
	if v := m.Opsets[""]; v < minOpset || v > maxOpset {
		return errorf(errUnsupported, "model", "opset %d (%d to %d are known; export the model again)",
			v, minOpset, maxOpset)
	}
	return checkGraph(m.Graph, nil, 0)
}

// scope is the set of names visible in a graph, with the enclosing graph's.
type scope struct {
	names map[string]bool
	outer *scope
}

func (s *scope) has(name string) bool {
	for ; s != nil; s = s.outer {
		if s.names[name] {
			return true
		}
	}
	return false
}

func checkGraph(g *Graph, outer *scope, depth int) error {
	if depth > maxDepth {
		return errorf(errLimit, "graph", "subgraphs nest deeper than %d", maxDepth)
	}
	own := &scope{names: map[string]bool{}, outer: outer}
	inputs := map[string]bool{}
	for _, v := range g.Inputs {
		if v.Name == "" || own.has(v.Name) {
			return errorf(errGraph, "graph", "input %q is unnamed or defined twice", v.Name)
		}
		own.names[v.Name], inputs[v.Name] = true, true
	}
	for _, t := range g.Initializers {
		// Up to IR version 3 every initializer is listed among the inputs too.
		if t.Name == "" || own.has(t.Name) && !inputs[t.Name] {
			return errorf(errGraph, tensorAt(t.Name), "unnamed or defined twice")
		}
		delete(inputs, t.Name)
		own.names[t.Name] = true
	}
	producer := map[string]int{}
	for i, n := range g.Nodes {
		if err := n.check(); err != nil {
			return err
		}
		for _, o := range n.Outputs {
			if o == "" {
				continue
			}
			if _, dup := producer[o]; dup || own.has(o) {
				return errorf(errGraph, n.String(), "output %q is defined twice", o)
			}
			producer[o] = i
		}
	}
	if err := sortNodes(g, own, producer); err != nil {
		return err
	}
	for o := range producer {
		own.names[o] = true
	}
	for _, v := range g.Outputs {
		if !own.has(v.Name) {
			return errorf(errGraph, "graph", "output %q is not computed", v.Name)
		}
	}
	for _, n := range g.Nodes {
		for _, a := range n.Attrs {
			if a.G != nil && a.Type == attrGraph {
				if err := checkGraph(a.G, own, depth+1); err != nil {
					return fmt.Errorf("%s of %s: %w", a.Name, n, err)
				}
			}
		}
	}
	return nil
}

// check checks what a node says of itself.
func (n *Node) check() error {
	if n.Domain != "" && n.Domain != Microsoft {
		return errorf(errUnsupported, n.String(), "custom operator of domain %q", n.Domain)
	}
	for i, a := range n.Attrs {
		if slices.ContainsFunc(n.Attrs[:i], func(b *Attribute) bool { return a.Name == b.Name }) {
			return errorf(errGraph, n.String(), "attribute %q given twice", a.Name)
		}
	}
	return nil
}

// Uses lists the names that the node reads, including those that its subgraphs take from outside.
func (n *Node) Uses(each func(string)) {
	for _, in := range n.Inputs {
		if in != "" {
			each(in)
		}
	}
	for _, a := range n.Attrs {
		if a.Type == attrGraph && a.G != nil {
			captured(a.G, each)
		}
	}
}

func captured(g *Graph, each func(string)) {
	own := map[string]bool{}
	for _, v := range g.Inputs {
		own[v.Name] = true
	}
	for _, t := range g.Initializers {
		own[t.Name] = true
	}
	for _, n := range g.Nodes {
		for _, o := range n.Outputs {
			own[o] = true
		}
	}
	outside := func(s string) {
		if !own[s] {
			each(s)
		}
	}
	for _, n := range g.Nodes {
		n.Uses(outside)
	}
	for _, v := range g.Outputs {
		outside(v.Name)
	}
}

// Clone is a copy whose graphs, nodes and descriptions can be changed. It shares the elements of
// tensors, and those tensors that are attributes.
func (m *Model) Clone() *Model {
	out := *m
	out.Graph = m.Graph.clone()
	return &out
}

func (g *Graph) clone() *Graph {
	out := &Graph{g.Name, copies(g.Nodes), copies(g.Initializers), copies(g.Inputs),
		copies(g.Outputs), copies(g.ValueInfo)}
	for _, n := range out.Nodes {
		n.Inputs, n.Outputs, n.Attrs = slices.Clone(n.Inputs), slices.Clone(n.Outputs), copies(n.Attrs)
		for _, a := range n.Attrs {
			if a.G != nil {
				a.G = a.G.clone()
			}
		}
	}
	for _, v := range slices.Concat(out.Inputs, out.Outputs, out.ValueInfo) {
		v.Shape = slices.Clone(v.Shape)
	}
	return out
}

func copies[T any](list []*T) []*T {
	out := make([]*T, len(list))
	for i, v := range list {
		c := *v
		out[i] = &c
	}
	return out
}

// Each visits the graph and its subgraphs. Parse has bounded their depth.
func (g *Graph) Each(visit func(*Graph)) {
	visit(g)
	for _, n := range g.Nodes {
		for _, a := range n.Attrs {
			if a.G != nil {
				a.G.Each(visit)
			}
		}
	}
}

// Reads counts how often values are read, also by nodes of subgraphs. That a graph gives a value
// counts as well.
func (g *Graph) Reads() map[string]int {
	read := map[string]int{}
	g.Each(func(g *Graph) {
		for _, o := range g.Outputs {
			read[o.Name]++
		}
		for _, n := range g.Nodes {
			for _, in := range n.Inputs {
				read[in]++
			}
		}
	})

	return read
}

// sortNodes puts the nodes into topological order, keeping the file's order where it can, and
// refuses dangling inputs and cycles.
func sortNodes(g *Graph, own *scope, producer map[string]int) error {
	waiting := make([]int, len(g.Nodes)) // inputs not yet computed
	consumers := make([][]int, len(g.Nodes))
	var err error
	sorted := true
	for i, n := range g.Nodes {
		n.Uses(func(name string) {
			switch p, ok := producer[name]; {
			case ok:
				waiting[i]++
				consumers[p] = append(consumers[p], i)
				sorted = sorted && p < i
			case !own.has(name) && err == nil:
				err = errorf(errGraph, n.String(), "input %q is not defined", name)
			}
		})

	}
	if err != nil || sorted {
		return err
	}
	var ready []int
	for i := range g.Nodes {
		if waiting[i] == 0 {
			ready = append(ready, i)
		}
	}
	order := make([]*Node, 0, len(g.Nodes))
	for k := 0; k < len(ready); k++ {
		order = append(order, g.Nodes[ready[k]])
		for _, j := range consumers[ready[k]] {
			if waiting[j]--; waiting[j] == 0 {
				ready = append(ready, j)
			}
		}
	}
	if len(order) < len(g.Nodes) {
		for i, n := range g.Nodes {
			if waiting[i] > 0 {
				return errorf(errGraph, n.String(), "is part of a cycle")
			}
		}
	}
	g.Nodes = order
	return nil
}
