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

// read is log P of each length of a group in a range, the other groups having these lengths. Tied
// blanks have the mean of theirs.
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

// readGaps finds how likely the open lengths of a template are, and where scores are blended the
// lengths of lists whose entries differ in them. Each is read with the others at their shortest.
// Where there are several gaps, all are read again with these at their likeliest lengths.
func (e *Engine) readGaps(ctx context.Context, t *text.Template, lists [][]text.Phrase,
	opt *Options) (*openLengths, error) {
	o, groups := &openLengths{t: t, opt: opt, combined: 1}, t.Groups
	at, ranges := make([]int, len(groups)), make([]lengths.Range, len(groups))
	var read []int // groups
	for g := range groups {
		in := lengths.Range{Least: groups[g].Min, Most: groups[g].Max, LeastWords: groups[g].MinWords,
			MostWords: groups[g].MaxWords}
		for i, phrase := range lists[g] {
			if n := len(phrase.IDs); i == 0 {
				in = lengths.Range{Least: n, Most: n}
			} else {
				in.Least, in.Most = min(in.Least, n), max(in.Most, n)
			}
		}
		at[g], ranges[g] = in.Least, in
		if open := lists[g] == nil; in.Most > in.Least && (open || opt.Results.Score == ScoreBlended) {
			if read = append(read, g); open {
				o.groups = append(o.groups, g)
			}
		}
	}
	if len(read) == 0 {
		return o, nil
	}
	o.perToken = len(o.groups) > 0 && opt.Results.Score == ScorePLL
	m, err := e.model.Float32(ctx)
	if err != nil {
		return nil, err
	}
	r := &gapReader{t: t, model: m, limit: opt.Search.Context, shares: lengths.Constant()}
	if most := m.MaxLength(); most > 0 {
		r.limit = min(r.limit, most)
	}
	if !o.perToken { // else scores say nothing of lengths: the text is not asked
		if r.shares, err = e.shares(); err != nil {
			return nil, err
		}
	}
	o.shares = make([][]float64, len(groups))
	for again := range max(1, min(2, len(o.groups))) {
		likeliest := slices.Clone(at)
		for _, g := range read {
			if o.shares[g], err = r.read(ctx, g, ranges[g], at); err != nil {
				return nil, err
			}
			if lists[g] == nil {
				likeliest[g] += largest(o.shares[g])
			}
		}
		if again == 0 {
			at = likeliest
		}
	}
	o.rows = r.rows
	for _, g := range o.groups {
		o.combined = min(o.combined*len(o.drawable(g)), 1<<30)
	}
	if o.perToken {
		return o, nil
	}
	o.from, o.parts = r.shares.Source(), make([][]float64, len(groups))
	for _, g := range read {
		in := ranges[g]
		o.parts[g] = make([]float64, in.Most+1)
		for n := in.Least; n <= in.Most; n++ {
			o.parts[g][n] = o.shares[g][n-in.Least] + perPiece*float64(n*len(groups[g].Blanks))
		}
	}
	return o, nil
}

// largest is the index of the first of the largest numbers.
func largest(x []float64) int { return slices.Index(x, slices.Max(x)) }
