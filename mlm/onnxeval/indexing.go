package onnxeval

import "fmt"

var indexing = map[string]kernel{
	"Slice":           {1, slice},
	"Gather":          {2, gather},
	"GatherND":        {2, gatherND},
	"GatherElements":  {2, gatherElements},
	"Range":           {3, rangeOp},
	"Trilu":           {1, trilu},
	"Pad":             {2, pad},
	"ScatterElements": {3, scatterElements},
}

func slice(c *call) ([]*Tensor, error) {
	x := c.in[0]
	get := func(i int, name string) []int64 {
		if t := c.arg(i); t != nil {
			return t.I
		}
		v, _ := c.n.Ints(name)
		return v
	}
	starts, ends, axes, steps := get(1, "starts"), get(2, "ends"), get(3, "axes"), get(4, "steps")
	shape, st, from := append([]int{}, x.Shape...), strides(x.Shape), 0
	own := strides(x.Shape)
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
	return []*Tensor{viewed(x, shape, st, from)}, nil
}

func gather(c *call) ([]*Tensor, error) {
	x, idx := c.in[0], c.in[1]
	axis, err := Axis(c.n.Int("axis", 0), len(x.Shape))
	if err != nil {
		return nil, err
	}
	outer, n, inner := around(x.Shape, axis)
	shape := append(append(append([]int{}, x.Shape[:axis]...), idx.Shape...), x.Shape[axis+1:]...)
	out, err := alloc(x.Type, shape)
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
			out.put(at, x, from, inner)
			at += inner
		}
	}
	return []*Tensor{out}, nil
}

func gatherND(c *call) ([]*Tensor, error) {
	x, idx := c.in[0], c.in[1]
	bd := int(c.n.Int("batch_dims", 0))
	q := len(idx.Shape)
	if q < 1 || bd < 0 || bd >= q {
		return nil, fmt.Errorf("indices of shape %v with %d batch dimensions", idx.Shape, bd)
	}
	k := idx.Shape[q-1]
	if bd+k > len(x.Shape) {
		return nil, fmt.Errorf("indices of shape %v into %v", idx.Shape, x.Shape)
	}
	shape := append(append([]int{}, idx.Shape[:q-1]...), x.Shape[bd+k:]...)
	out, err := alloc(x.Type, shape)
	if err != nil {
		return nil, err
	}
	st := strides(x.Shape)
	inner, batch := volume(x.Shape[bd+k:]), volume(idx.Shape[:bd])
	perBatch := volume(idx.Shape[bd : q-1])
	block := volume(x.Shape[bd:])
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
			out.put(row*inner, x, from, inner)
		}
	}
	return []*Tensor{out}, nil
}

func gatherElements(c *call) ([]*Tensor, error) {
	x, idx := c.in[0], c.in[1]
	axis, err := Axis(c.n.Int("axis", 0), len(x.Shape))
	if err != nil {
		return nil, err
	}
	if len(idx.Shape) != len(x.Shape) {
		return nil, fmt.Errorf("indices of shape %v into %v", idx.Shape, x.Shape)
	}
	out, err := alloc(x.Type, idx.Shape)
	if err != nil {
		return nil, err
	}
	err = elementsAt(x.Shape, idx, axis, func(k, from int) { out.put(k, x, from, 1) })
	return one(out, err)
}

// scatterElements puts or adds updates to where indices point along an axis.
func scatterElements(c *call) ([]*Tensor, error) {
	x, idx, up := c.in[0], c.arg(1), c.arg(2)
	how := c.n.Str("reduction", "none")
	if idx == nil || up == nil || !x.float() || !up.float() || len(up.F) != len(idx.I) ||
		len(idx.Shape) != len(x.Shape) || how != "none" && how != "add" {
		return nil, fmt.Errorf("this form is not supported")
	}
	axis, err := Axis(c.n.Int("axis", 0), len(x.Shape))
	if err != nil {
		return nil, err
	}
	out := x.with(x.Shape)
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
func elementsAt(shape []int, idx *Tensor, axis int, each func(k, at int)) error {
	st := strides(shape)
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

func rangeOp(c *call) ([]*Tensor, error) {
	a, b, d := c.in[0], c.in[1], c.in[2]
	if a.float() {
		if d.F[0] == 0 {
			return nil, fmt.Errorf("step 0")
		}
		span := (b.F[0] - a.F[0]) / d.F[0]
		if !(span < maxElements) {
			return nil, fmt.Errorf("range is too long")
		}
		var v []float64
		for i := 0; float64(i) < span; i++ {
			v = append(v, a.F[0]+float64(i)*d.F[0])
		}
		return []*Tensor{{Type: a.Type, Shape: []int{len(v)}, F: v}}, nil
	}
	n, err := steps(a.I[0], b.I[0], d.I[0])
	if err != nil {
		return nil, err
	}
	v := make([]int64, n)
	for i := range v {
		v[i] = a.I[0] + int64(i)*d.I[0]
	}
	return []*Tensor{{Type: a.Type, Shape: []int{len(v)}, I: v}}, nil
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

func trilu(c *call) ([]*Tensor, error) {
	x := c.in[0]
	r := len(x.Shape)
	if r < 2 {
		return nil, fmt.Errorf("rank %d", r)
	}
	k := int64(0)
	if t := c.arg(1); t != nil {
		k = t.I[0]
	}
	upper := c.n.Int("upper", 1) != 0
	out, err := alloc(x.Type, x.Shape)
	if err != nil {
		return nil, err
	}
	rows, cols := x.Shape[r-2], x.Shape[r-1]
	for i := range x.Len() {
		row, col := int64(i/cols%rows), int64(i%cols)
		if upper && col >= row+k || !upper && col <= row+k {
			out.put(i, x, i, 1)
		}
	}
	return []*Tensor{out}, nil
}
