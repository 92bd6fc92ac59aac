package mlm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"infill/internal/ort"
	"infill/mlm/onnx"
	"infill/mlm/onnxgrad"
)

// Prompts evaluates rows in which some positions hold vectors in place of words, and the
// gradient with respect to these. With rows of the table of word embeddings E it gives, of
//
//	log f(target | the row)
//
// all derivatives by the words of a prompt: by one-hot vectors E_v·∂/∂e_j. It is a second
// graph of the same model, with weights of its own that the runtime repacks. It is safe for
// concurrent use.
type Prompts struct {
	m      *Model
	s      *ort.Session
	inputs []string
	dim    int
	table  []float32 // [V', D]
	padded bool      // rows of different lengths may share a run
}

// promptTokens bounds rows × length of a run. It is fixed, because the company of a row may
// change its last bits.
const promptTokens = 1024

// A PromptRow is a sequence of token ids, special tokens included. What IDs holds at Blanks,
// the ascending positions of the prompt's vectors, is ignored. Ask is the position of the
// mask token whose prediction of Target is asked for.
type PromptRow struct {
	IDs    []int32
	Blanks []int
	Ask    int
	Target int32
}

// Prompts derives the graph for prompts and opens it, also of a model that was opened with
// Options.Forward. Errors wrap ErrClosed, ErrNoGradient, with the reason, where the model has no
// derivative, or one of internal/ort or mlm/onnx.
func (m *Model) Prompts(ctx context.Context) (*Prompts, error) {
	if err := given(ctx); err != nil {
		return nil, err
	}
	if m.sched == nil || m.sched.isClosed() {
		return nil, ErrClosed
	}
	if !m.info.Gradients && m.info.NoGradients != notWanted {
		return nil, fmt.Errorf("%w: %s", ErrNoGradient, m.info.NoGradients)
	}
	return withStored(ctx, m.from, m.options, func(from folder) (*Prompts, string, error) {
		p, hashed, err := m.prompts(ctx, from)
		if err != nil || from.kept == nil { // nothing compares it
			return p, "", err
		}
		model, err := hashFiles(ctx, from.fs, hashed)
		if err != nil {
			return nil, "", errors.Join(err, p.Close())
		}
		return p, model, nil
	})
}

// prompts opens the graph with the weights of a folder. hashed are the files that it is made of.
func (m *Model) prompts(ctx context.Context, from folder) (_ *Prompts, hashed []string, _ error) {
	parsed, done, err := from.parse(m.info.File)
	defer done()
	if err != nil {
		return nil, nil, err
	}
	hashed = append([]string{m.info.File}, externalFiles(m.info.File, parsed)...)
	parsed = onnxgrad.Widen(parsed)
	g, err := onnxgrad.Derive(parsed, onnxgrad.Options{Prompt: true})
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrNoGradient, err)
	}
	p := &Prompts{m: m, inputs: g.Inputs, dim: g.Dimension,
		padded: slices.Contains(g.Inputs, "attention_mask")}
	if p.table, err = wordTable(parsed, g); err != nil {
		return nil, nil, err
	}
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	data, err := encoded(from, g.Model, m.options)
	if err != nil {
		return nil, nil, err
	}
	outputs := []string{onnxgrad.OutLogProb, onnxgrad.OutCondition, onnxgrad.OutGradient}
	p.s, err = session(from, data, g.Inputs, outputs, m.options)
	if err != nil {
		return nil, nil, err
	}
	return p, hashed, nil
}

// wordTable reads the table of word embeddings.
func wordTable(m *onnx.Model, g *onnxgrad.Derived) ([]float32, error) {
	for _, t := range m.Graph.Initializers {
		if t.Name != g.Embedding || len(t.Dims) != 2 || t.Dims[1] != int64(g.Dimension) {
			continue
		}
		return floats(t)
	}
	return nil, fmt.Errorf("%w: the table of word embeddings is not a weight of the file",
		ErrNoGradient)
}

