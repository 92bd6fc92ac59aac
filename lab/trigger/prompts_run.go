package trigger

import (
	"errors"
	"fmt"

	binding "github.com/yalue/onnxruntime_go"

	"infill/mlm/onnxgrad"
)

// feeds are the inputs of a run, freed together.
type feeds struct {
	all []binding.Value
	err error
}

func feed[T binding.TensorData](f *feeds, data []T, shape ...int64) {
	t, err := binding.NewTensor(binding.NewShape(shape...), data)
	f.err = errors.Join(f.err, err)
	if err == nil {
		f.all = append(f.all, t)
	}
}

func (f *feeds) scalar(v bool) {
	t, err := binding.NewScalar(v)
	f.err = errors.Join(f.err, err)
	if err == nil {
		f.all = append(f.all, t)
	}
}

func (f *feeds) close() {
	for _, t := range f.all {
		_ = t.Destroy()
	}
}

// run evaluates some of the rows.
func (p *Prompts) run(rows []PromptRow, part []int, prompt, logProb []float32,
	grad [][]float32) error {
	n, m, dim := int64(len(part)), int64(len(rows[part[0]].Blanks)), int64(p.dim)
	f := p.feeds(rows, part, prompt, grad != nil)
	defer f.close()
	if f.err != nil {
		return f.err
	}
	out := make([]binding.Value, 3)
	if err := p.s.Run(f.all, out); err != nil {
		return err
	}
	found, ok := out[0].(*binding.Tensor[float32])
	gradient, also := out[2].(*binding.Tensor[float32])
	defer func() {
		for _, v := range out {
			_ = v.Destroy()
		}
	}()
	if !ok || !also || int64(len(found.GetData())) != n ||
		grad != nil && int64(len(gradient.GetData())) != n*m*dim {
		return fmt.Errorf("%w: the graph gave other outputs", ErrPrompt)
	}
	for j, r := range part {
		logProb[r] = found.GetData()[j]
		if grad != nil {
			copy(grad[r], gradient.GetData()[int64(j)*m*dim:])
		}
	}
	return nil
}

// feeds are the inputs of the graph for some rows, padded to the longest, the last.
func (p *Prompts) feeds(rows []PromptRow, part []int, prompt []float32, gradient bool) *feeds {
	n := len(part)
	m, length := len(rows[part[0]].Blanks), len(rows[part[n-1]].IDs)
	ids, mask := make([]int64, n*length), make([]int64, n*length)
	var asked, targets, blanks []int64
	var prompts []float32
	for j, r := range part {
		row := &rows[r]
		for at := range length {
			ids[j*length+at] = int64(max(0, p.m.Tokenizer().PadID()))
			if at < len(row.IDs) {
				ids[j*length+at], mask[j*length+at] = int64(row.IDs[at]), 1
			}
		}
		// Exports may tell positions by ids, which those of the blanks must not change.
		for _, at := range append(row.Blanks[:m:m], row.Ask) {
			ids[j*length+at] = int64(p.m.Tokenizer().MaskID())
		}
		asked, targets = append(asked, int64(row.Ask)), append(targets, int64(row.Target))
		for _, at := range row.Blanks {
			blanks = append(blanks, int64(at))
		}
		prompts = append(prompts, prompt...)
	}
	f := &feeds{}
	all := []int64{int64(n), int64(length)}
	call := &onnxgrad.Call{Rows: n, Length: length, Positions: asked, Targets: targets,
		Blanks: blanks, Group: m, Prompt: prompts, Gradient: gradient}
	for _, name := range p.inputs {
		switch name {
		case "input_ids":
			feed(f, ids, all...)
		case "attention_mask":
			feed(f, mask, all...)
		case "token_type_ids":
			feed(f, make([]int64, n*length), all...)
		default:
			data, shape := call.Input(name)
			switch data := data.(type) {
			case []int64:
				feed(f, data, shape...)
			case []float32:
				feed(f, data, shape...)
			case []bool:
				f.scalar(data[0])
			default:
				f.err = errors.Join(f.err, fmt.Errorf("%w: the model has an input %q", ErrPrompt, name))
			}
		}
	}
	return f
}
