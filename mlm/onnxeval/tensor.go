package onnxeval

import (
	"fmt"
	"math"
	"slices"

	"infill/mlm/onnx"
)

// maxElements bounds every tensor that is computed (1 GiB of float64).
const maxElements = 1 << 27

// Tensor is a dense row-major array. Floating types of every width are held as float64 in F.
// Integers and booleans (0 and 1) as int64 in I. A tensor without elements in either is known by
// its type and shape alone: operators of layout and reductions then give the shapes of their
// outputs.
type Tensor struct {
	Type  onnx.DataType
	Shape []int
	F     []float64
	I     []int64

	// single marks numbers that follow from integers and scalar constants alone and are rounded to
	// float32 at every step, as in the model: relative positions are put into buckets by truncating
	// such numbers, where a last bit decides.
	single bool
}

// newFloat makes a float tensor. It keeps data.
func NewFloat(shape []int, data []float64) *Tensor {
	return &Tensor{Type: onnx.Float, Shape: shape, F: data}
}

// NewInt makes an int64 tensor. It keeps data.
func NewInt(shape []int, data []int64) *Tensor {
	return &Tensor{Type: onnx.Int64, Shape: shape, I: data}
}

// FromONNX converts a stored tensor.
func FromONNX(t *onnx.Tensor) (*Tensor, error) {
	out := &Tensor{Type: t.Type}
	for _, d := range t.Dims {
		out.Shape = append(out.Shape, int(d))
	}
	var err error
	if isFloat(t.Type) {
		out.F, err = t.Float64s()
	} else {
		out.I, err = t.Ints()
	}
	return out, err
}

func isFloat(t onnx.DataType) bool {
	return t == onnx.Float || t == onnx.Double || t == onnx.Float16 || t == onnx.BFloat16
}

// Len is the number of elements.
func (t *Tensor) Len() int { return Volume(t.Shape) }

func (t *Tensor) IsFloat() bool { return isFloat(t.Type) }

// known reports whether the elements of all tensors are there.
func known(all ...*Tensor) bool {
	return !slices.ContainsFunc(all, func(t *Tensor) bool { return t.F == nil && t.I == nil })
}

// shaped is a tensor that is known by its shape alone.
func shaped(t onnx.DataType, shape []int) ([]*Tensor, error) {
	if slices.ContainsFunc(shape, func(d int) bool { return d < 0 }) {
		return nil, fmt.Errorf("shape %v is negative", shape)
	}
	return []*Tensor{{Type: t, Shape: shape}}, nil
}

// with gives a tensor of the same elements under another shape.
func (t *Tensor) With(shape []int) *Tensor {
	return &Tensor{Type: t.Type, Shape: shape, F: t.F, I: t.I, single: t.single}
}

func Volume(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// alloc makes a zero tensor, refusing shapes that are negative or too large.
func Alloc(t onnx.DataType, shape []int) (*Tensor, error) {
	if err := fits(shape); err != nil {
		return nil, err
	}
	out := &Tensor{Type: t, Shape: append([]int{}, shape...)}
	n := Volume(shape)
	if isFloat(t) {
		out.F = make([]float64, n)
	} else {
		out.I = make([]int64, n)
	}
	return out, nil
}

// put copies n elements of x, which has the same kind of numbers, from place from to place at.
func (t *Tensor) Put(at int, x *Tensor, from, n int) {
	if x.IsFloat() {
		copy(t.F[at:at+n], x.F[from:from+n])
	} else {
		copy(t.I[at:at+n], x.I[from:from+n])
	}
}

func fits(shape []int) error {
	n := 1
	for _, d := range shape {
		if d < 0 || d > maxElements || n*max(d, 1) > maxElements {
			return fmt.Errorf("shape %v is negative or too large", shape)
		}
		n *= max(d, 1)
	}
	return nil
}

// strides of a row-major array.
func Strides(shape []int) []int {
	s := make([]int, len(shape))
	n := 1
	for i := len(shape) - 1; i >= 0; i-- {
		s[i] = n
		n *= shape[i]
	}
	return s
}

// Broadcast is the common shape of numpy broadcasting.
func Broadcast(shapes ...[]int) ([]int, error) {
	rank := 0
	for _, s := range shapes {
		rank = max(rank, len(s))
	}
	out := slices.Repeat([]int{1}, rank)
	for _, s := range shapes {
		off := rank - len(s)
		for i, d := range s {
			switch {
			case out[off+i] == 1:
				out[off+i] = d
			case d != 1 && d != out[off+i]:
				return nil, fmt.Errorf("shapes %v do not broadcast", shapes)
			}
		}
	}
	return out, nil
}

// broadcastStrides are the strides with which an array of shape s is read as if it had shape out.
func BroadcastStrides(s, out []int) []int {
	st := make([]int, len(out))
	own := Strides(s)
	off := len(out) - len(s)
	for i, d := range s {
		if d != 1 {
			st[off+i] = own[i]
		}
	}
	return st
}

// walk visits every row (run along the last axis) of an array of shape out, giving for each operand
// the index of the row's first element. Operands are described by their strides over out.
func Walk(out []int, st [][]int, row func(base []int, first int)) {
	if Volume(out) == 0 {
		return
	}
	base := make([]int, len(st))
	if len(out) == 0 {
		row(base, 0)
		return
	}
	last := len(out) - 1
	pos := make([]int, last)
	for first := 0; ; first += out[last] {
		row(base, first)
		i := last - 1
		for ; i >= 0; i-- {
			pos[i]++
			for k := range st {
				base[k] += st[k][i]
			}
			if pos[i] < out[i] {
				break
			}
			for k := range st {
				base[k] -= st[k][i] * out[i]
			}
			pos[i] = 0
		}
		if i < 0 {
			return
		}
	}
}

// Axis resolves a possibly negative axis.
func Axis(axis int64, rank int) (int, error) {
	if axis < 0 {
		axis += int64(rank)
	}
	if axis < 0 || axis >= int64(rank) {
		return 0, fmt.Errorf("axis %d outside rank %d", axis, rank)
	}
	return int(axis), nil
}

// around splits a shape into the number of elements before, on and after an axis.
func Around(shape []int, axis int) (outer, n, inner int) {
	return Volume(shape[:axis]), shape[axis], Volume(shape[axis+1:])
}

func AsInts(t *Tensor) ([]int, error) {
	if t == nil || t.IsFloat() {
		return nil, fmt.Errorf("integers expected")
	}
	out := make([]int, len(t.I))
	for i, v := range t.I {
		if v > math.MaxInt32 {
			v = math.MaxInt32 // "to the end" in slices
		}
		if v < math.MinInt32 {
			v = math.MinInt32
		}
		out[i] = int(v)
	}
	return out, nil
}

// Equal reports whether two tensors have the same type, shape and elements.
func (t *Tensor) Equal(u *Tensor) bool {
	return t == u || t.Type == u.Type && slices.Equal(t.Shape, u.Shape) && slices.Equal(t.F, u.F) &&
		slices.Equal(t.I, u.I)
}
