package chains

import (
	"path/filepath"
	"slices"
	"testing"

	"infill/infill/internal/choosing"
	"infill/infill/internal/recall"
	"infill/infill/internal/space"
	"infill/infill/internal/target"
	"infill/infill/request"
	"infill/infill/text"
	"infill/internal/gate"
	"infill/internal/testmode"
	"infill/mlm"
)

// taskOf is a text for a tiny model, whose blanks take one token each.
func taskOf(t *testing.T, line string, opt *request.Options) *target.Task {
	t.Helper()
	m, err := mlm.OpenDir(t.Context(), filepath.Join(testmode.Root(t), "mlm/testdata/tiny-bert"),
		mlm.Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	tm, err := text.Parse(m.Tokenizer(), line)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := space.NewSupports(m.Tokenizer()).Rules(tm, &request.WordOptions{})
	if err != nil {
		t.Fatal(err)
	}
	sp, err := rules.Space(tm, slices.Repeat([]int{1}, len(tm.Groups)))
	if err != nil {
		t.Fatal(err)
	}
	p := &target.Task{Opt: opt, Whole: tm, Template: tm, Base: m, Asked: recall.New(m, nil)}
	c := target.Choice{Target: target.New(p.Asked, sp, opt, nil, m.MaxLength(), nil)}
	for k := range opt.Sampling.Chains {
		c.Chains = append(c.Chains, k)
	}
	p.Choices = []target.Choice{c}
	return p
}

// Chains of a long text are divided into parts, each with chains that follow each other.
func TestDivide(t *testing.T) {
	t.Parallel()
	opt := request.Options{Sampling: request.SamplingOptions{Chains: 10, Steps: 4}}.Complete()
	p := &run{Chooser: &choosing.Chooser{Task: taskOf(t, "the [MASK] saw the [MASK] and the dog in the house "+
		"and the [MASK] sleeps in the house and the cat saw the dog .", &opt)}}
	if err := gate.Compute(t.Context(), p.Base, p.start); err != nil {
		t.Fatal(err)
	}
	var all []int
	for _, pt := range p.parts {
		all = append(all, pt.chains...)
	}
	if len(p.parts) < 2 || !slices.IsSorted(all) || len(all) != 10 {
		t.Fatalf("%d parts with chains %v", len(p.parts), all)
	}
}
