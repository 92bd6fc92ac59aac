package onnxgrad

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"infill/mlm/onnx"
)

// loaded is a model in our terms: canonical nodes, shapes known at the probes.
type loaded struct {
	*builder
	inputs []*value
	logits *value
	values map[string]*value
}

// load converts a model and simplifies it on the way: what follows from constants becomes one, nodes that
// do nothing vanish, Squeeze, Unsqueeze, Flatten and Reshape become one operation, Gemm a product and a
// sum, division by a constant a multiplication.
func load(m *onnx.Model) (*loaded, error) {
	m = Widen(m)
	l := &loaded{builder: newBuilder(m.Opset("")), values: map[string]*value{}}
	if l.opset < 12 {
		return nil, fmt.Errorf("%w: opset %d; export with opset 14 or later", ErrUnsupportedOp, l.opset)
	}
	for _, t := range m.Graph.Initializers {
		v, err := stored(t)
		if err != nil {
			return nil, err
		}
		l.values[t.Name] = v
	}
	for _, in := range m.Graph.Inputs {
		if l.values[in.Name] != nil {
			continue
		}
		v, err := input(in)
		if err != nil {
			return nil, err
		}
		l.values[in.Name] = v
		l.inputs = append(l.inputs, v)
	}
	for _, n := range m.Graph.Nodes {
		if err := l.load(n); err != nil {
			return nil, err
		}
	}
	for _, o := range m.Graph.Outputs {
		v := l.values[o.Name]
		if o.Name == "logits" || len(m.Graph.Outputs) == 1 {
			l.logits = v
		}
	}
	switch {
	case l.logits == nil:
		return nil, fmt.Errorf("%w: no output named logits", ErrOutputs)
	case l.logits.shape.rank() != 3 || !l.logits.shape.constant(2) || l.logits.typ != onnx.Float ||
		l.logits.shape.at(0) != [probes]int{probeRows(0), probeRows(1)} || l.logits.shape.at(1) != probeLength:
		return nil, fmt.Errorf("%w: output %q is %v of shape %v for a batch of %d × %d", ErrOutputs, l.logits.name, l.logits.typ, l.logits.shape[0], probeRows(0), probeLength[0])
	}
	return l, nil
}

// The inputs that an export may have. All are [batch, sequence] integers.
var knownInputs = []string{"input_ids", "attention_mask", "token_type_ids", "position_ids"}

func input(in *onnx.ValueInfo) (*value, error) {
	if !slices.Contains(knownInputs, in.Name) {
		return nil, fmt.Errorf("%w: unknown input %q", ErrInputs, in.Name)
	}
	if in.Type != onnx.Int64 && in.Type != onnx.Int32 {
		return nil, fmt.Errorf("%w: input %q is %v, not int64", ErrInputs, in.Name, in.Type)
	}
	if in.HasShape && len(in.Shape) != 2 {
		return nil, fmt.Errorf("%w: input %q has rank %d, not [batch, sequence]", ErrInputs, in.Name, len(in.Shape))
	}
	for _, d := range in.Shape {
		if d.Param == "" && d.Value >= 0 {
			return nil, fmt.Errorf("%w: input %q has the fixed size %d; export with dynamic axes", ErrInputs, in.Name, d.Value)
		}
	}
	v := &value{name: in.Name, typ: in.Type}
	for p := range probes {
		v.shape[p] = []int{probeRows(p), probeLength[p]}
	}
	return v, nil
}

