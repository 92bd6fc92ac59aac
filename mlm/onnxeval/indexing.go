package onnxeval

import (
	"fmt"
	"math"
	"slices"
)

var indexing = Kernels{
	"Slice":    {1, slice},
	"Gather":   {2, gather},
	"GatherND": {2, gatherND},
	"Range":    {3, rangeOp},
}

func slice(c *Call) ([]*Tensor, error) {
	x := c.In[0]
	get := func(i int, name string) []int64 {
		if t := c.Arg(i); t != nil {
			return t.I
		}
		v, _ := c.Node.Ints(name)
		return v
	}
	starts, ends, axes, steps := get(1, "starts"), get(2, "ends"), get(3, "axes"), get(4, "steps")
	shape, st, from := append([]int{}, x.Shape...), Strides(x.Shape), 0
	own := Strides(x.Shape)
	for i := range starts {
		axis := i
		var err error
		if axes != nil {
			if axis, err = Axis(axes[i], len(shape)); err != nil {
				return nil, err
			}
		}
		step := int64(1)
		if steps != nil {
			step = steps[i]
		}
		d := int64(x.Shape[axis])
		a, b := starts[i], ends[i]
		if a < 0 {
			a += d
		}
		if b < 0 && b > -1<<62 {
			b += d
		}
		n := int64(0)
		switch {
		case step > 0:
			a, b = min(max(a, 0), d), min(max(b, 0), d)
			n = (b - a + step - 1) / step
		case step < 0:
			a, b = min(max(a, 0), d-1), min(max(b, -1), d-1)
			n = (a - b - step - 1) / -step
		default:
			return nil, fmt.Errorf("step 0")
		}
		if n <= 0 {
			n, a = 0, 0
		}
		shape[axis] = int(n)
		st[axis] = own[axis] * int(step)
		from += int(a) * own[axis]
	}
	return []*Tensor{Viewed(x, shape, st, from)}, nil
}

func gather(c *Call) ([]*Tensor, error) {
	x, idx := c.In[0], c.In[1]
	axis, err := Axis(c.Node.Int("axis", 0), len(x.Shape))
	if err != nil {
		return nil, err
	}
	outer, n, inner := Around(x.Shape, axis)
	shape := slices.Concat(x.Shape[:axis], idx.Shape, x.Shape[axis+1:])
	if !known(x, idx) {
		return shaped(x.Type, shape)
	}
	out, err := Alloc(x.Type, shape)
	if err != nil {
		return nil, err
	}
	at := 0
	for o := range outer {
		for _, i := range idx.I {
			if i < 0 {
				i += int64(n)
			}
			if i < 0 || i >= int64(n) {
				return nil, fmt.Errorf("index %d outside %d", i, n)
			}
			from := (o*n + int(i)) * inner
			out.Put(at, x, from, inner)
			at += inner
		}
	}
	return []*Tensor{out}, nil
}

func gatherND(c *Call) ([]*Tensor, error) {
	x, idx := c.In[0], c.In[1]
	bd := int(c.Node.Int("batch_dims", 0))
	q := len(idx.Shape)
	if q < 1 || bd < 0 || bd >= q {
		return nil, fmt.Errorf("indices of shape %v with %d batch dimensions", idx.Shape, bd)
	}
	k := idx.Shape[q-1]
	if bd+k > len(x.Shape) {
		return nil, fmt.Errorf("indices of shape %v into %v", idx.Shape, x.Shape)
	}
	shape := slices.Concat(idx.Shape[:q-1], x.Shape[bd+k:])
	if !known(x, idx) {
		return shaped(x.Type, shape)
	}
	out, err := Alloc(x.Type, shape)
	if err != nil {
		return nil, err
	}
	st := Strides(x.Shape)
	inner, batch := Volume(x.Shape[bd+k:]), Volume(idx.Shape[:bd])
	perBatch := Volume(idx.Shape[bd : q-1])
	block := Volume(x.Shape[bd:])
	for b := range batch {
		for j := range perBatch {
			row := b*perBatch + j
			from := b * block
			for d := range k {
				i := idx.I[row*k+d]
				if i < 0 {
					i += int64(x.Shape[bd+d])
				}
				if i < 0 || i >= int64(x.Shape[bd+d]) {
					return nil, fmt.Errorf("index %d outside %d", i, x.Shape[bd+d])
				}
				from += int(i) * st[bd+d]
			}
			out.Put(row*inner, x, from, inner)
		}
	}
	return []*Tensor{out}, nil
}

func rangeOp(c *Call) ([]*Tensor, error) {
	a, d := c.In[0], c.In[2]
	n, err := RangeLen(a, c.In[1], d)
	if err != nil {
		return nil, err
	}
	out, err := Alloc(a.Type, []int{n})
	for i := range n {
		if a.IsFloat() {
			out.F[i] = a.F[0] + float64(i)*d.F[0]
		} else {
			out.I[i] = a.I[0] + int64(i)*d.I[0]
		}
	}
	return one(out, err)
}

// RangeLen is how many numbers a Range from a on, d apart, before b has.
func RangeLen(a, b, d *Tensor) (int, error) {
	if !a.IsFloat() {
		return steps(a.I[0], b.I[0], d.I[0])
	}
	span := math.Ceil((b.F[0] - a.F[0]) / d.F[0])
	if d.F[0] == 0 || !(span <= maxElements) {
		return 0, fmt.Errorf("range has step 0 or is too long")
	}
	return int(max(span, 0)), nil
}

// steps is how many numbers there are from a on, d apart, before b. Distances may exceed int64.
func steps(a, b, d int64) (int, error) {
	far, stride := uint64(b)-uint64(a), uint64(d) // modulo 2⁶⁴, so they are right where b > a
	switch {
	case d == 0:
		return 0, fmt.Errorf("step 0")
	case d > 0 && a >= b || d < 0 && a <= b:
		return 0, nil
	case d < 0:
		far, stride = -far, -stride
	}
	n := (far-1)/stride + 1
	if n > maxElements {
		return 0, fmt.Errorf("range is too long")
	}
	return int(n), nil
}
