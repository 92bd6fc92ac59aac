package onnxeval

import (
	"fmt"
	"slices"

	"infill/mlm/onnx"
)

var layout = Kernels{
	"ConstantOfShape": {1, constantOfShape},
	"Shape":           {1, shapeOf},
	"Size": {1, func(c *Call) ([]*Tensor, error) {
		return []*Tensor{NewInt([]int{}, []int64{int64(c.In[0].Len())})}, nil
	}},
	"Reshape":   {2, reshape},
	"Flatten":   {1, flatten},
	"Unsqueeze": {1, unsqueeze},
	"Squeeze":   {1, squeeze},
	"Transpose": {1, transpose},
	"Expand":    {2, expand},
	"Tile":      {2, tile},
	"Concat":    {1, concat},
	"Split":     {1, split},
}

func constantOfShape(c *Call) ([]*Tensor, error) {
	shape, err := AsInts(c.In[0])
	if err != nil {
		return nil, err
	}
	value := &Tensor{Type: onnx.Float, F: []float64{0}}
	if a := c.Node.Attr("value"); a != nil && a.T != nil {
		if value, err = FromONNX(a.T); err != nil {
			return nil, err
		}
	}
	out, err := Alloc(value.Type, shape)
	if err != nil {
		return nil, err
	}
	for i := range out.F {
		out.F[i] = value.F[0]
	}
	for i := range out.I {
		out.I[i] = value.I[0]
	}
	return []*Tensor{out}, nil
}

func shapeOf(c *Call) ([]*Tensor, error) {
	shape := c.In[0].Shape
	rank := int64(len(shape))
	clamp := func(v int64) int64 {
		if v < 0 {
			v += rank
		}
		return min(max(v, 0), rank)
	}
	start, end := clamp(c.Node.Int("start", 0)), clamp(c.Node.Int("end", rank))
	var v []int64
	for i := start; i < end; i++ {
		v = append(v, int64(shape[i]))
	}
	return []*Tensor{NewInt([]int{len(v)}, v)}, nil
}

func reshape(c *Call) ([]*Tensor, error) {
	x := c.In[0]
	want, err := AsInts(c.In[1])
	if err != nil {
		return nil, err
	}
	shape := append([]int{}, want...)
	free, known := -1, 1
	for i, d := range shape {
		switch {
		case d == 0 && c.Node.Int("allowzero", 0) == 0:
			if i >= len(x.Shape) {
				return nil, fmt.Errorf("shape %v copies a dimension that %v lacks", want, x.Shape)
			}
			shape[i] = x.Shape[i]
		case d == -1:
			if free >= 0 {
				return nil, fmt.Errorf("shape %v has two free dimensions", want)
			}
			free = i
			continue
		case d < 0:
			return nil, fmt.Errorf("shape %v", want)
		}
		known *= shape[i]
	}
	if free >= 0 && known > 0 {
		shape[free] = x.Len() / known
		known *= shape[free]
	}
	if known != x.Len() {
		return nil, fmt.Errorf("shape %v does not hold the elements of %v", want, x.Shape)
	}
	return []*Tensor{x.With(shape)}, nil
}

func flatten(c *Call) ([]*Tensor, error) {
	x := c.In[0]
	axis := int(c.Node.Int("axis", 1))
	if axis < 0 {
		axis += len(x.Shape)
	}
	if axis < 0 || axis > len(x.Shape) {
		return nil, fmt.Errorf("axis %d outside rank %d", axis, len(x.Shape))
	}
	return []*Tensor{x.With([]int{Volume(x.Shape[:axis]), Volume(x.Shape[axis:])})}, nil
}

// axes finds the axes of Squeeze, Unsqueeze and reductions: an attribute in older operator sets,
// then an input.
func (c *Call) axes() []int64 {
	if t := c.Arg(1); t != nil {
		return t.I
	}
	a, _ := c.Node.Ints("axes")
	return a
}

func unsqueeze(c *Call) ([]*Tensor, error) {
	x, axes := c.In[0], c.axes()
	rank := len(x.Shape) + len(axes)
	added := make([]bool, rank)
	for _, a := range axes {
		i, err := Axis(a, rank)
		if err != nil {
			return nil, err
		}
		if added[i] {
			return nil, fmt.Errorf("axis %d twice", a)
		}
		added[i] = true
	}
	shape, k := make([]int, rank), 0
	for i := range shape {
		shape[i] = 1
		if !added[i] {
			shape[i] = x.Shape[k]
			k++
		}
	}
	return []*Tensor{x.With(shape)}, nil
}

