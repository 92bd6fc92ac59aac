package measure

import (
	"fmt"
	"slices"

	"infill/report/read"
)

// compareNgrams are the orders of unique n-grams that a comparison counts by default.
var compareNgrams = []int{2, 3}

// Check finds options that [Prepare] refuses, before anything is sampled: read.read.ErrOption,
// corpus.ErrOption and bleu.ErrOption.
func (o CompareOptions) Check() error {
	if o.Top < 0 {
		return fmt.Errorf("%w: top %d fillings (want 1 or more)", read.ErrOption, o.Top)
	}
	if o.Examples < 0 {
		return fmt.Errorf("%w: %d examples (want 0 or more)", read.ErrOption, o.Examples)
	}
	_, err := o.plan(compareNgrams)
	return err
}

// Prepared is what a comparison needs beside the fillings: its options, and its references, which
// were read.
type Prepared struct {
	o       CompareOptions
	plan    *plan
	refs    *references
	sources []read.Source
	gold    int // sources whose original is known
}

// Prepare reads the references of a comparison of these sources, once. Sampling can take hours, and
// what is wrong with a reference should be known before. Errors come from [CompareOptions.Check],
// and from reading.
func Prepare(sources []read.Source, refs []read.Input, o CompareOptions) (*Prepared, error) {
	if o.Top == 0 {
		o.Top = 5
	}
	if err := o.Check(); err != nil {
		return nil, err
	}
	gold := 0
	for _, s := range sources {
		if s.Gold != "" {
			o.Exclude = append(o.Exclude[:len(o.Exclude):len(o.Exclude)], s.Gold)
			gold++
		}
	}
	p, err := o.plan(compareNgrams)
	if err != nil {
		return nil, err
	}
	r, err := p.readReferences(refs, false)
	if err != nil {
		return nil, err
	}
	return &Prepared{o: o, plan: p, refs: r, sources: slices.Clone(sources), gold: gold}, nil
}

// Compare measures the fillings of every sampler against the references and against each other. The
// comparison has the sources that the references were read for.
func (p *Prepared) Compare(c *Comparison) (*CompareResult, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if !slices.Equal(c.Sources, p.sources) {
		return nil, fmt.Errorf("%w: the references were read for other sources", read.ErrOption)
	}
	r := p.refs
	out := &CompareResult{
		Title: "Sampler comparison", Command: c.Command, Model: c.Model,
		Version: c.Version, Protocol: c.Protocol, Date: c.Date, Settings: p.plan.settings(),
		Seed: c.Seed, Sentences: len(c.Sources), Top: p.o.Top, References: r.info,
	}
	sets := make([]*set, len(c.Samplers))
	for i := range c.Samplers {
		run := &c.Samplers[i]
		sets[i] = p.plan.newSet(run.Name, r.vocab)
		if err := sets[i].addRun(run, p.o.Top); err != nil {
			return nil, fmt.Errorf("%s: %w", run.Name, err)
		}
	}
	var err error
	if out.Judged, err = p.plan.judge(sets); err != nil {
		return nil, err
	}
	for i := range c.Samplers {
		run := &c.Samplers[i]
		m := &measured{plan: p.plan, set: sets[i], refs: r, run: run}
		row, err := m.row(inCompare | ofRun)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", run.Name, err)
		}
		out.Rows = append(out.Rows, row)
		out.Params = append(out.Params, run.Params)
		if len(run.Chains) > 0 {
			out.Traces = append(out.Traces, run.trace(len(c.Sources)))
		}
	}
	var unpaired []string
	if out.Differences, unpaired, err = p.differences(c, sets); err != nil {
		return nil, err
	}
	if len(out.Differences) > 0 {
		out.Level = p.plan.level()
	}
	if p.gold == len(c.Sources) && len(r.info) > 0 {
		s := p.plan.newSet("gold", r.vocab)
		for i, x := range c.Sources {
			if err := s.add(read.Sentence{Text: x.Gold, Group: i}); err != nil {
				return nil, err
			}
		}
		m := p.plan.bleuAgainst(s, "bleu.gold", "corpus BLEU of the original sentences", r.all)
		out.Gold = &m
	}
	out.Notes = append(c.notes(out, p.gold, len(r.info)), unpaired...)
	out.Examples = c.examples(p.o)
	return out, nil
}

// differences compares the samplers with the first one. A source is a unit.
func (p *Prepared) differences(c *Comparison, sets []*set) ([]Row, []string, error) {
	t := &pairable{units: len(c.Sources), without: "filled no sentence",
		has: func(row, unit int) bool { return len(c.Samplers[row].Sentences[unit].Fillings) > 0 },
		of: func(plan *plan, row int, units []int) (Row, error) {
			run := &SamplerRun{}
			for _, u := range units {
				run.Sentences = append(run.Sentences, c.Samplers[row].Sentences[u])
			}
			m := &measured{plan: plan, set: sets[row].of(among(units)), refs: p.refs, run: run}
			return m.row(pairedRuns)
		}}
	for _, s := range sets {
		t.names = append(t.names, s.name)
	}
	return p.plan.differences(t)
}
