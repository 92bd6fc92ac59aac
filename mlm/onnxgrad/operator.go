package onnxgrad

import "infill/mlm/onnx"

// operator is what the derivation knows of one ONNX operator. Every operator has one record, in the
// file of its family (ops_*.go). A test holds that each record is complete.
//
// An operator is either composite or elementary. A composite one is written out in others when the
// model is read, by lower, and has nothing else. An elementary one has a rule for each pass of the
// derivation.
type operator struct {
	name string

	// least inputs must be given, the first ones. most is how many there can be, any for many.
	least, most int

	// outputs is how many outputs count. Further ones serve training and are left out. 0 means all.
	outputs int

	// lower writes a composite operator out.
	lower lowering

	// shape gives the shapes of the outputs, typ their element type.
	shape shapeRule
	typ   typeRule

	// fold says what the contents of the outputs follow from.
	fold folding

	// simplify gives the value that stands for a node with one output when the model is read, nil
	// to keep the node. Without simplify nodes are kept.
	simplify func(l *loaded, n *node) *value

	// along says how the output follows from the inputs along an axis: so it is computed at some
	// positions only, and once for positions that are alike.
	along alongRule

	// numbers is for operators with which models number places and segments. It gives what computes
	// the output for each distinct position, nil for forms that are not known.
	numbers func(s *sharer, n *node) func() *value

	// heavy operators do more than a step for each number: they make sharing worth while.
	heavy bool

	// expand writes the node out in the forward pass, if its derivative keeps other values than its
	// inputs and outputs: it gives those.
	expand func(f *builder, n *node) []*value

	// derivative is the rule of the backward pass. Where it is nil, none says why.
	derivative rule
	none       string
}

// many is the greatest number of inputs where there is no bound.
const many = -1

type (
	// lowering gives the outputs of a composite node. Trailing ones may be missing if they only
	// serve training.
	lowering func(l *loaded, o *onnx.Node, in []*value) []*value

	// shapeRule gives the shapes of the outputs at probe p.
	shapeRule func(n *node, p int, opset int64) ([][]int, error)

	// typeRule gives the element type of the outputs.
	typeRule func(n *node) onnx.DataType

	// alongRule gives the part of each input that the output follows from at a place of axis a: the
	// axis whose same place counts, or −1 for the whole input. nil means that the output looks beyond
	// places of this axis.
	alongRule func(n *node, a int) []int

	// rule differentiates one operation: given the gradients of its outputs (nil where there is
	// none) it gives those of its inputs (nil where there is none), each of its input's shape.
	rule func(b *builder, e *entry, g []*value) []*value
)

// folding says what the contents of an operator's outputs follow from.
type folding int

const (
	fromContents folding = iota // the contents of all inputs
	fromShape                   // the type and shape of the first input
	unchanged                   // the contents of the first input, in another shape
)

// Reasons why an operator has no derivative.
const (
	noNumber = "its output is not a floating number that the embeddings move"
	steps    = "its slope is zero wherever it has one"
	unseen   = "no model that is known has it between the embeddings and the logits"
	replaced = "it is replaced by another operator when the model is read"
)

// operators are all records by name.
var operators map[string]*operator

// check compares the inputs of a node with what the operator takes.
func (o *operator) check(name string, in []*value) error {
	n := &node{op: o.name, name: name}
	for i := range o.least {
		if i >= len(in) || in[i] == nil {
			return n.refused(errShape, "input %d is missing", i)
		}
	}
	if o.most != many && len(in) > o.most {
		return n.refused(errShape, "has %d inputs, more than %d", len(in), o.most)
	}
	return nil
}

// family is a file of records.
type family struct {
	name    string
	records []operator
}

func families() []family {
	return []family{
		{"arithmetic", arithmeticOps()},
		{"functions", functionOps()},
		{"operations of the runtime that are several at once", wholeOps()},
		{"logic and types", logicOps()},
		{"reductions", reductionOps()},
		{"products", productOps()},
		{"convolution", convolutionOps()},
		{"layout", layoutOps()},
		{"parts", partOps()},
		{"lookups", lookupOps()},
		{"constants and sizes", sizeOps()},
		{"norms", normOps()},
		{"attention", attentionOps()},
	}
}

func init() { // the rules refer to the table through the builder
	operators = map[string]*operator{}
	for _, family := range families() {
		for i := range family.records {
			o := &family.records[i]
			operators[o.name] = o
		}
	}
}
