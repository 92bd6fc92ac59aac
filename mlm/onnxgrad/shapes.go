package onnxgrad

import (
	"fmt"
	"slices"

	"infill/mlm/onnxeval"
)

// shapeRule gives the shapes of the outputs at probe p.
type shapeRule func(n *node, p int, opset int64) ([][]int, error)

var shapeRules map[string]shapeRule

func init() {
	same := func(n *node, p int, _ int64) ([][]int, error) { return [][]int{n.in[0].shape[p]}, nil }
	shapeRules = map[string]shapeRule{
		"MatMul": matmulShape, "Gemm": gemmShape, "Transpose": transposeShape, "Reshape": reshapeShape,
		"Gather": gatherShape, "GatherND": gatherNDShape, "GatherElements": gatherElementsShape,
		"Concat": concatShape, "Split": splitShape, "Slice": sliceShape, "Expand": expandShape, "Pad": padShape,
		"Unsqueeze": throughKernel, "Squeeze": throughKernel, "Flatten": throughKernel,
		"ConstantOfShape": constantOfShapeShape, "Range": unknownLength, "Tile": tileShape,
	}
	for _, op := range []string{"Neg", "Abs", "Exp", "Log", "Sqrt", "Erf", "Tanh", "Sigmoid", "Reciprocal", "Relu", "Sin", "Cos", "Floor", "Ceil", "Sign", "Round",
		"Softplus", "ScatterElements", "Not", "IsNaN", "Cast", "CastLike", "Identity", "Dropout", "Softmax", "LogSoftmax", "LayerNormalization", "Gelu", "CumSum", "Trilu", "Clip"} {
		shapeRules[op] = same
	}
	for _, op := range []string{"Add", "Sub", "Mul", "Div", "Pow", "Mod", "Min", "Max", "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual",
		"And", "Or", "Xor", "Where"} {
		shapeRules[op] = broadcastShape
	}
	for _, op := range []string{"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL2", "ReduceSumSquare"} {
		shapeRules[op] = reduceShape
	}
}

func inferShapes(n *node, p int, opset int64) (out [][]int, err error) {
	rule := shapeRules[n.op]
	if rule == nil {
		return nil, fmt.Errorf("operator is not known")
	}
	if len(n.in) == 0 || n.in[0] == nil {
		return nil, fmt.Errorf("no input")
	}
	// Attributes and inputs come from a file: whatever does not fit is reported.
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, fmt.Errorf("inputs do not fit the operator: %v", r)
		}
	}()
	return rule(n, p, opset)
}

func broadcastShape(n *node, p int, _ int64) ([][]int, error) {
	rank := 0
	for _, v := range n.in {
		rank = max(rank, len(v.shape[p]))
	}
	out := make([]int, rank)
	for i := range out {
		out[i] = 1
	}
	for _, v := range n.in {
		off := rank - len(v.shape[p])
		for i, d := range v.shape[p] {
			switch {
			case out[off+i] == 1:
				out[off+i] = d
			case d != 1 && d != out[off+i]:
				return nil, fmt.Errorf("shapes do not broadcast")
			}
		}
	}
	return [][]int{out}, nil
}

func matmulShape(n *node, p int, _ int64) ([][]int, error) {
	a, b := slices.Clone(n.in[0].shape[p]), slices.Clone(n.in[1].shape[p])
	if len(a) < 2 || len(b) < 2 {
		return nil, fmt.Errorf("matrix product with a vector")
	}
	swap := func(s []int) { k := len(s); s[k-1], s[k-2] = s[k-2], s[k-1] }
	if n.transA {
		swap(a)
	}
	if n.transB {
		swap(b)
	}
	ra, rb := len(a), len(b)
	if a[ra-1] != b[rb-2] {
		return nil, fmt.Errorf("matrix product of shapes %v and %v", a, b)
	}
	lead := &node{in: []*value{{shape: shapeOf(a[:ra-2]...)}, {shape: shapeOf(b[:rb-2]...)}}}
	batch, err := broadcastShape(lead, p, 0)
	if err != nil {
		return nil, err
	}
	return [][]int{append(batch[0], a[ra-2], b[rb-1])}, nil
}

func gemmShape(n *node, p int, opset int64) ([][]int, error) {
	c := *n
	c.transA, c.transB = n.proto().Int("transA", 0) != 0, n.proto().Int("transB", 0) != 0
	return matmulShape(&c, p, opset)
}

func perm(n *node) []int64 {
	if v, ok := n.proto().Ints("perm"); ok {
		return v
	}
	r := n.in[0].shape.rank()
	v := make([]int64, r)
	for i := range v {
		v[i] = int64(r - 1 - i)
	}
	return v
}

