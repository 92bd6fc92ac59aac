package onnxgrad

import (
	"fmt"

	"infill/mlm/onnxeval"
)

var indexing = table{
	"GatherElements":  {Least: 2, Run: gatherElements},
	"Trilu":           {Least: 1, Run: trilu},
	"Pad":             {Least: 2, Run: pad},
	"ScatterElements": {Least: 3, Run: scatterElements},
}

func gatherElements(c *call) ([]*dense, error) {
	x, idx := c.In[0], c.In[1]
	axis, err := onnxeval.Axis(c.Node.Int("axis", 0), len(x.Shape))
	if err != nil {
		return nil, err
	}
	if len(idx.Shape) != len(x.Shape) {
		return nil, fmt.Errorf("indices of shape %v into %v", idx.Shape, x.Shape)
	}
	out, err := onnxeval.Alloc(x.Type, idx.Shape)
	if err != nil {
		return nil, err
	}
	err = elementsAt(x.Shape, idx, axis, func(k, from int) { out.Put(k, x, from, 1) })
	return one(out, err)
}

// scatterElements puts or adds updates to where indices point along an axis.
func scatterElements(c *call) ([]*dense, error) {
	x, idx, up := c.In[0], c.Arg(1), c.Arg(2)
	how := c.Node.Str("reduction", "none")
	if idx == nil || up == nil || !x.IsFloat() || !up.IsFloat() || len(up.F) != len(idx.I) ||
		len(idx.Shape) != len(x.Shape) || how != "none" && how != "add" {
		return nil, fmt.Errorf("this form is not supported")
	}
	axis, err := onnxeval.Axis(c.Node.Int("axis", 0), len(x.Shape))
	if err != nil {
		return nil, err
	}
	out := x.With(x.Shape)
	out.F = append([]float64{}, x.F...)
	err = elementsAt(x.Shape, idx, axis, func(k, to int) {
		if how == "add" {
			out.F[to] += up.F[k]
		} else {
			out.F[to] = up.F[k]
		}
	})
	return one(out, err)
}

// elementsAt visits the elements of idx in order, giving the flat place in an array of the given
// shape to which each points: its own place, but for the axis, where the index stands.
func elementsAt(shape []int, idx *dense, axis int, each func(k, at int)) error {
	st := onnxeval.Strides(shape)
	pos := make([]int, len(idx.Shape))
	for k, i := range idx.I {
		if i < 0 {
			i += int64(shape[axis])
		}
		at := 0
		for d, p := range pos {
			if d == axis {
				p = int(i)
			}
			if p < 0 || p >= shape[d] {
				return fmt.Errorf("index %d outside %v", i, shape)
			}
			at += p * st[d]
		}
		each(k, at)
		for d := len(pos) - 1; d >= 0; d-- {
			if pos[d]++; pos[d] < idx.Shape[d] {
				break
			}
			pos[d] = 0
		}
	}
	return nil
}

func trilu(c *call) ([]*dense, error) {
	x := c.In[0]
	r := len(x.Shape)
	if r < 2 {
		return nil, fmt.Errorf("rank %d", r)
	}
	k := int64(0)
	if t := c.Arg(1); t != nil {
		k = t.I[0]
	}
	upper := c.Node.Int("upper", 1) != 0
	out, err := onnxeval.Alloc(x.Type, x.Shape)
	if err != nil {
		return nil, err
	}
	rows, cols := x.Shape[r-2], x.Shape[r-1]
	for i := range x.Len() {
		row, col := int64(i/cols%rows), int64(i%cols)
		if upper && col >= row+k || !upper && col <= row+k {
			out.Put(i, x, i, 1)
		}
	}
	return []*dense{out}, nil
}
