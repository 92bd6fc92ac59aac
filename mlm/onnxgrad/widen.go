package onnxgrad

import (
	"encoding/binary"
	"math"
	"slices"

	"infill/mlm/onnx"
)

// Widen gives the model with computation in float32 where the file computes in float16 or bfloat16:
// stored weights stay as they are and are cast once, which the runtime does when it loads the
// graph. Casts to the narrow types become casts to float32, constants and outputs are float32. The
// result is the exact function of the file's constants, without the rounding at every step that the
// file asks for. Weights are shared with m, which is returned itself if it computes in no narrow
// type.
func Widen(m *onnx.Model) *onnx.Model {
	w := &widener{used: map[string]bool{}, wide: map[string]string{}}
	if !w.look(m.Graph) {
		return m
	}
	out := m.Clone()
	w.graph(out.Graph)
	return out
}

func narrow(t onnx.DataType) bool { return t == onnx.Float16 || t == onnx.BFloat16 }

type widener struct {
	used map[string]bool   // names of values
	wide map[string]string // by the name of a narrow weight, that of the weight cast
}

// look collects names, and reports whether anything but a widening cast works on a narrow type.
func (w *widener) look(g *onnx.Graph) bool {
	found := slices.ContainsFunc(g.Outputs, func(o *onnx.ValueInfo) bool { return narrow(o.Type) })
	half := map[string]bool{}
	for _, v := range g.Inputs {
		w.used[v.Name] = true
	}
	for _, t := range g.Initializers {
		w.used[t.Name] = true
		half[t.Name] = narrow(t.Type)
	}
	for _, n := range g.Nodes {
		for _, o := range n.Outputs {
			w.used[o] = true
		}
		for _, a := range n.Attrs {
			found = found || a.T != nil && narrow(a.T.Type) || n.Op == "Cast" && a.Name == "to" &&
				narrow(onnx.DataType(a.I))
			if a.G != nil {
				found = w.look(a.G) || found
			}
		}
		if n.Op != "Cast" {
			n.Uses(func(in string) { found = found || half[in] })
		}
	}
	return found
}

// fresh makes a name for a weight that has been cast.
func (w *widener) fresh(name string) string {
	name += "/float32"
	for w.used[name] {
		name += "'"
	}
	w.used[name] = true
	return name
}

func (w *widener) graph(g *onnx.Graph) {
	var casts []*onnx.Node
	for _, t := range g.Initializers {
		if !narrow(t.Type) {
			continue
		}
		to := w.fresh(t.Name)
		w.wide[t.Name] = to
		casts = append(casts, &onnx.Node{Name: to, Op: "Cast", Inputs: []string{t.Name},
			Outputs: []string{to}, Attrs: []*onnx.Attribute{onnx.Attr("to", onnx.Float)}})
	}
	for _, n := range g.Nodes {
		for i, in := range n.Inputs {
			if to, ok := w.wide[in]; ok {
				n.Inputs[i] = to
			}
		}
		for _, a := range n.Attrs {
			switch {
			case a.G != nil:
				w.graph(a.G)
			case a.T != nil && narrow(a.T.Type):
				a.T = widened(a.T)
			case n.Op == "Cast" && a.Name == "to" && narrow(onnx.DataType(a.I)):
				a.I = int64(onnx.Float)
			}
		}
	}
	g.Nodes = append(casts, g.Nodes...)
	g.ValueInfo = slices.DeleteFunc(g.ValueInfo,
		func(v *onnx.ValueInfo) bool { return narrow(v.Type) })
	for _, v := range g.Outputs {
		if narrow(v.Type) {
			v.Type = onnx.Float
		}
		if to, ok := w.wide[v.Name]; ok { // a branch that gives a weight
			v.Name = to
		}
	}
}

// widened is a constant in float32. Constants in nodes are small. One that cannot be read stays,
// and is refused where it is used.
func widened(t *onnx.Tensor) *onnx.Tensor {
	v, err := t.Float64s()
	if err != nil {
		return t
	}
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(x)))
	}
	return onnx.NewTensor(t.Name, onnx.Float, t.Dims, b)
}
