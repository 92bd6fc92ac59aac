package target

import (
	"cmp"
	"context"
	"math"

	"infill/infill/internal/recall"
	"infill/infill/internal/space"
	"infill/infill/request"
	"infill/internal/gate"
	"infill/mlm"
	"infill/samplers"
)

// Target is the energy of one sentence as the samplers see it: the states of a space, with U the
// pseudo-log-likelihood of all filled tokens and the terms that Options add, divided by the
// temperature; −∞ for states that are not valid. Conditionals come from the model alone. So do
// gradients, but for models of the same vocabulary among the terms.
//
// The gradient of a coordinate is the one-hot extension's, summed over tied
// blanks. For a list, whose phrases may have different lengths, the entry of a
// phrase as long as the current one is the sum of its tokens' entries; for
// others it is the current phrase's entry plus the difference of what the model
// says of the two phrases with every blank masked. Samplers with an acceptance
// step are exact whatever the gradient is.
type Target struct {
	*space.Space
	Model *recall.Recall
	Temp  float64
	Mode  mlm.GradientMode
	// per coordinate with a list: log f of each phrase, all blanks masked, in nats; see masked
	prior [][]float64

	Extra   *Extra      // terms besides the model's energy; nil: none
	asModel bool        // terms judge texts that are spelt so
	limit   int         // pieces that the model takes; 0: any number
	lengths [][]float64 // by group and tokens: what they add to scores; nil: nothing
	Asked   int         // sequences that samplers have asked the model about
	first   *Target     // of those that chains of the same lengths were divided among; nil: this one
	buckets []*bucket   // scratch of one call
	byKey   map[*space.Layout]*bucket
}

var (
	_ samplers.Gradienter     = (*Target)(nil)
	_ samplers.RowConditioner = (*Target)(nil)
)

// A bucket holds the states of a call that have the same layout.
type bucket struct {
	lay     *space.Layout
	who     []int     // number of the state, or of the request
	states  [][]int32 // tokens
	blanks  []int     // mask asked about, for conditionals
	logProb [][]float32
	wide    [][]float32
}

// New is the energy of the states of a space. limit is the number of pieces that the model
// takes. lengths are what numbers of tokens of a group add to scores, nil where nothing.
func New(m *recall.Recall, sp *space.Space, opt *request.Options, e *Extra, limit int,
	lengths [][]float64) *Target {
	m = m.Keeping(sp.TokenSets())
	return &Target{Space: sp, Model: m, Temp: opt.Sampling.Temperature, Mode: opt.Sampling.Gradient,
		limit: limit, lengths: lengths,
		Extra: e, asModel: opt.Results.AsModel, byKey: map[*space.Layout]*bucket{}}
}

// LengthPart is Parts.Length of fillings whose groups have n tokens each.
func (t *Target) LengthPart(n []int) (sum float64) {
	for g := range t.lengths {
		sum += t.PartOf(g, n[g])
	}
	return sum
}

// PartOf is what a group of n tokens adds to a score.
func (t *Target) PartOf(g, n int) float64 {
	if t.lengths == nil || t.lengths[g] == nil {
		return 0
	}
	return t.lengths[g][n]
}

// Twin is the target for use at the same time.
func (t *Target) Twin() *Target {
	out := t.with(t.Model)
	out.Space, out.first = t.Another(), t.Together()
	return out
}

// Together is the target that scores the states of t and of its twins, so that a row of several is
// evaluated once.
func (t *Target) Together() *Target { return cmp.Or(t.first, t) }

// with is the target with another model and scratch of its own. It shares the caches of the space.
func (t *Target) with(m *recall.Recall) *Target {
	out := *t
	out.Model, out.Asked, out.buckets, out.byKey = m, 0, nil, map[*space.Layout]*bucket{}
	return &out
}

// Domain implements samplers.Target.
func (t *Target) Domain() *samplers.Domain { return t.Product }

// Energy implements samplers.Target.
func (t *Target) Energy(ctx context.Context, x [][]int32, u []float64) error {
	if err := t.energy(ctx, t.Model.Counting(), x, u); err != nil {
		return err
	}
	t.count()
	return nil
}

// Evaluate is Energy of states whose rows samplers did not ask for.
func (t *Target) Evaluate(ctx context.Context, x [][]int32, u []float64) error {
	return t.energy(ctx, t.Model, x, u)
}

// energy is Energy of a model that counts rows or does not.
func (t *Target) energy(ctx context.Context, m *recall.Recall, x [][]int32, u []float64) error {
	t.sort(x, u, 0)
	err := t.each(ctx, func(ctx context.Context, b *bucket) error {
		if err := m.LogProb(ctx, b.lay.Sentence, b.states, b.logProb); err != nil {
			return err
		}
		for j, k := range b.who {
			u[k] = total(b.logProb[j]) / t.Temp
		}
		return nil
	})
	if err != nil {
		return err
	}
	return t.AddTerms(ctx, x, u, t.Temp)
}