func (l *loaded) load(o *onnx.Node) error {
	in := make([]*value, len(o.Inputs))
	for i, name := range o.Inputs {
		if name == "" {
			continue
		}
		if in[i] = l.values[name]; in[i] == nil { // an optional output that no rule gives
			return &OpError{Op: o.Op, Node: o.Name, Reason: fmt.Sprintf("input %q is not available", name), Err: ErrUnsupportedOp}
		}
	}
	if o.Op == "Constant" {
		t, err := constantTensor(o)
		if err != nil {
			return &OpError{Op: o.Op, Node: o.Name, Reason: err.Error(), Err: ErrUnsupportedOp}
		}
		v, err := stored(t)
		if err != nil {
			return err
		}
		v.name = "" // it names the attribute, not a weight
		l.values[o.Outputs[0]] = v
		return nil
	}
	if o.Op == "If" {
		return l.inline(o, in)
	}
	if done, err := l.lower(o, in); done {
		return err
	}
	n := &node{op: o.Op, domain: o.Domain, name: o.Name, in: in, attrs: o.Attrs, alpha: 1}
	if n.op == "FusedMatMul" {
		if o.Int("transBatchA", 0) != 0 || o.Int("transBatchB", 0) != 0 {
			return &OpError{Op: o.Op, Node: o.Name, Reason: "batch transposition", Err: ErrUnsupportedOp}
		}
		n.op, n.domain, n.attrs = "MatMul", "", nil
		n.transA, n.transB, n.alpha = o.Int("transA", 0) != 0, o.Int("transB", 0) != 0, float64(o.Float("alpha", 1))
	}
	if n.op == "Dropout" || n.op == "LayerNormalization" {
		o = &onnx.Node{Name: o.Name, Op: o.Op, Outputs: o.Outputs[:1]} // the other outputs serve training only
	}
	for _, name := range o.Outputs {
		n.out = append(n.out, &value{name: name})
	}
	if len(n.out) == 0 {
		return &OpError{Op: n.op, Node: n.name, Reason: "no output", Err: ErrUnsupportedOp}
	}
	if len(n.attrs) > 0 && slices.ContainsFunc(n.attrs, func(a *onnx.Attribute) bool { return a.G != nil }) {
		return &OpError{Op: n.op, Node: n.name, Reason: "control flow; export the model for inference without it", Err: ErrUnsupportedOp}
	}
	if err := infer(n, l.opset); err != nil {
		return err
	}
	for _, v := range n.out {
		v.from = n
	}
	before := len(l.nodes)
	l.context = n.name
	out := l.simplify(n)
	if l.err != nil {
		return l.err
	}
	for i, v := range n.out {
		switch {
		case out == nil:
		case i == 0:
			v = out
		}
		l.values[o.Outputs[i]] = v
	}
	if out == nil {
		l.nodes = append(l.nodes[:before], n)
	}
	return nil
}

// inline puts the branch of an If whose condition follows from constants and shapes in its place.
func (l *loaded) inline(o *onnx.Node, in []*value) error {
	refuse := func(why string) error {
		return &OpError{Op: o.Op, Node: o.Name, Reason: why, Err: ErrUnsupportedOp}
	}
	if len(in) != 1 {
		return refuse("needs one condition")
	}
	cond, ok := scalarOf(in[0])
	if !ok {
		return refuse("the condition depends on the input; export the model for inference without control flow")
	}
	branch := o.Attr("else_branch")
	if cond != 0 {
		branch = o.Attr("then_branch")
	}
	if branch == nil || branch.G == nil || len(branch.G.Outputs) != len(o.Outputs) {
		return refuse("a branch is missing")
	}
	for _, t := range branch.G.Initializers {
		v, err := stored(t)
		if err != nil {
			return err
		}
		l.values[t.Name] = v
	}
	for _, n := range branch.G.Nodes {
		if err := l.load(n); err != nil {
			return err
		}
	}
	for i, v := range branch.G.Outputs {
		if l.values[o.Outputs[i]] = l.values[v.Name]; l.values[v.Name] == nil {
			return refuse("a branch does not compute its output")
		}
	}
	return nil
}

