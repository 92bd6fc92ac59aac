package onnxgrad

import (
	"slices"
	"testing"

	"infill/mlm/onnx"
)

// ruleCase is operations that take the place of those between attention (r, [batch, length, 3]) and
// head (y) in a small model.
type ruleCase struct {
	opset int64
	nodes []*onnx.Node
}

func ruleCases() map[string]ruleCase {
	node := func(op, out string, in []string, attrs ...*onnx.Attribute) *onnx.Node {
		return &onnx.Node{Name: "test " + op, Op: op, Inputs: in, Outputs: []string{out},
			Attrs: attrs}
	}
	ms := func(n *onnx.Node) *onnx.Node { n.Domain = onnx.Microsoft; return n }
	in := func(names ...string) []string { return names }
	alpha := onnx.Attr("alpha", float32(0.7))
	return map[string]ruleCase{
		"Tanh":    {17, []*onnx.Node{node("Tanh", "y", in("r"))}},
		"Sigmoid": {17, []*onnx.Node{node("Sigmoid", "y", in("r"))}},
		"Relu":    {17, []*onnx.Node{node("Relu", "y", in("r"))}},
		"Sin":     {17, []*onnx.Node{node("Sin", "y", in("r"))}},
		"Cos":     {17, []*onnx.Node{node("Cos", "y", in("r"))}},
		"Exp":     {17, []*onnx.Node{node("Exp", "y", in("r"))}},
		"Neg":     {17, []*onnx.Node{node("Neg", "y", in("r"))}},
		"Sub": {17, []*onnx.Node{node("Tanh", "s1", in("r")),
			node("Sub", "y", in("x", "s1"))}},
		"Log": {17, []*onnx.Node{node("Exp", "s1", in("r")),
			node("Add", "s2", in("s1", "one")), node("Log", "y", in("s2"))}},
		"Sqrt": {17, []*onnx.Node{node("Exp", "s1", in("r")),
			node("Sqrt", "y", in("s1"))}},
		"Reciprocal": {17, []*onnx.Node{node("Exp", "s1", in("r")),
			node("Reciprocal", "y", in("s1"))}},
		"Div": {17, []*onnx.Node{node("Exp", "s1", in("x")),
			node("Div", "y", in("r", "s1"))}},
		"Pow":       {17, []*onnx.Node{node("Pow", "y", in("r", "three"))}},
		"square":    {17, []*onnx.Node{node("Mul", "y", in("r", "r"))}},
		"Erf alone": {17, []*onnx.Node{node("Erf", "y", in("r"))}},
		"Where": {17, []*onnx.Node{node("Greater", "s1", in("r", "half")),
			node("Where", "y", in("s1", "r", "x"))}},
		"Cast": {17, []*onnx.Node{node("Cast", "s1", in("r"),
			onnx.Attr("to", onnx.Double)),
			node("Cast", "y", in("s1"), onnx.Attr("to", onnx.Float))}},
		"Softmax": {17, []*onnx.Node{node("Softmax", "y", in("r"),
			onnx.Attr("axis", -1))}},
		"LogSoftmax": {17, []*onnx.Node{node("LogSoftmax", "y", in("r"),
			onnx.Attr("axis", -1))}},
		"ReduceMean": {17, []*onnx.Node{node("ReduceMean", "s1", in("r"),
			onnx.Attr("axes", []int64{-1})), node("Mul", "y", in("s1", "x"))}},
		"ReduceSum": {17, []*onnx.Node{node("ReduceSum", "s1", in("r", "last"),
			onnx.Attr("keepdims", 0)), node("Unsqueeze", "s2", in("s1", "last")),
			node("Mul", "y", in("s2", "x"))}},
		"sum over the sentence": {17, []*onnx.Node{node("ReduceSum", "s1", in("r", "axis1")),
			node("Tanh", "s2", in("s1")), node("Mul", "y", in("s2", "x"))}},
		"Concat and Split": {17, []*onnx.Node{node("Tanh", "s1", in("r")),
			node("Concat", "s2", in("r", "s1"), onnx.Attr("axis", -1)),
			{Name: "split", Op: "Split", Inputs: in("s2"), Outputs: []string{"s3", "s4"},
				Attrs: []*onnx.Attribute{onnx.Attr("axis", 2)}}, node("Mul", "y", in("s3", "s4"))}},
		"half of a Split": {17, []*onnx.Node{node("Concat", "s2", in("r", "x"),
			onnx.Attr("axis", -1)),
			{Name: "split", Op: "Split", Inputs: in("s2"), Outputs: []string{"s3", "s4"},
				Attrs: []*onnx.Attribute{onnx.Attr("axis", 2)}}, node("Tanh", "y", in("s3"))}},
		"Slice": {17, []*onnx.Node{node("Slice", "s1", in("r", "one1", "three1", "two1")),
			node("ReduceMean", "s2", in("s1"), onnx.Attr("axes", []int64{-1})), node("Mul", "y",
				in("r", "s2"))}},
		"Gather": {17, []*onnx.Node{node("Gather", "s1", in("r", "index"), onnx.Attr("axis", 2)),
			node("Unsqueeze", "s2", in("s1", "last")), node("Mul", "y", in("r", "s2"))}},
		"Pad": {17, []*onnx.Node{node("Pad", "s1", in("r", "pads")), node("Tanh", "s2", in("s1")),
			node("Slice", "s3", in("s2", "one1", "three1", "two1")),
			node("ReduceMean", "s4", in("s3"), onnx.Attr("axes", []int64{-1})), node("Mul", "y",
				in("s4", "x"))}},
		"Conv": {17, []*onnx.Node{node("Transpose", "s1", in("r"), onnx.Attr("perm", []int64{0, 2, 1})),
			node("Conv", "s2", in("s1", "kernel", "g"), onnx.Attr("pads", []int64{1, 1})),
			node("Tanh", "s3", in("s2")), node("Transpose", "y", in("s3"),
				onnx.Attr("perm", []int64{0, 2, 1}))}},
		"Conv of neighbours two away, without bias": {17,
			[]*onnx.Node{node("Transpose", "s1", in("r"), onnx.Attr("perm", []int64{0, 2, 1})),
				node("Tanh", "s2", in("s1")), node("Conv", "s3", in("s2", "kernel"),
					onnx.Attr("pads", []int64{4, 0}), onnx.Attr("dilations", []int64{2})),
				node("Transpose", "y", in("s3"), onnx.Attr("perm", []int64{0, 2, 1}))}},
		"Expand": {17, []*onnx.Node{node("ReduceMean", "s1", in("r"), onnx.Attr("axes", []int64{-1})),
			node("Shape", "s2", in("r")), node("Expand", "s3", in("s1", "s2")), node("Mul", "y",
				in("s3", "r"))}},
		"Identity": {17, []*onnx.Node{node("Identity", "s1", in("r")),
			node("Dropout", "y", in("s1"))}},
		"Gemm": {17, []*onnx.Node{node("Reshape", "s1", in("r", "flat")),
			node("Gemm", "s2", in("s1", "square", "g"), alpha, onnx.Attr("transB", 1)),
			node("Shape", "s3", in("r")), node("Reshape", "y", in("s2", "s3"))}},
		"GatherElements": {17, []*onnx.Node{node("Transpose", "s1", in("p"),
			onnx.Attr("perm", []int64{0, 2, 1})), node("Shape", "s2", in("p")),
			node("ConstantOfShape", "s3", in("s2"),
				onnx.Attr("value", onnx.Ints("", onnx.Int64, []int64{1}, 1))),
			node("GatherElements", "s4", in("s1", "s3"), onnx.Attr("axis", 2)), node("MatMul",
				"y", in("s4", "r"))}},
		"Gelu": {20, []*onnx.Node{node("Gelu", "y", in("r"))}},
		"Gelu, tanh": {20, []*onnx.Node{node("Gelu", "y", in("r"),
			onnx.Attr("approximate", "tanh"))}},
		"FastGelu":  {17, []*onnx.Node{ms(node("FastGelu", "y", in("r", "g")))}},
		"BiasGelu":  {17, []*onnx.Node{ms(node("BiasGelu", "y", in("r", "g")))}},
		"QuickGelu": {17, []*onnx.Node{ms(node("QuickGelu", "y", in("r")))}},
		"SkipLayerNormalization": {17, []*onnx.Node{ms(&onnx.Node{Name: "skip",
			Op: "SkipLayerNormalization", Inputs: in("r", "x", "g", "g", "g"),
			Outputs: []string{"s1", "", "", "s2"}}), node("Mul", "y", in("s1", "s2"))}},
		"SimplifiedLayerNormalization": {17, []*onnx.Node{node("SimplifiedLayerNormalization", "y",
			in("r", "g"))}},
		"SkipSimplifiedLayerNormalization": {17,
			[]*onnx.Node{ms(&onnx.Node{Name: "skip", Op: "SkipSimplifiedLayerNormalization",
				Inputs:  in("r", "x", "g", "g"),
				Outputs: []string{"s1", "", "", "s2"}}), node("Mul", "y", in("s1", "s2"))}},
		"RMSNormalization":   {23, []*onnx.Node{node("RMSNormalization", "y", in("r", "g"))}},
		"LayerNormalization": {17, []*onnx.Node{node("LayerNormalization", "y", in("r", "g"))}},
		"branch": {17, []*onnx.Node{node("If", "y", in("yes"),
			branchAttr("then_branch", "Tanh"), branchAttr("else_branch", "Exp"))}},
	}
}

