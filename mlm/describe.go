package mlm

import (
	"fmt"
	"slices"
	"strings"

	"infill/mlm/internal/export"
	"infill/mlm/onnx"
	"infill/mlm/onnxgrad"
)

// describe collects what the file says of itself.
func describe(name string, m *onnx.Model) Info {
	info := Info{File: name, Opset: m.Opset(""), Ops: map[string]int{}}
	info.Producer = m.ProducerName
	if m.ProducerVersion != "" {
		info.Producer += " " + m.ProducerVersion
	}
	stored := map[string]bool{}
	onnx.Each(m.Graph, func(g *onnx.Graph) {
		for _, n := range g.Nodes {
			info.Ops[export.Qualified(n)]++
		}
		for _, t := range g.Initializers {
			stored[t.Name] = true
			info.Bytes += t.ByteLen()
			if len(t.Dims) > 0 {
				info.Parameters += t.Len()
			}
		}
	})
	for _, v := range m.Graph.Inputs {
		if !stored[v.Name] {
			info.Inputs = append(info.Inputs, v.Name)
		}
	}
	return info
}

// noHead is the remedy for a model that returns the outputs of its layers.
const noHead = "it has no head for masked words; export it for the task fill-mask"

// inspect checks inputs and output and finds V.
func inspect(info *Info, m *onnx.Model) error {
	if !slices.Contains(info.Inputs, "input_ids") {
		return fmt.Errorf("%w: no input named input_ids (inputs: %v); "+
			"export the model for masked language modelling", errNotMasked, info.Inputs)
	}
	for _, n := range info.Inputs {
		if known := onnxgrad.Inputs(); !slices.Contains(known, n) {
			return fmt.Errorf("%w: cannot feed the input %q (known: %v)", errNotMasked, n, known)
		}
	}
	for _, v := range m.Graph.Inputs {
		if slices.Contains(info.Inputs, v.Name) && v.Type != onnx.Int64 {
			return fmt.Errorf("%w: input %s is %v, expected int64", errNotMasked, v.Name, v.Type)
		}
	}
	out := export.Logits(m)
	var names []string
	for _, v := range m.Graph.Outputs {
		names = append(names, v.Name)
	}
	bare := !slices.ContainsFunc(names,
		func(name string) bool { return !slices.Contains(export.Headless, name) })
	switch {
	case bare:
		return fmt.Errorf("%w: its output is %s; %s", errNotMasked, strings.Join(names, " and "), noHead)
	case out == nil:
		return fmt.Errorf("%w: no output named logits (outputs: %v); "+
			"export the model with its language-modelling head", errNotMasked, names)
	}
	if out.Type != onnx.Float {
		return fmt.Errorf("%w: output %s is %v, expected float32", errNotMasked, out.Name, out.Type)
	}
	if out.HasShape {
		if len(out.Shape) != 3 {
			return fmt.Errorf("%w: output %s has %d dimensions, expected [batch, length, vocabulary]",
				errNotMasked, out.Name, len(out.Shape))
		}
		if d := out.Shape[2]; d.Param == "" && d.Value > 0 {
			if d.Value > 1<<24 {
				return fmt.Errorf("%w: %d logits", errNotMasked, d.Value)
			}
			info.Vocab = int(d.Value)
		}
	}
	return nil
}
