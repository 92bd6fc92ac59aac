// Package export knows the graphs of exported models: what their inputs, weights and outputs are,
// and how a graph is given the form that the rest of the program takes. No function changes the
// model that it is given.
package export

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"infill/mlm/onnx"
	"infill/mlm/onnxgrad"
)

// ErrNotMasked: the graph is not a masked language model that can be used.
var ErrNotMasked = errors.New("not a masked language model")

// NoHead is the remedy for a model that returns the outputs of its layers.
const NoHead = "it has no head for masked words; export it for the task fill-mask"

// Exported is an exported model, or one that was derived from it.
type Exported struct{ *onnx.Model }

// Of gives access to what is known of a model.
func Of(m *onnx.Model) Exported { return Exported{m} }

// Masked is a masked language model with the interface that the rest of the program
// knows, and what the file says of it.
type Masked struct {
	Exported
	Notes      []string       // how its inputs and output are used that are unusual
	Inputs     []string       // to be fed, by their usual names
	Logits     string         // name of the output
	Ops        map[string]int // operators, how often each
	Vocab      int            // V, the number of logits, 0 if the file does not say
	Sizes      Sizes          // of rows
	Parameters int64
	Bytes      int64 // of file and external data
}

// Masked gives the model the interface that the rest of the program knows, other inputs the given
// numbers, and describes it, also if it is refused. Errors wrap ErrNotMasked.
func (m Exported) Masked(given map[string]float64) (*Masked, error) {
	adapted, notes := m.Adapted(given)
	out := &Masked{Exported: Exported{adapted}, Notes: notes, Ops: map[string]int{}}
	out.describe()
	err := out.check()
	for name := range given {
		if err == nil && !slices.ContainsFunc(m.Graph.Inputs, func(v *onnx.ValueInfo) bool {
			return v.Name == name && !slices.Contains(out.Inputs, name)
		}) {
			err = &InputError{name, true}
		}
	}
	if err == nil {
		out.Sizes, err = sizesOf(adapted)
		out.Notes = append(out.Notes, out.Sizes.notes()...)
	}
	return out, err
}

// describe collects what the file says of itself.
func (m *Masked) describe() {
	stored := map[string]bool{}
	m.Graph.Each(func(g *onnx.Graph) {
		for _, n := range g.Nodes {
			m.Ops[qualified(n)]++
		}
		for _, t := range g.Initializers {
			stored[t.Name] = true
			m.Bytes += t.ByteLen()
			if len(t.Dims) > 0 {
				m.Parameters += t.Len()
			}
		}
	})
	for _, v := range m.Graph.Inputs {
		if !stored[v.Name] {
			m.Inputs = append(m.Inputs, v.Name)
		}
	}
}

// check checks inputs and output and finds V.
func (m *Masked) check() error {
	if !slices.Contains(m.Inputs, "input_ids") {
		return fmt.Errorf("%w: no input named input_ids (inputs: %v); "+
			"export the model for masked language modelling", ErrNotMasked, m.Inputs)
	}
	for _, n := range m.Inputs {
		if !slices.Contains(onnxgrad.Inputs(), n) {
			return &InputError{Name: n}
		}
	}
	for _, v := range m.Graph.Inputs {
		if slices.Contains(m.Inputs, v.Name) && v.Type != onnx.Int64 {
			return fmt.Errorf("%w: input %s is %v, expected int64", ErrNotMasked, v.Name, v.Type)
		}
	}
	out := logits(m.Model)
	var names []string
	for _, v := range m.Graph.Outputs {
		names = append(names, v.Name)
	}
	bare := !slices.ContainsFunc(names,
		func(name string) bool { return !slices.Contains(headless, name) })
	switch {
	case bare:
		return fmt.Errorf("%w: its output is %s; %s", ErrNotMasked, strings.Join(names, " and "), NoHead)
	case out == nil:
		return fmt.Errorf("%w: no output named logits (outputs: %v); "+
			"export the model with its language-modelling head", ErrNotMasked, names)
	}
	m.Logits = out.Name
	if out.Type != onnx.Float {
		return fmt.Errorf("%w: output %s is %v, expected float32", ErrNotMasked, out.Name, out.Type)
	}
	if out.HasShape {
		if len(out.Shape) != 3 {
			return fmt.Errorf("%w: output %s has %d dimensions, expected [batch, length, vocabulary]",
				ErrNotMasked, out.Name, len(out.Shape))
		}
		if d := out.Shape[2]; d.Param == "" && d.Value > 0 {
			if d.Value > 1<<24 {
				return fmt.Errorf("%w: %d logits", ErrNotMasked, d.Value)
			}
			m.Vocab = int(d.Value)
		}
	}
	return nil
}