// simplify gives the value that stands for the node's only output, nil to keep the node.
func (l *loaded) simplify(n *node) *value {
	if len(n.out) != 1 {
		return nil
	}
	out, x := n.out[0], n.in[0]
	if k := out.known; k[0] != nil && k[1] != nil && k[0].Equal(k[1]) && k[0].Len() <= 4096 &&
		out.typ != onnx.Float16 && out.typ != onnx.BFloat16 {
		t := tensorOf(out)
		if n.op == "Cast" && x.tensor != nil {
			t.Name = x.tensor.Name // a weight remains known by its name
		}
		v, err := stored(t)
		if err != nil {
			return l.fail(err)
		}
		return v
	}
	float := x != nil && x.typ == onnx.Float
	switch n.op {
	case "Identity", "Dropout":
		return x
	case "Cast", "CastLike":
		if out.typ == x.typ {
			return x
		}
	case "Expand":
		if out.shape.equal(x.shape) {
			return x
		}
	case "Reshape", "Squeeze", "Unsqueeze", "Flatten":
		if x.from != nil && x.from.op == "Reshape" && len(x.from.in) == 1 {
			x = x.from.in[0]
		}
		return l.reshape(x, out.shape)
	case "Div":
		if c, ok := scalarOf(n.in[1]); ok && float && n.in[1].shape.rank() <= x.shape.rank() {
			return l.mul(x, l.scalar(1/c))
		}
	case "Gemm":
		p := n.proto()
		y := l.matmul(x, n.in[1], p.Int("transA", 0) != 0, p.Int("transB", 0) != 0, float64(p.Float("alpha", 1)))
		if len(n.in) > 2 && n.in[2] != nil {
			c := n.in[2]
			if beta := float64(p.Float("beta", 1)); beta != 1 {
				c = l.mul(c, l.scalar(beta))
			}
			y = l.sum(y, c)
		}
		return y
	case "Softmax", "LogSoftmax":
		def := int64(-1)
		if l.opset < 13 {
			def = 1
		}
		a, err := axis(n.proto().Int("axis", def), x.shape.rank())
		if err != nil || a != x.shape.rank()-1 {
			return l.fail(&OpError{Op: n.op, Node: n.name, Reason: "is not over the last axis", Err: ErrUnsupportedOp})
		}
		n.attrs = []*onnx.Attribute{intAttr("axis", int64(a))}
	}
	return nil
}

// constantTensor reads any form of a Constant node.
func constantTensor(o *onnx.Node) (*onnx.Tensor, error) {
	if len(o.Attrs) != 1 || len(o.Outputs) != 1 {
		return nil, fmt.Errorf("needs one value and one output")
	}
	switch a := o.Attrs[0]; {
	case a.Name == "value" && a.T != nil:
		return a.T, nil
	case a.Name == "value_int":
		return onnx.Int64s("", nil, a.I), nil
	case a.Name == "value_ints":
		return onnx.Int64s("", []int64{int64(len(a.Ints))}, a.Ints...), nil
	case a.Name == "value_float":
		return onnx.Floats("", nil, a.F), nil
	case a.Name == "value_floats":
		return onnx.Floats("", []int64{int64(len(a.Floats))}, a.Floats...), nil
	}
	return nil, fmt.Errorf("attribute %q", o.Attrs[0].Name)
}

// tensorOf stores the known contents of a value in its own type.
func tensorOf(v *value) *onnx.Tensor {
	k := v.known[0]
	var b []byte
	for _, x := range k.F {
		if v.typ == onnx.Double {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		} else {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(x)))
		}
	}
	for _, x := range k.I {
		switch v.typ.Size() {
		case 1:
			b = append(b, byte(x))
		case 2:
			b = binary.LittleEndian.AppendUint16(b, uint16(x))
		case 4:
			b = binary.LittleEndian.AppendUint32(b, uint32(x))
		default:
			b = binary.LittleEndian.AppendUint64(b, uint64(x))
		}
	}
	d := make([]int64, len(k.Shape))
	for i := range d {
		d[i] = int64(k.Shape[i])
	}
	return onnx.NewTensor("", v.typ, d, b)
}
