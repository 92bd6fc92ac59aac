package mlm

import (
	"context"
	"errors"
	"fmt"

	"infill/internal/ort"
	"infill/mlm/device"
	"infill/mlm/internal/cache"
	"infill/mlm/internal/export"
	"infill/mlm/internal/source"
	"infill/mlm/onnx"
	"infill/mlm/onnxgrad"
)

// derived runs the graph that onnxgrad makes of the model: one session, one
// copy of the weights, for energies, conditionals and gradients.
type derived struct {
	s       *ort.Session
	about   *cache.About
	facts   *facts
	bounded bounds
}

// newDerived loads the graph, from the cache or derived now. sum gives the hash of
// the model's files, which may still be being computed: a graph of the cache may go
// by a guess until the hash is known, not longer.
func newDerived(ctx context.Context, from source.Folder, x *export.Masked, info *facts, o options,
	sum func() (string, error)) (*derived, error) {
	c := o.shelf().For(ctx, from, x.Model, info.File, info.Bytes, o.identity())
	if c == nil {
		g, err := derive(from, x, o, nil)
		if err != nil {
			return nil, err
		}
		return openGraph(g, from, info, o)
	}
	if guess := c.Guess(); guess != "" {
		if g := c.Graph(guess); g != nil {
			d, err := openGraph(g, from, info, o)
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
	if g := c.Graph(model); g != nil {
		if d, err := openGraph(g, from, info, o); err == nil {
			info.fromCache = true
			c.Remember(model, g)
			return d, nil
		}
	}
	var unkept error
	g, err := derive(from, x, o, func(m *onnx.Model) (out *onnx.Model, data string, err error) {
		out, data, unkept = c.KeepWeights(model, m)
		return out, data, unkept
	})
	if unkept != nil {
		if !errors.Is(unkept, cache.ErrTooLarge) {
			info.Unkept = unkept.Error()
		}
		g, err = derive(from, x, o, nil)
	}
	if err != nil {
		return nil, err
	}
	d, err := openGraph(g, from, info, o)
	if err == nil { // what the runtime refuses is not worth keeping
		c.Keep(model, g)
		c.Remember(model, g)
	}
	return d, err
}

// shelf is the cache of graphs and weights, nil if there is none.
func (o *options) shelf() *cache.Shelf { return cache.Open(o.CacheDir, o.cacheLimits) }

// identity is what a derived graph depends on beside the model and the program.
func (o *options) identity() string {
	return fmt.Sprintf("device=%s precision=%v low-memory=%v loose=%v unshared=%v forward=%v "+
		"exact=%v inputs=%v", o.about.Identity, o.Precision, o.LowMemory, o.looseTable, o.unshared,
		o.Forward, o.stated, o.Inputs)
}

// derive makes the graph, ready for the runtime. keep is as in encoded.
func derive(from source.Folder, x *export.Masked, o options, keep keeper) (*cache.Graph, error) {
	var exact [][]int
	if o.Precision == Int8 {
		var err error
		if exact, err = o.columns(); err != nil {
			return nil, err
		}
	}
	g, a, err := differentiate(x.Freed(), onnxgrad.Options{Int8: o.Precision == Int8, Exact: exact,
		Unshared: o.unshared, ForwardOnly: o.Forward, Half: o.Precision == Float16, Unpadded: true})
	if err != nil {
		return nil, err
	}
	out := &cache.Graph{About: *a}
	out.About.NewHead = x.NewHead()
	o, _ = o.sized(a.Weights, a.Kept)
	late := o.LowMemory && !a.Gradient
	if !late && keep != nil && from.Dir == "" && o.on().Name() == device.CPU {
		g.Model = export.Of(g.Model).Float32() // they are mapped as products read them
	} else {
		g.Model, out.About.Late = export.Of(g.Model).Widened(late)
		out.About.Late = out.About.Late && late
	}
	out.Onnx, out.About.Data, err = encoded(from, g.Model, o, keep)
	return out, err
}

// openGraph hands the graph to the runtime.
func openGraph(g *cache.Graph, from source.Folder, info *facts, o options) (*derived, error) {
	a := &g.About
	o, limit := o.sized(a.Weights, a.Kept)
	o.unfused, o.late = !a.Gradient && o.about.Apart == 0, a.Late
	_, dir := o.shelf().Weights(g, from)
	s, err := session(dir, g.Onnx, a.Inputs, a.Outputs, o)
	if err != nil {
		return nil, err
	}
	info.addGraph(a)
	return &derived{s: s, about: a, facts: info, bounded: limit}, nil
}

func (d *derived) bounds() bounds { return d.bounded }

func (d *derived) close() error { return d.s.Close() }

func (d *derived) run(ctx context.Context, b *batch) error {
	rows, group, v := int64(b.rows), int64(b.group), int64(d.about.Vocabulary)
	var f feeds
	defer f.close()
	c := &b.call
	c.Rows, c.Length, c.IDs, c.Counted = b.rows, b.length, b.ids, d.about.Counted
	c.Positions, c.Targets, c.Blanks, c.Group = b.positions, b.targets, b.blanks, b.group
	c.Conditional, c.Gradient = b.kind == conditionalRow, b.kind == gradientGroup
	in := make([]*ort.Tensor, 0, len(d.about.Inputs))
	for _, name := range d.about.Inputs {
		data, shape := c.Input(name)
		switch data := data.(type) {
		case []int64:
			in = append(in, feed(&f, data, shape...))
		case []bool:
			in = append(in, feed(&f, data, shape...))
		default:
			in = append(in, b.sequences(&f, []string{name}, d.facts.firstPosition)...)
		}
	}
	if c.Distinct > 0 {
		b.distinct = c.Distinct
	}
	// An output that was not asked for is a single zero.
	conditional, gradient := make([]float32, 1), make([]float32, 1)
	cshape, gshape := []int64{1, 1}, []int64{1, 1, 1}
	switch b.kind {
	case conditionalRow:
		conditional, cshape = b.wide, []int64{rows, v}
	case gradientGroup:
		if !d.about.Gradient {
			return ErrNoGradient
		}
		gradient, gshape = b.wide, []int64{rows / group, group, v}
	}
	out := []*ort.Tensor{feed(&f, b.logProb, rows), feed(&f, conditional, cshape...)}
	if d.about.Gradient {
		out = append(out, feed(&f, gradient, gshape...))
	}
	if n := d.about.State; n > 0 {
		out = append(out, feed(&f, b.state, rows, int64(n)))
	}
	return f.run(ctx, d.s, in, out)
}