// EnergyGrad implements samplers.Gradienter.
func (t *Target) EnergyGrad(ctx context.Context, x [][]int32, u []float64, grad [][]float64) error {
	m := t.Model.Counting()
	t.sort(x, u, t.Model.VocabSize())
	for k := range u {
		if math.IsInf(u[k], -1) { // rejected before anybody looks at it
			clear(grad[k])
		}
	}
	t.countEach(func(b *bucket, j int) int {
		return t.Model.NoteGradient(b.lay.Sentence, b.states[j], t.Mode)
	})
	err := t.each(ctx, func(ctx context.Context, b *bucket) error {
		err := m.Gradient(ctx, b.lay.Sentence, b.states, t.Mode, b.logProb, b.wide)
		if err == nil {
			err = t.addGuides(ctx, b)
		}
		if err != nil {
			return err
		}
		for j, k := range b.who {
			u[k] = total(b.logProb[j]) / t.Temp
			for i := range t.Coords {
				t.gradient(grad[k][t.Product.GradOffset(i):], i, x[k][i], b.lay, b.wide[j])
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return t.AddTerms(ctx, x, u, t.Temp)
}

// gradient fills the entries of coordinate i, at category cur, from a row of
// mask × vocabulary values.
func (t *Target) gradient(dst []float64, i int, cur int32, l *space.Layout, wide []float32) {
	c := &t.Coords[i]
	vocab := t.Model.VocabSize()
	dst = dst[:c.K()]
	if c.Slot < 0 {
		clear(dst)
	}
	for n, b := range t.Groups[c.Group].Blanks {
		if c.Slot >= 0 {
			row := wide[(l.Start[b]+c.Slot)*vocab:][:vocab]
			if n == 0 {
				for v, id := range c.IDs {
					dst[v] = float64(row[id])
				}
				continue
			}
			for v, id := range c.IDs {
				dst[v] += float64(row[id])
			}
			continue
		}
		for v, p := range c.Phrases {
			if len(p.IDs) != l.Lengths[c.Group] {
				continue
			}
			for s, id := range p.IDs {
				dst[v] += float64(wide[(l.Start[b]+s)*vocab+int(id)])
			}
		}
	}
	if c.Slot < 0 && len(c.Lengths) > 1 {
		for v, p := range c.Phrases {
			if len(p.IDs) != l.Lengths[c.Group] {
				dst[v] = dst[cur] + t.prior[i][v] - t.prior[i][cur]
			}
		}
	}
	if t.Temp == 1 {
		return // the common case, and a division for every token of the vocabulary
	}
	for v := range dst {
		dst[v] /= t.Temp
	}
}

// sort puts the valid states into buckets, with room for what the model
// returns, width values a mask, and sets the energy of the others.
func (t *Target) sort(x [][]int32, u []float64, width int) {
	t.reset()
	for k := range x {
		if !t.Valid(x[k]) {
			u[k] = math.Inf(-1)
			continue
		}
		u[k] = 0
		l := t.LayoutOf(x[k], nil)
		b := t.bucket(l)
		b.who = append(b.who, k)
		b.states = append(b.states, t.Tokens(nil, l, x[k], -1, -1))
	}
	for _, b := range t.buckets {
		m := len(b.lay.Sentence.Blanks)
		b.logProb = resized(b.logProb, len(b.states), m)
		b.wide = resized(b.wide, len(b.states), m*width)
	}
}

// countEach adds the rows that each state in the buckets takes, or each request.
func (t *Target) countEach(rows func(b *bucket, j int) int) {
	for _, b := range t.buckets {
		for j := range b.states {
			t.Asked += rows(b, j)
		}
	}
}

// count adds the rows of energies.
func (t *Target) count() {
	t.countEach(func(b *bucket, j int) int { return t.Model.NoteRows(b.lay.Sentence, b.states[j]) })
}

// countMasked adds the rows of conditionals: of each state one masked token is asked about.
func (t *Target) countMasked() {
	t.countEach(func(b *bucket, j int) int {
		return t.Model.NoteRow(b.lay.Sentence, b.states[j], b.blanks[j])
	})
}

func (t *Target) reset() {
	for _, b := range t.buckets {
		b.who, b.states, b.blanks = b.who[:0], b.states[:0], b.blanks[:0]
	}
	t.buckets = t.buckets[:0]
}

// bucket is the one of a layout, made when first needed.
func (t *Target) bucket(l *space.Layout) *bucket {
	b := t.byKey[l]
	if b == nil {
		b = &bucket{lay: l}
		t.byKey[l] = b
	}
	if len(b.who) == 0 {
		t.buckets = append(t.buckets, b)
	}
	return b
}

// each calls f for every bucket, all at once so that they share batches.
func (t *Target) each(ctx context.Context, f func(context.Context, *bucket) error) error {
	return gate.Each(ctx, len(t.buckets), func(ctx context.Context, i int) error {
		return f(ctx, t.buckets[i])
	})
}

func total(logProb []float32) float64 {
	var s float64
	for _, l := range logProb {
		s += float64(l)
	}
	return s
}

// resized returns n rows of the given width, reusing those there are.
func resized[T any](s [][]T, n, width int) [][]T {
	s = s[:cap(s)]
	for len(s) < n {
		s = append(s, nil)
	}
	s = s[:n]
	for k := range s {
		if cap(s[k]) < width {
			s[k] = make([]T, width)
		}
		s[k] = s[k][:width]
	}
	return s
}
