package export

import (
	"fmt"
	"slices"
	"strings"

	"infill/mlm/onnx"
	"infill/mlm/onnxgrad"
)

// An InputError is an input of a graph that is fed neither from a text nor with a number, or a
// number for an input that is not there. It wraps [ErrNotMasked].
type InputError struct {
	Name   string
	Absent bool // the graph has no such input beside those of texts
}

// Error says which inputs are fed from a text.
func (e *InputError) Error() string {
	reason := "cannot feed the input %q; a text has %s"
	if e.Absent {
		reason = "it has no input %q beside %s"
	}
	return fmt.Sprintf("%v: "+reason, ErrNotMasked, e.Name, strings.Join(onnxgrad.Inputs(), ", "))
}

// Unwrap is [ErrNotMasked].
func (e *InputError) Unwrap() error { return ErrNotMasked }

// constants gives inputs a number in every place: the given ones, and 0 where there are types of
// tasks, as ERNIE has.
func (a *adapter) constants(given map[string]float64) {
	for _, v := range slices.Clone(a.m.Graph.Inputs) {
		x, some := given[v.Name]
		if slices.Contains(onnxgrad.Inputs(), v.Name) || !some && v.Name != "task_type_ids" {
			continue
		}
		g := a.graph()
		g.Inputs = slices.DeleteFunc(g.Inputs, func(o *onnx.ValueInfo) bool { return o.Name == v.Name })
		g.Nodes = append(everywhere(v, x), g.Nodes...)
		a.note("the input %s is %v in every place", v.Name, x)
	}
}

// everywhere are nodes that compute a value with one number. A dimension without a size is one of
// input_ids, in their order.
func everywhere(v *onnx.ValueInfo, x float64) []*onnx.Node {
	name := func(part string) string { return v.Name + "/" + part }
	var nodes []*onnx.Node
	node := func(op, out string, in []string, attrs ...*onnx.Attribute) string {
		nodes = append(nodes, &onnx.Node{Name: out, Op: op, Inputs: in, Outputs: []string{out},
			Attrs: attrs})
		return out
	}
	constant := func(out string, d ...int64) string {
		return node("Constant", out, nil,
			onnx.Attr("value", onnx.Ints("", onnx.Int64, []int64{int64(len(d))}, d...)))
	}
	shape := v.Shape
	if !v.HasShape {
		shape = make([]onnx.Dim, 2)
	}
	all, sizes := node("Shape", name("shape"), []string{"input_ids"}), []string{}
	for i, d := range shape {
		part := name(fmt.Sprint(i))
		if d.Param == "" && d.Value > 0 {
			sizes = append(sizes, constant(part, d.Value))
			continue
		}
		sizes = append(sizes, node("Gather", part, []string{all, constant(part+"/at", int64(min(i, 1)))},
			onnx.Attr("axis", 0)))
	}
	to := constant(name("shape/none"))
	if len(sizes) > 0 {
		to = node("Concat", name("sizes"), sizes, onnx.Attr("axis", 0))
	}
	node("ConstantOfShape", v.Name, []string{to}, onnx.Attr("value", number(v.Type, x)))
	return nodes
}

// number is a tensor of one number.
func number(t onnx.DataType, x float64) *onnx.Tensor {
	if t == onnx.Float {
		return onnx.Floats("", []int64{1}, float32(x))
	}
	return onnx.Ints("", t, []int64{1}, int64(x))
}
