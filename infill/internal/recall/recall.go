package recall

import (
	"context"
	"sync/atomic"

	"infill/mlm"
)

// A model is what a Recall asks of an [mlm.Model].
type model interface {
	LogProb(ctx context.Context, s *mlm.Sentence, states [][]int32, logProb [][]float32) error
	TokenLogProb(ctx context.Context, s *mlm.Sentence, states [][]int32, i []int,
		logProb []float32) error
	Conditional(ctx context.Context, s *mlm.Sentence, states [][]int32, i []int,
		out [][]float32) error
	Gradient(ctx context.Context, s *mlm.Sentence, states [][]int32, mode mlm.GradientMode,
		logProb, grad [][]float32) error
	VocabSize() int
}

// Recall is a model that is asked nothing twice, as far as the memo reaches. Its methods give the
// bits of the model's own: a log-probability is the same number whether the model computes it
// alone, with its row, or with a gradient, and whatever else is in the call.
type Recall struct {
	model     model
	mask      int32         // the token
	memo      *Memo         // nil: everything is asked
	kept      *kept         // what is remembered of rows
	of        string        // begins the names of what is remembered: the model's precision
	wider     *Recall       // r before its tokens became fewer, whose rows hold those of r; or nil
	evaluated *atomic.Int64 // rows that the model evaluated
	fresh     *atomic.Int64 // those of evaluated that Result.Rows counts
	counts    bool          // what is evaluated enters fresh, see Counting
	different *Tally        // rows that samplers asked about
}

// New is a model with a memo, nil for none, for one fill.
func New(m *mlm.Model, o *Memo) *Recall {
	return &Recall{model: m, mask: m.Tokenizer().MaskID(), memo: o, of: precisionOf(m),
		different: new(Tally), evaluated: new(atomic.Int64), fresh: new(atomic.Int64)}
}

// Counting is r for the questions that Result.Rows counts, which samplers, a search and Exact ask.
// The start and the ranking ask the others. Both share what they remember.
func (r *Recall) Counting() *Recall {
	other := *r
	other.counts = true
	return &other
}

// Evaluated is the number of rows that the model evaluated.
func (r *Recall) Evaluated() int { return int(r.evaluated.Load()) }

// Different is the number of different rows that samplers asked about.
func (r *Recall) Different() int { return r.different.Total() }

// evaluates counts rows that the model is about to evaluate.
func (r *Recall) evaluates(rows int) {
	r.evaluated.Add(int64(rows))
	if r.counts {
		r.fresh.Add(int64(rows))
	}
}

// FreshOf is Result.Fresh for a number of rows. Without a memo rows that are counted once may be
// evaluated several times, as those of a list's phrases of one token.
func (r *Recall) FreshOf(rows int) int { return min(rows, int(r.fresh.Load())) }

// VocabSize is the number of tokens of the vocabulary.
func (r *Recall) VocabSize() int { return r.model.VocabSize() }

// Keeping is r with other tokens that are remembered of rows, the union of some sets, a part of
// those of r. It counts with r.
func (r *Recall) Keeping(sets [][]int32) *Recall {
	other := *r
	other.kept, other.wider = newKept(sets, r.VocabSize()), r
	return &other
}

// name is the name under which the memo keeps rows.
func (r *Recall) name() string {
	if r.kept == nil {
		return r.of
	}
	return r.of + r.kept.name
}

// precisionOf begins the names of what a form of a model says. All forms share the memo.
func precisionOf(m *mlm.Model) string { return string(byte('0' + m.Precision())) }

// Unrounded is r of the float32 form m of its model. It counts with r.
func (r *Recall) Unrounded(m *mlm.Model) *Recall {
	out := *r
	out.model, out.of = m, precisionOf(m)
	if r.wider != nil {
		out.wider = r.wider.Unrounded(m)
	}
	return &out
}

// Key names the row of a blank in a state.
func (r *Recall) Key(s *mlm.Sentence, state []int32, blank int) string {
	return string(contextKey(nil, "", s, state, blank, r.mask))
}

// NoteRow enters that a sampler asks about the row of a blank. It returns the rows that this is.
func (r *Recall) NoteRow(s *mlm.Sentence, state []int32, blank int) int {
	r.different.Add(contextKey(nil, "", s, state, blank, r.mask), 1)
	return 1
}

// NoteRows is noteRow of all blanks.
func (r *Recall) NoteRows(s *mlm.Sentence, state []int32) int {
	for blank := range s.Blanks {
		r.NoteRow(s, state, blank)
	}
	return len(s.Blanks)
}

// NoteGradient enters that a sampler asks for a state's gradient.
func (r *Recall) NoteGradient(s *mlm.Sentence, state []int32, mode mlm.GradientMode) int {
	if gradientRows(s, mode) {
		return r.NoteRows(s, state)
	}
	r.different.Add(stateKey(nil, "", s, state), len(s.Blanks))
	return len(s.Blanks)
}

// gradientRows reports whether a gradient is made of rows that each have a key of their own.
func gradientRows(s *mlm.Sentence, mode mlm.GradientMode) bool {
	return mode == mlm.Forward || len(s.Blanks) == 1
}