// floats reads a matrix row by row, so that no wider copy of it is made.
func floats(t *onnx.Tensor) ([]float32, error) {
	data, err := t.Open()
	if err != nil {
		return nil, err
	}
	defer data.Close() //nolint:errcheck // opened for reading
	out := make([]float32, 0, t.Len())
	row := make([]byte, t.Dims[1]*int64(t.Type.Size()))
	for r := range t.Dims[0] {
		if err := data.Read(row, r*int64(len(row))); err != nil {
			return nil, err
		}
		wide, err := onnx.NewTensor(t.Name, t.Type, t.Dims[1:], row).Float64s()
		if err != nil {
			return nil, err
		}
		for _, v := range wide {
			out = append(out, float32(v))
		}
	}
	return out, nil
}

// Close frees the graph. The model stays open.
func (p *Prompts) Close() error {
	if p.s == nil {
		return nil
	}
	return p.s.Close()
}

// Dimension is D, the length of a vector.
func (p *Prompts) Dimension() int { return p.dim }

// Embedding is E_v, the D numbers of token v, or nil where the model has no such token. The caller
// must not change it.
func (p *Prompts) Embedding(v int32) []float32 {
	if v < 0 || p.dim == 0 || int(v) >= len(p.table)/p.dim {
		return nil
	}
	return p.table[int(v)*p.dim:][:p.dim:p.dim]
}

// Gradient sets logProb[r], in nats, to log f(Target | row r with the prompt at its Blanks), and
// grad[r] to its gradient with respect to the prompt. prompt has D numbers for each of the m
// blanks that every row has, and grad[r] as many. The same rows in the same order give the same
// bits. Another order or company of a row may change the last ones.
func (p *Prompts) Gradient(ctx context.Context, rows []PromptRow, prompt, logProb []float32,
	grad [][]float32) error {
	if len(rows) > 0 {
		if err := room("grad", grad, len(rows), len(rows[0].Blanks)*p.dim); err != nil {
			return err
		}
	}
	return p.each(ctx, rows, prompt, logProb, grad)
}

// LogProb is Gradient without the gradient.
func (p *Prompts) LogProb(ctx context.Context, rows []PromptRow, prompt, logProb []float32) error {
	return p.each(ctx, rows, prompt, logProb, nil)
}

// each checks the rows and runs them. grad is nil if no gradient is wanted.
func (p *Prompts) each(ctx context.Context, rows []PromptRow, prompt, logProb []float32,
	grad [][]float32) error {
	switch {
	case p.s == nil:
		return ErrClosed
	case len(rows) == 0:
		return nil
	}
	m := len(rows[0].Blanks)
	if len(prompt) != m*p.dim || len(logProb) != len(rows) {
		return fmt.Errorf("%w: a prompt of %d numbers for %d blanks of %d, and room for %d of %d rows",
			ErrSentence, len(prompt), m, p.dim, len(logProb), len(rows))
	}
	for r := range rows {
		if err := p.check(&rows[r], r, m); err != nil {
			return err
		}
	}
	parts := p.parts(rows)
	errs := make([]error, len(parts))
	var all sync.WaitGroup
	for i, part := range parts {
		all.Go(func() {
			if errs[i] = p.m.sched.Take(ctx); errs[i] != nil {
				return
			}
			defer p.m.sched.Give()
			errs[i] = p.run(ctx, rows, part, prompt, logProb, grad)
		})
	}
	all.Wait()
	return closed(errors.Join(errs...))
}

func (p *Prompts) check(row *PromptRow, r, m int) error {
	s := &Sentence{IDs: row.IDs, Blanks: row.Blanks}
	if err := p.m.check(s, nil, nil); err != nil {
		return fmt.Errorf("row %d: %w", r, err)
	}
	if len(row.Blanks) != m || row.Ask < 0 || row.Ask >= len(row.IDs) ||
		slices.Contains(row.Blanks, row.Ask) || row.Target < 0 || int(row.Target) >= p.m.info.Vocab {
		return fmt.Errorf("%w: row %d has blanks %v of %d, asks at %d of %d pieces for id %d",
			ErrSentence, r, row.Blanks, m, row.Ask, len(row.IDs), row.Target)
	}
	return nil
}

