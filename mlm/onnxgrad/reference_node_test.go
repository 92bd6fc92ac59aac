package onnxgrad

import (
	"errors"
	"math"
	"slices"
	"testing"

	"infill/mlm/onnx"
	"infill/mlm/onnxeval"
)

// TestKernels checks operators one by one against values worked out by hand or by numpy.
func TestKernels(t *testing.T) {
	t.Parallel()
	f := func(shape []int, v ...float64) *onnxeval.Tensor { return onnxeval.NewFloat(shape, v) }
	n := func(shape []int, v ...int64) *onnxeval.Tensor { return onnxeval.NewInt(shape, v) }
	ints := func(name string, v ...int64) *onnx.Attribute {
		return onnx.Attr(name, v)
	}
	num := func(name string, v int64) *onnx.Attribute {
		return onnx.Attr(name, v)
	}
	x := f([]int{2, 3}, 1, 2, 3, 4, 5, 6)
	for _, c := range []struct {
		op    string
		attrs []*onnx.Attribute
		in    []*onnxeval.Tensor
		want  *onnxeval.Tensor
	}{
		{"Add", nil, []*onnxeval.Tensor{x, f([]int{2, 1}, 10, 20)}, f([]int{2, 3}, 11, 12, 13, 24, 25, 26)},
		{"Sub", nil, []*onnxeval.Tensor{f([]int{}, 1), x}, f([]int{2, 3}, 0, -1, -2, -3, -4, -5)},
		{"Range", nil, []*onnxeval.Tensor{n([]int{}, math.MaxInt64-10), n([]int{}, math.MaxInt64), n([]int{}, 7)},
			n([]int{2}, math.MaxInt64-10, math.MaxInt64-3)},
		{"Range", nil, []*onnxeval.Tensor{n([]int{}, math.MaxInt64), n([]int{}, math.MinInt64),
			n([]int{}, math.MinInt64)}, n([]int{2}, math.MaxInt64, -1)},
		{"Range", nil, []*onnxeval.Tensor{n([]int{}, 5), n([]int{}, 0), n([]int{}, -2)}, n([]int{3}, 5, 3, 1)},
		{"Range", nil, []*onnxeval.Tensor{n([]int{}, 0), n([]int{}, 5), n([]int{}, -2)}, n([]int{0})},
		{"Div", nil, []*onnxeval.Tensor{n([]int{2}, 7, -7), n([]int{}, 2)}, n([]int{2}, 3, -3)},
		{"Pow", nil, []*onnxeval.Tensor{x, f([]int{}, 3)}, f([]int{2, 3}, 1, 8, 27, 64, 125, 216)},
		{"Max", nil, []*onnxeval.Tensor{x, f([]int{}, 3), f([]int{3}, 0, 0, 5)},
			f([]int{2, 3}, 3, 3, 5, 4, 5, 6)},
		{"MatMul", nil, []*onnxeval.Tensor{x, f([]int{3, 2}, 1, 0, 0, 1, 1, 1)},
			f([]int{2, 2}, 4, 5, 10, 11)},
		{"MatMul", nil, []*onnxeval.Tensor{f([]int{2, 1, 2}, 1, 2, 3, 4), f([]int{2, 2, 1}, 1, 1, 1, -1)},
			f([]int{2, 1, 1}, 3, -1)},
		{"MatMul", nil, []*onnxeval.Tensor{f([]int{3}, 1, 1, 1), f([]int{3, 1}, 1, 2, 3)}, f([]int{1}, 6)},
		{"FusedMatMul", []*onnx.Attribute{num("transB", 1),
			onnx.Attr("alpha", float32(0.5))},
			[]*onnxeval.Tensor{x, f([]int{1, 3}, 2, 0, 2)}, f([]int{2, 1}, 4, 10)},
		{"MatMulNBits", []*onnx.Attribute{num("K", 3), num("N", 2), num("bits", 8),
			num("block_size", 16)},
			[]*onnxeval.Tensor{x, n([]int{2, 1, 16}, append(append(slices.Repeat([]int64{128}, 13), 0, 0, 0),
				append([]int64{129, 128, 126}, make([]int64, 13)...)...)...), f([]int{2}, 9, 0.5), nil,
				nil, f([]int{2}, 1, 2)}, f([]int{2, 2}, 1, -0.5, 1, -2)},
		{"MatMulNBits", []*onnx.Attribute{num("K", 17), num("N", 1), num("bits", 4),
			num("block_size", 16)},
			[]*onnxeval.Tensor{f([]int{1, 17}, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10),
				n([]int{1, 2, 8}, 0x52, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0), f([]int{2}, 1, 2),
				n([]int{1}, 0x41)}, f([]int{1, 1}, 105)},
		{"Gemm", []*onnx.Attribute{num("transA", 1), onnx.Attr("beta", float32(2))},
			[]*onnxeval.Tensor{x, f([]int{2, 1}, 1, -1), f([]int{1}, 3)}, f([]int{3, 1}, 3, 3, 3)},
		{"Conv", []*onnx.Attribute{ints("pads", 1, 1)},
			[]*onnxeval.Tensor{f([]int{1, 2, 3}, 1, 2, 3, 4, 5, 6), f([]int{1, 2, 3}, 1, 0, -1, 0, 2, 0),
				f([]int{1}, 10)},
			f([]int{1, 1, 3}, 10-2+8, 10+1-3+10, 10+2+12)},
		{"Conv", []*onnx.Attribute{ints("strides", 2), ints("dilations", 2), num("group", 2)},
			[]*onnxeval.Tensor{f([]int{1, 2, 5}, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
				f([]int{2, 1, 2}, 1, 1, 1, -1)}, f([]int{1, 2, 2}, 4, 8, -2, -2)},
		{"Transpose", []*onnx.Attribute{ints("perm", 1, 0)}, []*onnxeval.Tensor{x},
			f([]int{3, 2}, 1, 4, 2, 5, 3, 6)},
		{"Reshape", nil, []*onnxeval.Tensor{x, n([]int{2}, -1, 0)}, f([]int{2, 3}, 1, 2, 3, 4, 5, 6)},
		{"Concat", []*onnx.Attribute{num("axis", 1)}, []*onnxeval.Tensor{x, f([]int{2, 1}, 7, 8)},
			f([]int{2, 4}, 1, 2, 3, 7, 4, 5, 6, 8)},
		{"Slice", nil, []*onnxeval.Tensor{x, n([]int{1}, -1), n([]int{1}, -9), n([]int{1}, 1),
			n([]int{1}, -2)}, f([]int{2, 2}, 3, 1, 6, 4)},
		{"Slice", nil, []*onnxeval.Tensor{x, n([]int{1}, 1), n([]int{1}, math.MaxInt64), n([]int{1}, -1)},
			f([]int{2, 2}, 2, 3, 5, 6)},
		{"Gather", []*onnx.Attribute{num("axis", 1)}, []*onnxeval.Tensor{x, n([]int{2}, 2, -3)},
			f([]int{2, 2}, 3, 1, 6, 4)},
		{"GatherND", []*onnx.Attribute{num("batch_dims", 1)}, []*onnxeval.Tensor{x, n([]int{2, 1}, 2, 0)},
			f([]int{2}, 3, 4)},
		{"GatherElements", []*onnx.Attribute{num("axis", 1)}, []*onnxeval.Tensor{x, n([]int{2, 1}, 1, 2)},
			f([]int{2, 1}, 2, 6)},
		{"ReduceSum", []*onnx.Attribute{num("keepdims", 0)}, []*onnxeval.Tensor{x, n([]int{1}, 0)},
			f([]int{3}, 5, 7, 9)},
		{"ReduceMean", []*onnx.Attribute{ints("axes", -1)}, []*onnxeval.Tensor{x}, f([]int{2, 1}, 2, 5)},
		{"ReduceMax", nil, []*onnxeval.Tensor{x}, f([]int{1, 1}, 6)},
		{"CumSum", nil, []*onnxeval.Tensor{x, n([]int{}, 1)}, f([]int{2, 3}, 1, 3, 6, 4, 9, 15)},
		{"CumSum", nil, []*onnxeval.Tensor{n([]int{2, 2}, 1, 2, 3, 4), n([]int{}, 0)},
			n([]int{2, 2}, 1, 2, 4, 6)},
		{"Softmax", nil, []*onnxeval.Tensor{f([]int{1, 2}, 1000, 1000)}, f([]int{1, 2}, 0.5, 0.5)},
		{"LogSoftmax", nil, []*onnxeval.Tensor{f([]int{2}, 0, math.Log(3))},
			f([]int{2}, -math.Log(4), math.Log(0.75))},
		{"Expand", nil, []*onnxeval.Tensor{f([]int{2, 1}, 1, 2), n([]int{3}, 1, 1, 2)},
			f([]int{1, 2, 2}, 1, 1, 2, 2)},
		{"Range", nil, []*onnxeval.Tensor{n([]int{}, 5), n([]int{}, 0), n([]int{}, -2)},
			n([]int{3}, 5, 3, 1)},
		{"Trilu", []*onnx.Attribute{num("upper", 0)}, []*onnxeval.Tensor{x},
			f([]int{2, 3}, 1, 0, 0, 4, 5, 0)},
		{"Tile", nil, []*onnxeval.Tensor{f([]int{1, 2}, 1, 2), n([]int{2}, 2, 2)},
			f([]int{2, 4}, 1, 2, 1, 2, 1, 2, 1, 2)},
		{"Pad", nil, []*onnxeval.Tensor{x, n([]int{4}, 1, 0, 0, 1)},
			f([]int{3, 4}, 0, 0, 0, 0, 1, 2, 3, 0, 4, 5, 6, 0)},
		{"Squeeze", nil, []*onnxeval.Tensor{f([]int{1, 2, 1}, 1, 2), n([]int{1}, -1)}, f([]int{1, 2}, 1, 2)},
		{"Flatten", nil, []*onnxeval.Tensor{f([]int{1, 2, 1}, 1, 2)}, f([]int{1, 2}, 1, 2)},
		{"Shape", []*onnx.Attribute{num("start", -1)}, []*onnxeval.Tensor{x}, n([]int{1}, 3)},
		{"Gelu", nil, []*onnxeval.Tensor{f([]int{2}, 1, -1)},
			f([]int{2}, 0.841344746068543, -0.158655253931457)},
		{"FastGelu", nil, []*onnxeval.Tensor{f([]int{1}, 1)}, f([]int{1}, 0.841191990607477)},
		{"LayerNormalization", nil, []*onnxeval.Tensor{f([]int{1, 2}, 1, 3), f([]int{2}, 2, 2),
			f([]int{2}, 1, 1)},
			f([]int{1, 2}, 1-2/math.Sqrt(1+1e-5), 1+2/math.Sqrt(1+1e-5))},
		{"Where", nil, []*onnxeval.Tensor{{Type: onnx.Bool, Shape: []int{2, 1}, I: []int64{1, 0}}, x,
			f([]int{}, 9)}, f([]int{2, 3}, 1, 2, 3, 9, 9, 9)},
	} {
		out, err := evaluated(&onnx.Node{Op: c.op, Attrs: c.attrs, Outputs: []string{"y"}}, c.in, 14)
		if err != nil {
			t.Errorf("%s: %v", c.op, err)
			continue
		}
		got := out[0]
		if !slices.Equal(got.Shape, c.want.Shape) || !slices.Equal(got.I, c.want.I) ||
			!near(got.F, c.want.F) {
			t.Errorf("%s %v: %v %v %v, want %v %v %v", c.op, c.attrs, got.Shape, got.F, got.I,
				c.want.Shape, c.want.F, c.want.I)
		}
	}
}

// TestBadNodes: graphs come from strangers; what does not fit gives an error.
func TestBadNodes(t *testing.T) {
	t.Parallel()
	x := onnxeval.NewFloat([]int{2, 3}, make([]float64, 6))
	huge := onnxeval.NewInt([]int{3}, []int64{1 << 30, 1 << 30, 1 << 30})
	for op, in := range map[string][]*onnxeval.Tensor{
		"NoSuchOp": {x},
		"MatMul":   {x, x},
		"Conv": {onnxeval.NewFloat([]int{1, 2, 2}, make([]float64, 4)),
			onnxeval.NewFloat([]int{1, 2, 3}, make([]float64, 6))},
		"Add":             {x},
		"Mul":             {x, onnxeval.NewInt([]int{2, 3}, make([]int64, 6))},
		"Expand":          {x, huge},
		"ConstantOfShape": {huge},
		"Tile":            {x, onnxeval.NewInt([]int{2}, []int64{1 << 30, 1 << 30})},
		"Gather":          {x, onnxeval.NewInt([]int{1}, []int64{7})},
		"Reshape":         {x, onnxeval.NewInt([]int{1}, []int64{5})},
		"Div":             {onnxeval.NewInt([]int{1}, []int64{1}), onnxeval.NewInt([]int{1}, []int64{0})},
		"Softmax":         {onnxeval.NewInt([]int{1}, []int64{1})},
		"Range": {onnxeval.NewInt([]int{}, []int64{0}), onnxeval.NewInt([]int{}, []int64{1 << 60}),
			onnxeval.NewInt([]int{}, []int64{1})},
	} {
		_, err := evaluated(&onnx.Node{Name: "n", Op: op, Outputs: []string{"y"}}, in, 14)
		if err == nil {
			t.Errorf("%s: no error", op)
		}
		if (op == "NoSuchOp") != errors.Is(err, onnxeval.ErrOp) {
			t.Errorf("%s: %v", op, err)
		}
	}
}

func near(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) <= 1e-7 })
}
