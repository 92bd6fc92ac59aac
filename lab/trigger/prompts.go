package trigger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"

	binding "github.com/yalue/onnxruntime_go"

	"infill/lab/internal/fanout"
	"infill/mlm"
	"infill/mlm/onnx"
	"infill/mlm/onnxgrad"
)

// ErrPrompt is a row that does not fit, or a graph that was closed.
var ErrPrompt = errors.New("not such a prompt")

// Prompts evaluates rows in which some positions hold vectors in place of words, and the
// gradient with respect to these. With rows of the table of word embeddings E it gives, of
//
//	log f(target | the row)
//
// all derivatives by the words of a prompt: by one-hot vectors E_v·∂/∂e_j. It is a second
// graph of the same model, with weights of its own. It is safe for concurrent use.
type Prompts struct {
	m      *mlm.Model
	s      *binding.DynamicAdvancedSession
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

// OpenPrompts derives the graph for prompts from the files of an open model, and opens it. Errors
// wrap mlm.ErrNoGradient, with the reason, where the model has no derivative.
func OpenPrompts(ctx context.Context, files fs.FS, m *mlm.Model) (*Prompts, error) {
	parsed, err := onnx.Load(files, m.Info().File)
	if err != nil {
		return nil, err
	}
	g, err := onnxgrad.Derive(onnxgrad.Widen(parsed), onnxgrad.Options{Prompt: true})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", mlm.ErrNoGradient, err)
	}
	p := &Prompts{m: m, inputs: g.Inputs, dim: g.Dimension,
		padded: slices.Contains(g.Inputs, "attention_mask")}
	if p.table, err = wordTable(g); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	data, err := g.Model.Marshal()
	if err != nil {
		return nil, err
	}
	options, err := binding.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	defer options.Destroy() //nolint:errcheck // nothing depends on it
	if err := errors.Join(options.SetIntraOpNumThreads(1), options.SetMemPattern(false),
		options.SetGraphOptimizationLevel(binding.GraphOptimizationLevelEnableExtended)); err != nil {
		return nil, err
	}
	p.s, err = binding.NewDynamicAdvancedSessionWithONNXData(data, g.Inputs,
		g.Outputs[:3], options)
	return p, err
}

// wordTable reads the table of word embeddings.
func wordTable(g *onnxgrad.Derived) ([]float32, error) {
	for _, t := range g.Model.Graph.Initializers {
		if t.Name != g.Embedding || len(t.Dims) != 2 || t.Dims[1] != int64(g.Dimension) {
			continue
		}
		wide, err := t.Float64s()
		if err != nil {
			return nil, err
		}
		out := make([]float32, len(wide))
		for i, v := range wide {
			out[i] = float32(v)
		}
		return out, nil
	}
	return nil, fmt.Errorf("%w: the table of word embeddings is not a weight of the file",
		mlm.ErrNoGradient)
}

// Close frees the graph. The model stays open.
func (p *Prompts) Close() error {
	if p.s == nil {
		return nil
	}
	s := p.s
	p.s = nil
	return s.Destroy()
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
// bits. Another order or company of a row may change the last ones. Errors wrap ErrPrompt for what
// does not fit.
func (p *Prompts) Gradient(ctx context.Context, rows []PromptRow, prompt, logProb []float32,
	grad [][]float32) error {
	if len(grad) != len(rows) {
		return fmt.Errorf("%w: room for the gradients of %d of %d rows", ErrPrompt, len(grad), len(rows))
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
		return fmt.Errorf("%w: it was closed", ErrPrompt)
	case len(rows) == 0:
		return nil
	}
	m := len(rows[0].Blanks)
	if len(prompt) != m*p.dim || len(logProb) != len(rows) {
		return fmt.Errorf("%w: a prompt of %d numbers for %d blanks of %d, and room for %d of %d rows",
			ErrPrompt, len(prompt), m, p.dim, len(logProb), len(rows))
	}
	for r := range rows {
		if err := p.check(&rows[r], r, m); err != nil {
			return err
		}
		if grad != nil && len(grad[r]) != len(prompt) {
			return fmt.Errorf("%w: row %d has room for a gradient of %d numbers, %d are needed",
				ErrPrompt, r, len(grad[r]), len(prompt))
		}
	}
	parts := p.parts(rows)
	return fanout.Each(runtime.GOMAXPROCS(0), len(parts), func(i int) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return p.run(rows, parts[i], prompt, logProb, grad)
	})
}

func (p *Prompts) check(row *PromptRow, r, m int) error {
	vocab, length := int32(p.m.VocabSize()), len(row.IDs)
	bad := len(row.Blanks) != m || m == 0 || row.Ask < 0 || row.Ask >= length ||
		slices.Contains(row.Blanks, row.Ask) || row.Target < 0 || row.Target >= vocab ||
		length > p.m.MaxLength() || !slices.IsSorted(row.Blanks) ||
		slices.ContainsFunc(row.IDs, func(id int32) bool { return id < 0 || id >= vocab }) ||
		slices.ContainsFunc(row.Blanks, func(at int) bool { return at < 0 || at >= length })
	if bad {
		return fmt.Errorf("%w: row %d has blanks %v of %d, asks at %d of %d pieces for id %d", ErrPrompt,
			r, row.Blanks, m, row.Ask, length, row.Target)
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
