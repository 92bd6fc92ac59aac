package onnxgrad

import (
	"encoding/binary"
	"math"
	"slices"

	"infill/mlm/onnx"
	"infill/mlm/onnxeval"
)

// loaded is a model in our terms: canonical nodes, shapes known at the probes.
type loaded struct {
	*builder
	inputs []*value
	logits *value
	values map[string]*value
}

// load converts a model and simplifies it on the way: what follows from constants becomes one,
// nodes that do nothing vanish, Squeeze, Unsqueeze, Flatten and Reshape become one operation, Gemm
// a product and a sum, division by a constant a multiplication.
func load(m *onnx.Model, unpadded bool) (*loaded, error) {
	m = Widen(m)
	l := &loaded{builder: newBuilder(m.Opsets[""]), values: map[string]*value{}}
	if l.opset < 12 {
		return nil, refused(errUnsupportedOp, "opset %d; export with opset 14 or later", l.opset)
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
		if in.Name == "attention_mask" && unpadded {
			v.known = ones(v)
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
		return nil, refused(errOutputs, "no output named logits")
	case l.logits.shape.rank() != 3 || !l.logits.shape.constant(2) || l.logits.typ != onnx.Float ||
		l.logits.shape.at(0) != probeRows ||
		l.logits.shape.at(1) != probeLength:
		return nil, refused(errOutputs, "output %q is %v of shape %v for a batch of %d × %d",
			l.logits.name, l.logits.typ, l.logits.shape[0], probeRows[0], probeLength[0])
	}
	return l, nil
}

// ones are the contents of a mask that hides nothing.
func ones(v *value) (out [probes]*onnxeval.Tensor) {
	for p, shape := range v.shape {
		out[p] = onnxeval.NewInt(shape, slices.Repeat([]int64{1}, volume(shape)))
	}
	return out
}

// knownInputs are the inputs that an export may have. All are [batch, sequence] integers.
var knownInputs = []string{"input_ids", "attention_mask", "token_type_ids", "position_ids"}

// Inputs lists the inputs that an export may have. All are [batch, sequence] integers.
func Inputs() []string { return slices.Clone(knownInputs) }

func input(in *onnx.ValueInfo) (*value, error) {
	if !slices.Contains(knownInputs, in.Name) {
		return nil, refused(errInputs, "unknown input %q", in.Name)
	}
	if in.Type != onnx.Int64 && in.Type != onnx.Int32 {
		return nil, refused(errInputs, "input %q is %v, not int64", in.Name, in.Type)
	}
	if in.HasShape && len(in.Shape) != 2 {
		return nil, refused(errInputs, "input %q has rank %d, not [batch, sequence]",
			in.Name, len(in.Shape))
	}
	for _, d := range in.Shape {
		if d.Param == "" && d.Value >= 0 {
			return nil, refused(errInputs, "input %q has the fixed size %d; export with dynamic axes",
				in.Name, d.Value)
		}
	}
	v := &value{name: in.Name, typ: in.Type}
	for p := range probes {
		v.shape[p] = []int{probeRows[p], probeLength[p]}
	}
	return v, nil
}

// load reads a node of the file.
func (l *loaded) load(o *onnx.Node) error {
	refuse := (&node{op: o.Op, name: o.Name}).refused
	in := make([]*value, len(o.Inputs))
	for i, name := range o.Inputs {
		if name == "" {
			continue
		}
		if in[i] = l.values[name]; in[i] == nil { // an optional output that no rule gives
			return refuse(errUnsupportedOp, "input %q is not available", name)
		}
	}
	op := operators[o.Op]
	branches := slices.ContainsFunc(o.Attrs, func(a *onnx.Attribute) bool { return a.G != nil })
	switch {
	case len(o.Outputs) == 0:
		return refuse(errUnsupportedOp, "no output")
	case branches && (op == nil || op.lower == nil):
		return refuse(errUnsupportedOp, "control flow; export the model for inference without it")
	case op == nil:
		return refuse(errShape, "operator is not known")
	}
	if err := op.check(o.Name, in); err != nil {
		return err
	}
	l.context = o.Name
	names := o.Outputs
	if op.outputs > 0 {
		names = names[:min(op.outputs, len(names))]
	}
	var out []*value
	if op.lower != nil {
		out = op.lower(l, o, in)
	} else {
		out = l.enter(&node{op: o.Op, domain: o.Domain, name: o.Name, in: in, attrs: o.Attrs,
			alpha: 1}, names)
	}
	if l.err != nil {
		return l.err
	}
	for i, name := range names {
		if i < len(out) && out[i] != nil && name != "" {
			l.values[name] = out[i]
		}
	}
	return nil
}

// enter adds a node of the file, or what it simplifies to, and gives its outputs.
func (l *loaded) enter(n *node, names []string) []*value {
	for _, name := range names {
		n.out = append(n.out, &value{name: name})
	}
	if err := infer(n, l.opset, l.follow); err != nil {
		l.fail(err)
		return nil
	}
	for _, v := range n.out {
		v.from = n
	}
	before := len(l.nodes)
	if x := l.simplify(n); x != nil || l.err != nil {
		return []*value{x}
	}
	l.nodes = append(l.nodes[:before], n)
	return n.out
}

// simplify gives the value that stands for the node's only output, nil to keep the node.
func (l *loaded) simplify(n *node) *value {
	if len(n.out) != 1 {
		return nil
	}
	out, x := n.out[0], n.in[0]
	if k := out.known; k[0] != nil && k[1] != nil && k[0].Equal(k[1]) && k[0].Len() <= smallKnown &&
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
	if simplify := operators[n.op].simplify; simplify != nil {
		return simplify(l, n)
	}
	return nil
}

// tensorOf stores the known contents of a value in its own type.
func tensorOf(v *value) *onnx.Tensor {
	k := v.known[0]
	d := make([]int64, len(k.Shape))
	for i := range d {
		d[i] = int64(k.Shape[i])
	}
	if k.F == nil {
		return onnx.Ints("", v.typ, d, k.I...)
	}
	var b []byte
	for _, x := range k.F {
		if v.typ == onnx.Double {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		} else {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(x)))
		}
	}
	return onnx.NewTensor("", v.typ, d, b)
}

// refuse records that a form of a composite operation is not known.
func (l *loaded) refuse(o *onnx.Node, format string, args ...any) []*value {
	l.fail((&node{op: o.Op, name: o.Name}).refused(errUnsupportedOp, format, args...))
	return nil
}

// optional is input i, nil if left out.
func optional(in []*value, i int) *value {
	if i < len(in) {
		return in[i]
	}
	return nil
}
