package target

import (
	"context"

	"infill/infill/internal/recall"
	"infill/infill/request"
	"infill/infill/text"
	"infill/mlm"
)

// A Task is a template resolved, once, for a model and options: the value that a search, chains and
// exact sums are handed. Nothing changes it.
type Task struct {
	Opt      *request.Options // complete
	Whole    *text.Template   // with the numbers that its blanks take
	Template *text.Template   // the part that the model sees, around all blanks
	Base     *mlm.Model
	Asked    *recall.Recall // the base, which is asked nothing twice
	Choices  []Choice       // of lengths: at least one, of a search the likeliest first
	// Open is the number of groups whose lengths are open, and Combined the number of different
	// lengths that the groups can have together.
	Open, Combined int
	LengthsFrom    string // Result.Lengths
	PerToken       bool   // fillings are ranked by their score per token
	Numbers        []int  // Result.Numbers
	Rows           int    // rows that resolving took
}

// A Choice is a number of tokens for every group, with the energy of such fillings.
type Choice struct {
	Target *Target
	ID     string  // names the random streams
	LogP   float64 // of a search: how likely the lengths are, in nats
	Chains []int   // the numbers of the chains that have them, ascending
}

// Unrounded is a target of the model in float32 with the same states. It is t itself unless
// the model is rounded.
func (p *Task) Unrounded(ctx context.Context, t *Target) (*Target, error) {
	m, err := p.Base.Float32(ctx)
	if err != nil || m == p.Base {
		return t, err
	}
	return t.with(t.Model.Unrounded(m)), nil
}