func transposeShape(n *node, p int, _ int64) ([][]int, error) {
	in := n.in[0].shape[p]
	out := make([]int, len(in))
	for i, q := range perm(n) {
		out[i] = in[q]
	}
	return [][]int{out}, nil
}

// reshapeShape serves both our own form, whose output shape is set, and the file's.
func reshapeShape(n *node, p int, opset int64) ([][]int, error) {
	if len(n.in) == 1 {
		if volume(n.out[0].shape[p]) != volume(n.in[0].shape[p]) {
			return nil, fmt.Errorf("shape %v does not hold the elements of %v", n.out[0].shape[p], n.in[0].shape[p])
		}
		return [][]int{n.out[0].shape[p]}, nil
	}
	return throughKernel(n, p, opset)
}

// throughKernel asks the reference, which only looks at the shape of the first input.
func throughKernel(n *node, p int, opset int64) ([][]int, error) {
	in := make([]*onnxeval.Tensor, len(n.in))
	for i, v := range n.in {
		if v == nil {
			continue
		}
		if in[i] = v.known[p]; i == 0 {
			in[i] = &onnxeval.Tensor{Type: v.typ, Shape: v.shape[p]}
		} else if in[i] == nil {
			return nil, fmt.Errorf("target shape depends on the input's values")
		}
	}
	out, err := onnxeval.Node(n.proto(), in, opset)
	if err != nil {
		return nil, err
	}
	return [][]int{out[0].Shape}, nil
}

// axis resolves a possibly negative axis.
func axis(a int64, rank int) (int, error) {
	if a < 0 {
		a += int64(rank)
	}
	if a < 0 || a >= int64(rank) {
		return 0, fmt.Errorf("axis %d outside rank %d", a, rank)
	}
	return int(a), nil
}

func gatherShape(n *node, p int, _ int64) ([][]int, error) {
	in := n.in[0].shape[p]
	a, err := axis(n.proto().Int("axis", 0), len(in))
	if err != nil {
		return nil, err
	}
	return [][]int{slices.Concat(in[:a], n.in[1].shape[p], in[a+1:])}, nil
}

func gatherNDShape(n *node, p int, _ int64) ([][]int, error) {
	in, idx := n.in[0].shape[p], n.in[1].shape[p]
	bd, last := int(n.proto().Int("batch_dims", 0)), len(idx)-1
	return [][]int{slices.Concat(idx[:last], in[bd+idx[last]:])}, nil
}

func gatherElementsShape(n *node, p int, _ int64) ([][]int, error) {
	return [][]int{n.in[1].shape[p]}, nil
}

func concatShape(n *node, p int, _ int64) ([][]int, error) {
	out := slices.Clone(n.in[0].shape[p])
	a, err := axis(n.proto().Int("axis", 0), len(out))
	if err != nil {
		return nil, err
	}
	for _, v := range n.in[1:] {
		if len(v.shape[p]) != len(out) {
			return nil, fmt.Errorf("ranks differ")
		}
		out[a] += v.shape[p][a]
	}
	return [][]int{out}, nil
}

// splitSizes are the lengths of the parts along the axis.
func splitSizes(n *node, p int) ([]int64, int, error) {
	in := n.in[0].shape[p]
	a, err := axis(n.proto().Int("axis", 0), len(in))
	if err != nil {
		return nil, 0, err
	}
	sizes, ok := n.proto().Ints("split")
	if len(n.in) > 1 && n.in[1] != nil {
		if n.in[1].known[p] == nil {
			return nil, 0, fmt.Errorf("sizes depend on the input's values")
		}
		sizes, ok = n.in[1].known[p].I, true
	}
	if !ok {
		k := len(n.out)
		each := (in[a] + k - 1) / k
		for left := in[a]; len(sizes) < k; left -= each {
			sizes = append(sizes, int64(min(each, left)))
		}
	}
	if len(sizes) != len(n.out) {
		return nil, 0, fmt.Errorf("%d sizes for %d outputs", len(sizes), len(n.out))
	}
	return sizes, a, nil
}

func splitShape(n *node, p int, _ int64) ([][]int, error) {
	sizes, a, err := splitSizes(n, p)
	if err != nil {
		return nil, err
	}
	var out [][]int
	for _, s := range sizes {
		d := slices.Clone(n.in[0].shape[p])
		d[a] = int(s)
		out = append(out, d)
	}
	return out, nil
}

// span is one axis of a Slice.
type span struct{ axis, start, n, step int }

