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
	counted  []int64 // tokens by which the graph tells positions apart
	first    int64   // position of the first token
	tokens   int     // bound on rows × length of a batch
	together int     // and of all batches under way, 0 for none
}

// newDerived loads the graph, from the cache or derived now. sum gives the hash of
// the model's files, which may still be being computed: a graph of the cache may go
// by a guess until the hash is known, not longer.
func newDerived(from folder, m *onnx.Model, info *Info, o Options, sum func() (string, error)) (*derived, error) {
	c := newCache(from, m, info, o)
	if c == nil {
		g, err := derive(from, m, o)
		if err != nil {
			return nil, err
		}
		return g.open(from, info, o)
	}
	if guess := c.guess(); guess != "" {
		if g := c.graph(guess); g != nil {
			d, err := g.open(from, info, o)
			real, serr := sum()
			if err == nil && serr == nil && real == guess {
				info.fromCache = true
				return d, nil
			}
			if err == nil {
				err = d.close()
			}
			if serr != nil {
				return nil, errors.Join(serr, err)
			}
		}
	}
	model, err := sum()
	if err != nil {
		return nil, err
	}
	if g := c.graph(model); g != nil {
		if d, err := g.open(from, info, o); err == nil {
			info.fromCache = true
			c.remember(model)
			return d, nil
		}
	}
	g, err := derive(from, m, o)
	if err != nil {
		return nil, err
	}
	d, err := g.open(from, info, o)
	if err == nil { // what the runtime refuses is not worth keeping
		c.keep(model, g)
		c.remember(model)
	}
	return d, err
}

// derive makes the graph. When only the backward pass is impossible it is made
// without; about then says why.
func derive(from folder, m *onnx.Model, o Options) (*graph, error) {
	noGradients := ""
	g, err := onnxgrad.Derive(m, onnxgrad.Options{Int8: o.Precision == Int8, Unshared: o.unshared})
	if err != nil && !errors.Is(err, onnxgrad.ErrInputs) && !errors.Is(err, onnxgrad.ErrOutputs) {
		noGradients = err.Error()
		g, err = onnxgrad.Derive(m, onnxgrad.Options{ForwardOnly: true, Unshared: o.unshared})
	}
	if err != nil {
		return nil, err
	}
	out := &graph{about: about{Inputs: g.Inputs, Vocabulary: g.Vocabulary, Dimension: g.Dimension, Embedding: g.Embedding, Tied: g.Tied,
		Gradient: g.Gradient, Counted: g.Counted, NoGradients: noGradients, Kept: g.KeptPerToken(usualLength), Weights: weightBytes(g.Model)}}
	out.onnx, err = encoded(from, g.Model, o.sized(out.about.Weights, out.about.Kept))
	return out, err
}

// open hands the graph to the runtime.
func (g *graph) open(from folder, info *Info, o Options) (*derived, error) {
	a := &g.about
	o = o.sized(a.Weights, a.Kept)
	s, err := session(from, g.onnx, a.Inputs, a.outputs(), o)
	if err != nil {
		return nil, err
	}
	a.tell(info)
	info.precision = o.Precision
	return &derived{s: s, inputs: a.Inputs, vocab: a.Vocabulary, gradient: a.Gradient, counted: a.Counted, first: info.firstPosition,
		tokens: o.BatchTokens, together: o.tokensTogether}, nil
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
		case onnxgrad.InFirst: // before InNumbers
			b.alike.Find(b.length, d.counted, b.ids) // mask, types and position_ids depend on the place alone
			b.distinct = len(b.alike.First)
			in = append(in, feed(&f, b.alike.First, int64(b.distinct)))
		case onnxgrad.InNumbers:
			in = append(in, feed(&f, b.alike.Numbers, rows, int64(b.length)))
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
