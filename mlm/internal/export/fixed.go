package export

import (
	"fmt"
	"slices"

	"infill/mlm/onnx"
	"infill/mlm/onnxgrad"
)

// Sizes are the sizes of rows that a file asks for, 0 for any.
type Sizes struct{ Rows, Length int }

// mostFixed bounds them: they are numbers of a file, for which memory is taken.
const mostFixed = 1 << 16

// sizesOf reads the sizes that the inputs state.
func sizesOf(m *onnx.Model) (f Sizes, err error) {
	masked := false
	for _, v := range m.Graph.Inputs {
		if !slices.Contains(onnxgrad.Inputs(), v.Name) || len(v.Shape) != 2 {
			continue
		}
		masked = masked || v.Name == "attention_mask"
		for i, size := range []*int{&f.Rows, &f.Length} {
			d := v.Shape[i]
			if d.Param != "" || d.Value <= 0 {
				continue
			}
			if *size != 0 && int64(*size) != d.Value || d.Value > mostFixed {
				return Sizes{}, fmt.Errorf("%w: the inputs have rows of several or huge sizes, of %s %d; "+
					"export the model with dynamic axes", ErrNotMasked, v.Name, d.Value)
			}
			*size = int(d.Value)
		}
	}
	if f.Length > 0 && !masked {
		return Sizes{}, fmt.Errorf("%w: its rows have exactly %d tokens, and without the input "+
			"attention_mask nothing tells what fills them up; export the model with dynamic axes",
			ErrNotMasked, f.Length)
	}
	return f, nil
}

// notes say what is done about the sizes.
func (f Sizes) notes() (out []string) {
	if f.Length > 0 {
		out = append(out, fmt.Sprintf("the file has rows of exactly %d tokens: shorter ones are padded",
			f.Length))
	}
	if f.Rows > 0 {
		out = append(out, fmt.Sprintf("the file has batches of exactly %d", f.Rows))
	}
	return out
}

// NoGradients says why there are none.
func (f Sizes) NoGradients() string {
	return "the graph has a fixed size; export it with dynamic axes, or use a sampler that needs no " +
		"gradient (gibbs)"
}

// Freed is the model with inputs of any size: a graph may work for others than its inputs state,
// which turns out when it is derived. It is the model itself if it states none.
func (m *Masked) Freed() *onnx.Model {
	out, found := m.Clone(), false
	for _, v := range out.Graph.Inputs {
		if !slices.Contains(onnxgrad.Inputs(), v.Name) || len(v.Shape) != 2 {
			continue
		}
		for k, d := range v.Shape {
			if d.Param == "" && d.Value >= 0 {
				v.Shape[k], found = onnx.Dim{Param: []string{"batch", "sequence"}[k]}, true
			}
		}
	}
	if !found {
		return m.Model
	}
	return out
}