// sliceSpans reads the parameters of a Slice at probe p.
func sliceSpans(n *node, p int) ([]span, error) {
	get := func(i int, name string) ([]int64, error) {
		if i < len(n.in) && n.in[i] != nil {
			if n.in[i].known[p] == nil {
				return nil, fmt.Errorf("%s depend on the input's values", name)
			}
			return n.in[i].known[p].I, nil
		}
		v, _ := n.proto().Ints(name)
		return v, nil
	}
	var par [4][]int64
	for i, name := range []string{"starts", "ends", "axes", "steps"} {
		v, err := get(i+1, name)
		if err != nil {
			return nil, err
		}
		par[i] = v
	}
	var out []span
	for i := range par[0] {
		s := span{axis: i, step: 1}
		if par[2] != nil {
			a, err := axis(par[2][i], n.in[0].shape.rank())
			if err != nil {
				return nil, err
			}
			s.axis = a
		}
		if par[3] != nil {
			s.step = int(par[3][i])
		}
		if s.step < 1 {
			return nil, fmt.Errorf("slice with step %d", s.step)
		}
		d := int64(n.in[0].shape[p][s.axis])
		clamp := func(v int64) int64 {
			if v < 0 {
				v += d
			}
			return min(max(v, 0), d)
		}
		a, b := clamp(par[0][i]), clamp(par[1][i])
		s.start, s.n = int(a), int(max(0, (b-a+int64(s.step)-1)/int64(s.step)))
		out = append(out, s)
	}
	return out, nil
}

func sliceShape(n *node, p int, _ int64) ([][]int, error) {
	spans, err := sliceSpans(n, p)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(n.in[0].shape[p])
	for _, s := range spans {
		out[s.axis] = s.n
	}
	return [][]int{out}, nil
}

// target is the shape that a tensor of integers spells.
func target(v *value, p int) ([]int, error) {
	if v == nil || v.known[p] == nil {
		return nil, fmt.Errorf("target shape depends on the input's values")
	}
	out := make([]int, len(v.known[p].I))
	for i, d := range v.known[p].I {
		if d < 0 || d > 1<<40 {
			return nil, fmt.Errorf("dimension %d", d)
		}
		out[i] = int(d)
	}
	return out, nil
}

func expandShape(n *node, p int, _ int64) ([][]int, error) {
	want, err := target(n.in[1], p)
	if err != nil {
		return nil, err
	}
	c := &node{in: []*value{n.in[0], {shape: dims{want, want}}}}
	return broadcastShape(c, p, 0)
}

func constantOfShapeShape(n *node, p int, _ int64) ([][]int, error) {
	s, err := target(n.in[0], p)
	return [][]int{s}, err
}

func tileShape(n *node, p int, _ int64) ([][]int, error) {
	times, err := target(n.in[1], p)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(n.in[0].shape[p])
	for i := range out {
		out[i] *= times[i]
	}
	return [][]int{out}, nil
}

func padShape(n *node, p int, _ int64) ([][]int, error) {
	if n.in[1].known[p] == nil {
		return nil, fmt.Errorf("pads depend on the input's values")
	}
	out := slices.Clone(n.in[0].shape[p])
	pads := n.in[1].known[p].I
	for i := range out {
		out[i] += int(pads[i] + pads[i+len(out)])
	}
	return [][]int{out}, nil
}

func unknownLength(*node, int, int64) ([][]int, error) {
	return nil, fmt.Errorf("length depends on the input's values")
}

// reduceAxes are the axes that a reduction removes or keeps as 1.
func reduceAxes(n *node, p int) ([]int, error) {
	list, _ := n.proto().Ints("axes")
	if len(n.in) > 1 && n.in[1] != nil {
		if n.in[1].known[p] == nil {
			return nil, fmt.Errorf("axes depend on the input's values")
		}
		list = n.in[1].known[p].I
	}
	rank := n.in[0].shape.rank()
	var out []int
	if len(list) == 0 && n.proto().Int("noop_with_empty_axes", 0) == 0 {
		for i := range rank {
			out = append(out, i)
		}
	}
	for _, v := range list {
		a, err := axis(v, rank)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

func reduceShape(n *node, p int, _ int64) ([][]int, error) {
	axes, err := reduceAxes(n, p)
	if err != nil {
		return nil, err
	}
	var out []int
	for i, d := range n.in[0].shape[p] {
		switch {
		case !slices.Contains(axes, i):
			out = append(out, d)
		case n.proto().Int("keepdims", 1) != 0:
			out = append(out, 1)
		}
	}
	return [][]int{out}, nil
}