// TestEveryRule checks energy and gradient of every case by finite differences.
func TestEveryRule(t *testing.T) {
	t.Parallel()
	for name, c := range ruleCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := miniature()
			m.Opsets = map[string]int64{"": c.opset, onnx.Microsoft: 1}
			if c.opset > 21 {
				m.IRVersion = 10
			}
			kernel := make([]float32, 27)
			for i := range kernel {
				kernel[i] = float32(i*i%11)/8 - 0.6
			}
			g := m.Graph
			g.Initializers = append(g.Initializers, onnx.Floats("three", nil, 3),
				onnx.Ints("last", onnx.Int64, []int64{1}, -1), onnx.Ints("axis1", onnx.Int64, []int64{1}, 1),
				onnx.Ints("one1", onnx.Int64, []int64{1}, 1), onnx.Ints("three1", onnx.Int64, []int64{1},
					3), onnx.Ints("two1", onnx.Int64, []int64{1}, 2), onnx.Ints("index", onnx.Int64, nil, -2),
				onnx.Ints("flat", onnx.Int64, []int64{2}, -1, 3),
				onnx.Ints("pads", onnx.Int64, []int64{6}, 0, 0, 1, 0, 0, 2), onnx.Floats("kernel",
					[]int64{3, 3, 3}, kernel...),
				onnx.Floats("square", []int64{3, 3}, 1, -1, 0.5, 0.3, 2, -0.7, 0, 0.4,
					1), onnx.NewTensor("yes", onnx.Bool, nil, []byte{1}))
			from := slices.IndexFunc(g.Nodes, func(n *onnx.Node) bool { return n.Op == "Div" })
			to := slices.IndexFunc(g.Nodes,
				func(n *onnx.Node) bool { return n.Outputs[0] == "y" }) + 1
			g.Nodes = slices.Replace(g.Nodes, from, to, c.nodes...)
			if err := m.Check(); err != nil {
				t.Fatal(err)
			}
			checkByDifferences(t, m, []int64{1, 2, 3, 4, 3, 1}, []int{1, 3, 4}, 0, 5)
		})
	}
}

func branchAttr(name, op string) *onnx.Attribute {
	out := name + "/out"
	return onnx.Attr(name, &onnx.Graph{Name: name,
		Nodes:   []*onnx.Node{{Name: out, Op: op, Inputs: []string{"r"}, Outputs: []string{out}}},
		Outputs: []*onnx.ValueInfo{{Name: out, Type: onnx.Float}}})
}
