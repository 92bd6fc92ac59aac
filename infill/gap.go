package infill

import (
	"context"
	"slices"

	"infill/infill/internal/recall"
	"infill/infill/lengths"
	"infill/infill/text"
	"infill/mlm"
)

// A gapReader says how likely the lengths of the gaps of a template are.
type gapReader struct {
	t      *text.Template
	model  *mlm.Model // in float32
	shares *lengths.Shares
	limit  int // pieces that a row sees
	rows   int // that were evaluated
}

func (e *Engine) newGapReader(ctx context.Context, t *text.Template, opt *Options,
	perToken bool) (*gapReader, error) {
	m, err := e.model.Float32(ctx)
	if err != nil {
		return nil, err
	}
	r := &gapReader{t: t, model: m, limit: opt.Search.Context}
	if most := m.MaxLength(); most > 0 {
		r.limit = min(r.limit, most)
	}
	if perToken { // scores say nothing of lengths: the text is not asked
		r.shares = lengths.Constant()
		return r, nil
	}
	r.shares, err = e.shares()
	return r, err
}

// read is log P of each length of a group in a range, the other groups having these lengths. Tied
// blanks have the mean of what is said of each.
func (r *gapReader) read(ctx context.Context, g int, in lengths.Range, others []int) ([]float64,
	error) {
	out := make([]float64, in.Most-in.Least+1)
	blanks := r.t.Groups[g].Blanks
	for _, b := range blanks {
		logP, rows, err := r.shares.Of(ctx, r.model, func(masks int) (*mlm.Sentence, int) {
			n := slices.Clone(others)
			n[g] = masks
			s, start := r.t.Stretch(n)
			return recall.Around(s, start[b], masks, r.limit)
		}, in)
		if err != nil {
			return nil, err
		}
		r.rows += rows
		for i, v := range logP {
			out[i] += v / float64(len(blanks))
		}
	}
	return out, nil
}

// readGaps finds how likely the open lengths of a template are. Each gap is read with the others
// at one piece, and where there are several again with the others at their likeliest lengths.
func (e *Engine) readGaps(ctx context.Context, t *text.Template, lists [][]text.Phrase,
	opt *Options) (*openLengths, error) {
	o, groups := &openLengths{t: t, opt: opt, combined: 1}, t.Groups
	at := make([]int, len(groups))
	for g := range groups {
		at[g] = groups[g].Min
		for i, phrase := range lists[g] {
			if i == 0 || len(phrase.IDs) < at[g] {
				at[g] = len(phrase.IDs)
			}
		}
		if lists[g] == nil && groups[g].Max > groups[g].Min {
			o.groups = append(o.groups, g)
		}
	}
	if len(o.groups) == 0 {
		return o, nil
	}
	o.perToken = opt.Results.Score == ScorePLL
	r, err := e.newGapReader(ctx, t, opt, o.perToken)
	if err != nil {
		return nil, err
	}
	o.shares = make([][]float64, len(groups))
	for again := range min(2, len(o.groups)) {
		likeliest := slices.Clone(at)
		for _, g := range o.groups {
			in := lengths.Range{Least: groups[g].Min, Most: groups[g].Max, LeastWords: groups[g].MinWords,
				MostWords: groups[g].MaxWords}
			if o.shares[g], err = r.read(ctx, g, in, at); err != nil {
				return nil, err
			}
			likeliest[g] += largest(o.shares[g])
		}
		if again == 0 {
			at = likeliest
		}
	}
	o.rows = r.rows
	for _, g := range o.groups {
		o.combined = min(o.combined*len(o.drawable(g)), 1<<30)
	}
	if !o.perToken {
		o.from = r.shares.Source()
	}
	return o, nil
}

// largest is the index of the first of the largest numbers.
func largest(x []float64) int { return slices.Index(x, slices.Max(x)) }