// parts cuts the rows, by length, into runs.
func (p *Prompts) parts(rows []PromptRow) [][]int {
	order := make([]int, len(rows))
	for r := range order {
		order[r] = r
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(len(rows[a].IDs), len(rows[b].IDs))
	})
	var parts [][]int
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && (to+1-from)*len(rows[order[to]].IDs) <= promptTokens &&
			(p.padded || len(rows[order[to]].IDs) == len(rows[order[from]].IDs)) {
			to++
		}
		parts = append(parts, order[from:to])
		from = to
	}
	return parts
}

// run evaluates some of the rows.
func (p *Prompts) run(ctx context.Context, rows []PromptRow, part []int, prompt, logProb []float32,
	grad [][]float32) error {
	n, m := len(part), len(rows[part[0]].Blanks)
	length := len(rows[part[n-1]].IDs)
	b := batch{key: key{length: length, group: 1}, rows: n}
	b.ids, b.mask, b.types = make([]int64, n*length), make([]int64, n*length),
		make([]int64, n*length)
	prompts := make([]float32, 0, n*m*p.dim)
	gradient, shape := make([]float32, 1), []int64{1, 1, 1} // not asked for
	if grad != nil {
		gradient, shape = make([]float32, n*m*p.dim), []int64{int64(n), int64(m), int64(p.dim)}
	}
	for j, r := range part {
		row := &rows[r]
		for at := range length {
			b.ids[j*length+at] = int64(max(0, p.m.tok.PadID()))
			if at < len(row.IDs) {
				b.ids[j*length+at], b.mask[j*length+at] = int64(row.IDs[at]), 1
			}
		}
		// Exports may tell positions by ids, which those of the blanks must not change.
		for _, at := range append(row.Blanks[:m:m], row.Ask) {
			b.ids[j*length+at] = int64(p.m.info.MaskID)
		}
		b.positions, b.targets = append(b.positions, int64(row.Ask)),
			append(b.targets, int64(row.Target))
		for _, at := range row.Blanks {
			b.blanks = append(b.blanks, int64(at))
		}
		prompts = append(prompts, prompt...)
	}
	var f feeds
	defer f.close()
	in := make([]*ort.Tensor, 0, len(p.inputs))
	for _, name := range p.inputs {
		switch name {
		case onnxgrad.InPositions:
			in = append(in, feed(&f, b.positions, int64(n)))
		case onnxgrad.InTargets:
			in = append(in, feed(&f, b.targets, int64(n)))
		case onnxgrad.InBlanks:
			in = append(in, feed(&f, b.blanks, int64(n), int64(m)))
		case onnxgrad.InPrompt:
			in = append(in, feed(&f, prompts, int64(n), int64(m), int64(p.dim)))
		case onnxgrad.InConditional:
			in = append(in, feed(&f, []bool{false}))
		case onnxgrad.InGradient:
			in = append(in, feed(&f, []bool{grad != nil}))
		default:
			in = append(in, b.sequences(&f, []string{name}, p.m.info.firstPosition)...)
		}
	}
	found := make([]float32, n)
	out := []*ort.Tensor{feed(&f, found, int64(n)), feed(&f, make([]float32, 1), 1, 1),
		feed(&f, gradient, shape...)}
	if err := f.run(ctx, p.s, in, out); err != nil {
		return err
	}
	for j, r := range part {
		logProb[r] = found[j]
		if grad == nil {
			continue
		}
		copy(grad[r], gradient[j*m*p.dim:(j+1)*m*p.dim])
	}
	return nil
}
