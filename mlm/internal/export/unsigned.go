package export

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"infill/mlm/onnx"
)

// integerProduct describes an operator on 8-bit integers by the places of its inputs, 0 where it
// has none of the kind.
type integerProduct struct {
	weights, zero int // the weights and their zero point
	activations   int // the zero point of what is multiplied with them
	// rounds: the operator scales a tensor by its largest element at run time, whatever
	// rows it holds.
	rounds bool
}

// quantised are the operators that models quantised to 8 bits compute with.
var quantised = map[string]integerProduct{
	"DynamicQuantizeLinear":               {rounds: true},
	"com.microsoft.DynamicQuantizeMatMul": {weights: 1, zero: 3, rounds: true},
	"MatMulInteger":                       {weights: 1, zero: 3, activations: 2},
	"com.microsoft.MatMulIntegerToFloat":  {weights: 1, zero: 5, activations: 4},
	"com.microsoft.QAttention":            {weights: 1, zero: 7, activations: 6},
	"QLinearMatMul":                       {weights: 3, zero: 5, activations: 2},
	"com.microsoft.QGemm":                 {weights: 3, zero: 5, activations: 2},
	"com.microsoft.MatMulNBits":           {},
}

// dequantised is what makes floats of stored integers. Between it and QuantizeLinear a product is
// written on floats, and the runtime makes one on integers of it.
var dequantised = integerProduct{weights: 0, zero: 2}

// form is how a node reads 8-bit weights; a zero point at 0 stands for not at all.
func form(n *onnx.Node) integerProduct {
	op := qualified(n)
	if op == "DequantizeLinear" {
		return dequantised
	}
	return quantised[op]
}

// UnsignedWeights gives m with 128 added to the stored signed weights of its 8-bit products and to
// their zero points. The products are the same. m is not changed.
//
// The runtime has a setting that does the same (session.x64quantprecision). Version 1.27 ends the
// process where a node has no zero point for its weights, and does nothing in branches.
func (m Exported) UnsignedWeights() (*onnx.Model, error) {
	u := turner{stored: map[string]*onnx.Tensor{}, names: map[*onnx.Tensor]string{}}
	out := m.Clone()
	g := out.Graph
	g.Each(func(g *onnx.Graph) {
		for _, t := range g.Initializers {
			u.stored[t.Name] = t
		}
		for _, n := range g.Nodes {
			if a := n.Attr("value"); n.Op == "Constant" && a != nil && a.T != nil && len(n.Outputs) > 0 {
				u.stored[n.Outputs[0]] = a.T
			}
		}
	})
	var err error
	g.Each(func(g *onnx.Graph) {
		for _, n := range g.Nodes {
			if nerr := u.node(n); nerr != nil {
				err = fmt.Errorf("weights of %v: %w", n, nerr)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	read := g.Reads()
	for _, v := range g.Inputs {
		read[v.Name]++
	}
	g.Initializers = slices.DeleteFunc(g.Initializers, func(t *onnx.Tensor) bool {
		return u.names[t] != "" && read[t.Name] == 0
	})
	g.Initializers = append(g.Initializers, u.made...)
	return out, nil
}

// MultipliesIntegers reports whether the graph has products of 8-bit integers.
func (m Exported) MultipliesIntegers() (found bool) {
	m.Graph.Each(func(g *onnx.Graph) {
		found = found || slices.ContainsFunc(g.Nodes,
			func(n *onnx.Node) bool { return form(n).zero != 0 })
	})
	return found
}

// turner makes each matrix unsigned once.
type turner struct {
	stored map[string]*onnx.Tensor
	names  map[*onnx.Tensor]string // of what was made of them
	made   []*onnx.Tensor
}

// node has n read unsigned weights if it multiplies with signed ones that are stored.
func (u *turner) node(n *onnx.Node) error {
	p := form(n)
	input := func(at int) *onnx.Tensor {
		if at >= len(n.Inputs) {
			return nil
		}
		return u.stored[n.Inputs[at]]
	}
	w, zero := input(p.weights), input(p.zero)
	if p.zero == 0 || w == nil || w.Type != onnx.Int8 {
		return nil
	}
	if a := input(p.activations); p.activations != 0 && a != nil && a.Type == onnx.Int8 {
		return nil // another kernel: both are signed
	}
	if zero == nil {
		if p.zero < len(n.Inputs) && n.Inputs[p.zero] != "" {
			return nil // computed in the graph
		}
		zero = onnx.NewTensor("zero", onnx.Int8, nil, []byte{0})
		if p == dequantised { // one for each scale
			scale := input(1)
			if scale == nil {
				return nil
			}
			zero = onnx.NewTensor("zero", onnx.Int8, scale.Dims, make([]byte, scale.Len()))
		}
	}
	for len(n.Inputs) <= p.zero {
		n.Inputs = append(n.Inputs, "")
	}
	var err error
	if n.Inputs[p.weights], err = u.unsigned(w); err == nil {
		n.Inputs[p.zero], err = u.unsigned(zero)
	}
	return err
}

// unsigned is the name of a tensor that is t + 128.
func (u *turner) unsigned(t *onnx.Tensor) (string, error) {
	if name := u.names[t]; name != "" {
		return name, nil
	}
	data, err := t.Bytes()
	if err != nil {
		return "", err
	}
	data = bytes.Clone(data)
	for i := range data {
		data[i] += 128
	}
	name := fmt.Sprintf("%s/unsigned/%d", t.Name, len(u.made))
	u.names[t] = name
	u.made = append(u.made, onnx.NewTensor(name, onnx.Uint8, t.Dims, data))
	return name, nil
}

// Alone reports whether rows must be evaluated alone: the model rounds by the range of all that is
// in a run.
func (m *Masked) Alone() bool {
	for op := range m.Ops {
		if quantised[op].rounds {
			return true
		}
	}
	return false
}

// NoDerivative says why a quantised model has no gradients, "" if it is none.
func (m *Masked) NoDerivative() string {
	var named []string
	for _, op := range slices.Sorted(maps.Keys(m.Ops)) {
		if _, ok := quantised[op]; ok {
			named = append(named, op)
		}
	}
	if len(named) == 0 {
		return ""
	}
	return "its products are on 8-bit integers (" + strings.Join(named, ", ") +
		"), which have no derivative; use the float32 model, or a sampler that needs no gradient (gibbs)"
}