func squeeze(c *Call) ([]*Tensor, error) {
	x, axes := c.In[0], c.axes()
	drop := make([]bool, len(x.Shape))
	for _, a := range axes {
		i, err := Axis(a, len(x.Shape))
		if err != nil {
			return nil, err
		}
		if x.Shape[i] != 1 {
			return nil, fmt.Errorf("axis %d of %v is not 1", a, x.Shape)
		}
		drop[i] = true
	}
	shape := []int{}
	for i, d := range x.Shape {
		if !drop[i] && (len(axes) > 0 || d != 1) {
			shape = append(shape, d)
		}
	}
	return []*Tensor{x.With(shape)}, nil
}

func transpose(c *Call) ([]*Tensor, error) {
	x := c.In[0]
	p, ok := c.Node.Ints("perm")
	perm := make([]int, len(x.Shape))
	seen := make([]bool, len(perm))
	for i := range perm {
		perm[i] = len(perm) - 1 - i
		if ok {
			if len(p) != len(perm) || p[i] < 0 || p[i] >= int64(len(perm)) || seen[p[i]] {
				return nil, fmt.Errorf("permutation %v of rank %d", p, len(perm))
			}
			perm[i] = int(p[i])
			seen[p[i]] = true
		}
	}
	return []*Tensor{transposed(x, perm)}, nil
}

func transposed(x *Tensor, perm []int) *Tensor {
	own := Strides(x.Shape)
	shape, st := make([]int, len(perm)), make([]int, len(perm))
	for i, p := range perm {
		shape[i], st[i] = x.Shape[p], own[p]
	}
	return Viewed(x, shape, st, 0)
}

// viewed copies the elements that strides st over shape, starting at `from`, select of x.
func Viewed(x *Tensor, shape, st []int, from int) *Tensor {
	if !known(x) {
		return &Tensor{Type: x.Type, Shape: shape}
	}
	out, err := Alloc(x.Type, shape)
	if err != nil {
		panic(err)
	}
	n, step := 1, 0
	if k := len(shape); k > 0 {
		n, step = shape[k-1], st[k-1]
	}
	Walk(shape, [][]int{st}, func(base []int, first int) {
		at := base[0] + from
		for k := first; k < first+n; k++ {
			if x.IsFloat() {
				out.F[k] = x.F[at]
			} else {
				out.I[k] = x.I[at]
			}
			at += step
		}
	})
	return out
}

func expand(c *Call) ([]*Tensor, error) {
	want, err := AsInts(c.In[1])
	if err != nil {
		return nil, err
	}
	x := c.In[0]
	shape, err := Broadcast(x.Shape, want)
	if err != nil {
		return nil, err
	}
	if !known(x) {
		return shaped(x.Type, shape)
	}
	if err := fits(shape); err != nil {
		return nil, err
	}
	return []*Tensor{Viewed(x, shape, BroadcastStrides(x.Shape, shape), 0)}, nil
}

func tile(c *Call) ([]*Tensor, error) {
	x := c.In[0]
	times, err := AsInts(c.In[1])
	if err != nil || len(times) != len(x.Shape) {
		return nil, fmt.Errorf("repeats %v for shape %v", times, x.Shape)
	}
	full := append([]int{}, x.Shape...)
	for axis, k := range times {
		full[axis] *= k
	}
	if !known(x) {
		return shaped(x.Type, full)
	}
	if err := fits(full); err != nil {
		return nil, err
	}
	if slices.Contains(x.Shape, 0) { // nothing bounds the repeats of nothing
		return []*Tensor{Viewed(x, full, Strides(full), 0)}, nil
	}
	for axis, k := range times {
		parts := make([]*Tensor, k)
		for i := range parts {
			parts[i] = x
		}
		if k == 0 {
			return nil, fmt.Errorf("zero repeats")
		}
		if x, err = joined(parts, axis); err != nil {
			return nil, err
		}
	}
	return []*Tensor{x}, nil
}
