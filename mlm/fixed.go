package mlm

import (
	"fmt"
	"slices"

	"infill/mlm/onnx"
	"infill/mlm/onnxgrad"
)

// fixed are the sizes of rows that a file asks for, 0 for any.
type fixed struct{ rows, length int }

// mostFixed bounds them: they are numbers of a file, for which memory is taken.
const mostFixed = 1 << 16

// fixedSizes reads the sizes that the inputs state.
func fixedSizes(m *onnx.Model) (f fixed, err error) {
	masked := false
	for _, v := range m.Graph.Inputs {
		if !slices.Contains(onnxgrad.Inputs(), v.Name) || len(v.Shape) != 2 {
			continue
		}
		masked = masked || v.Name == "attention_mask"
		for i, size := range []*int{&f.rows, &f.length} {
			d := v.Shape[i]
			if d.Param != "" || d.Value <= 0 {
				continue
			}
			if *size != 0 && int64(*size) != d.Value || d.Value > mostFixed {
				return fixed{}, fmt.Errorf("%w: the inputs have rows of several or huge sizes, of %s %d; "+
					"export the model with dynamic axes", ErrNotMasked, v.Name, d.Value)
			}
			*size = int(d.Value)
		}
	}
	if f.length > 0 && !masked {
		return fixed{}, fmt.Errorf("%w: its rows have exactly %d tokens, and without the input "+
			"attention_mask nothing tells what fills them up; export the model with dynamic axes",
			ErrNotMasked, f.length)
	}
	return f, nil
}

// notes say what is done about the sizes.
func (f fixed) notes() (out []string) {
	if f.length > 0 {
		out = append(out, fmt.Sprintf("the file has rows of exactly %d tokens: shorter ones are padded",
			f.length))
	}
	if f.rows > 0 {
		out = append(out, fmt.Sprintf("the file has batches of exactly %d", f.rows))
	}
	return out
}

// noGradients says why there are none.
func (f fixed) noGradients() string {
	return "the graph has a fixed size; export it with dynamic axes, or use a sampler that needs no " +
		"gradient (gibbs)"
}

// freed is the model with inputs of any size: a graph may work for others than its inputs state,
// which turns out when it is derived. m itself states none, or is not changed.
func freed(m *onnx.Model) *onnx.Model {
	out, graph := *m, *m.Graph
	graph.Inputs, out.Graph = slices.Clone(graph.Inputs), &graph
	found := false
	for i, v := range graph.Inputs {
		if !slices.Contains(onnxgrad.Inputs(), v.Name) || len(v.Shape) != 2 {
			continue
		}
		free := *v
		free.Shape = slices.Clone(v.Shape)
		for k, d := range v.Shape {
			if d.Param == "" && d.Value >= 0 {
				free.Shape[k], found = onnx.Dim{Param: []string{"batch", "sequence"}[k]}, true
			}
		}
		graph.Inputs[i] = &free
	}
	if !found {
		return m
	}
	return &out
}

// sized is rows from to to of a batch in the sizes of the file: short rows are filled up with the
// token for it, which the mask hides, and missing ones repeat the first.
func (f fixed) sized(b *batch, from, to int, pad int64) *batch {
	part := &batch{key: b.key, rows: to - from}
	if f.length > 0 {
		part.length = f.length
	}
	if f.rows > 0 {
		part.rows = f.rows
	}
	n := part.rows * part.length
	part.ids, part.mask = slices.Repeat([]int64{pad}, n), make([]int64, n)
	part.types = make([]int64, n)
	for r := range part.rows {
		row := from
		if r < to-from {
			row += r
		}
		copy(part.ids[r*part.length:], b.ids[row*b.length:(row+1)*b.length])
		copy(part.mask[r*part.length:], b.mask[row*b.length:(row+1)*b.length])
	}
	return part
}
