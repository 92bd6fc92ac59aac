package mlm

import (
	"context"
	"errors"

	"infill/internal/ort"
	"infill/mlm/onnx"
	"infill/mlm/onnxgrad"
)

// derived runs the graph that onnxgrad makes of the model: one session, one
// copy of the weights, for energies, conditionals and gradients.
type derived struct {
	s        *ort.Session
	inputs   []string
	vocab    int
	gradient bool
	first    int64 // position of the first token
	tokens   int   // bound on rows × length of a batch
}

// newDerived derives and loads. When only the backward pass is impossible the
// graph is derived without it; info then says why.
func newDerived(from folder, m *onnx.Model, info *Info, o Options) (*derived, error) {
	g, err := onnxgrad.Derive(m, onnxgrad.Options{Int8: o.Precision == Int8})
	if err != nil && !errors.Is(err, onnxgrad.ErrInputs) && !errors.Is(err, onnxgrad.ErrOutputs) {
		info.NoGradients = err.Error()
		g, err = onnxgrad.Derive(m, onnxgrad.Options{ForwardOnly: true})
	}
	if err != nil {
		return nil, err
	}
	info.Vocab, info.Hidden, info.Embedding, info.Tied = g.Vocabulary, g.Dimension, g.Embedding, g.Tied
	info.Gradients = g.Gradient
	outputs := []string{onnxgrad.OutLogProb, onnxgrad.OutCondition}
	if g.Gradient {
		outputs = append(outputs, onnxgrad.OutGradient)
	}
	o = o.sized(weightBytes(g.Model), g)
	s, err := session(from, g.Model, g.Inputs, outputs, o)
	if err != nil {
		return nil, err
	}
	return &derived{s: s, inputs: g.Inputs, vocab: g.Vocabulary, gradient: g.Gradient, first: info.firstPosition, tokens: o.BatchTokens}, nil
}

func (d *derived) batchTokens() int { return d.tokens }

func (d *derived) close() error { return d.s.Close() }

func (d *derived) run(ctx context.Context, b *batch) error {
	rows, group, v := int64(b.rows), int64(b.group), int64(d.vocab)
	var f feeds
	defer f.close()
	in := make([]*ort.Tensor, 0, len(d.inputs))
	for _, name := range d.inputs {
		switch name {
		case onnxgrad.InPositions:
			in = append(in, feed(&f, b.positions, rows))
		case onnxgrad.InTargets:
			in = append(in, feed(&f, b.targets, rows))
		case onnxgrad.InBlanks:
			in = append(in, feed(&f, b.blanks, rows/group, group))
		case onnxgrad.InConditional:
			in = append(in, feed(&f, []bool{b.kind == conditionalRow}))
		case onnxgrad.InGradient:
			in = append(in, feed(&f, []bool{b.kind == gradientGroup}))
		default:
			in = append(in, b.sequences(&f, []string{name}, d.first)...)
		}
	}
	// An output that was not asked for is a single zero.
	conditional, gradient := make([]float32, 1), make([]float32, 1)
	cshape, gshape := []int64{1, 1}, []int64{1, 1, 1}
	switch b.kind {
	case conditionalRow:
		conditional, cshape = b.wide, []int64{rows, v}
	case gradientGroup:
		if !d.gradient {
			return ErrNoGradient
		}
		gradient, gshape = b.wide, []int64{rows / group, group, v}
	}
	out := []*ort.Tensor{feed(&f, b.logProb, rows), feed(&f, conditional, cshape...)}
	if d.gradient {
		out = append(out, feed(&f, gradient, gshape...))
	}
	return f.run(ctx, d.s, in, out)
}
