package onnxgrad

import (
	"fmt"

	"infill/mlm/onnx"
	"infill/mlm/onnxeval"
)

// sizeOps make constants, read the sizes of a call, and choose between branches by them. None of
// them carries a gradient.
func sizeOps() []operator {
	sized := func(name string) operator {
		return with(still(name, 1, 1, throughKernel(1), int64Type, noNumber),
			func(o *operator) { o.fold = fromShape })
	}
	return []operator{
		sized("Shape"), sized("Size"),
		still("Range", 3, 3, rangeShape, firstType, noNumber),
		still("ConstantOfShape", 1, 1, constantOfShapeShape, constantOfShapeType, noNumber),
		{name: "Constant", least: 0, most: 0, lower: lowerConstant},
		{name: "If", least: 1, most: 1, lower: lowerIf},
	}
}

func rangeShape(n *node, p int, _ int64) ([][]int, error) {
	var in [3]*onnxeval.Tensor
	for i, v := range n.in {
		if in[i] = v.known[p]; in[i] == nil {
			return nil, fmt.Errorf("the length depends on the values of input %d", i)
		}
	}
	k, err := onnxeval.RangeLen(in[0], in[1], in[2])
	if err == nil && k > maxKnown { // beyond what is followed
		err = fmt.Errorf("more than %d numbers", maxKnown)
	}
	return [][]int{{k}}, err
}

func constantOfShapeShape(n *node, p int, _ int64) ([][]int, error) {
	s, err := target(n.in[0], p)
	return [][]int{s}, err
}

func constantOfShapeType(n *node) onnx.DataType {
	if a := n.proto().Attr("value"); a != nil && a.T != nil {
		return a.T.Type
	}
	return onnx.Float
}

func lowerConstant(l *loaded, o *onnx.Node, _ []*value) []*value {
	t, err := constantTensor(o)
	if err != nil {
		return l.refuse(o, "%v", err)
	}
	v, err := stored(t)
	if err != nil {
		l.fail(err)
		return nil
	}
	v.name = "" // it names the attribute, not a weight
	return []*value{v}
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
		return onnx.Ints("", onnx.Int64, nil, a.I), nil
	case a.Name == "value_ints":
		return onnx.Ints("", onnx.Int64, []int64{int64(len(a.Ints))}, a.Ints...), nil
	case a.Name == "value_float":
		return onnx.Floats("", nil, a.F), nil
	case a.Name == "value_floats":
		return onnx.Floats("", []int64{int64(len(a.Floats))}, a.Floats...), nil
	}
	return nil, fmt.Errorf("attribute %q", o.Attrs[0].Name)
}

// lowerIf puts the branch of an If whose condition follows from constants and shapes in its place.
func lowerIf(l *loaded, o *onnx.Node, in []*value) []*value {
	cond, ok := scalarOf(in[0])
	if !ok {
		return l.refuse(o, "the condition depends on the input; "+
			"export the model for inference without control flow")
	}
	branch := o.Attr("else_branch")
	if cond != 0 {
		branch = o.Attr("then_branch")
	}
	if branch == nil || branch.G == nil || len(branch.G.Outputs) != len(o.Outputs) {
		return l.refuse(o, "a branch is missing")
	}
	for _, t := range branch.G.Initializers {
		v, err := stored(t)
		if err != nil {
			l.fail(err)
			return nil
		}
		l.values[t.Name] = v
	}
	for _, n := range branch.G.Nodes {
		if err := l.load(n); err != nil {
			l.fail(err)
			return nil
		}
	}
	var out []*value
	for _, v := range branch.G.Outputs {
		if l.values[v.Name] == nil {
			return l.refuse(o, "a branch does not compute its output")
		}
		out = append(out, l.values[v.Name])
	}
	return out
}
