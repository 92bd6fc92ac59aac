package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/console"
	"infill/infill"
	"infill/infill/settings"
	"infill/infill/text"
	"infill/internal/count"
	"infill/report/measure"
	"infill/report/read"
	"infill/samplers"
)

// A comparePlan is what a comparison is made of, as its flags and files say. No model is open yet.
type comparePlan struct {
	samplers   []samplers.Sampler
	params     []string // of each
	measure    measure.CompareOptions
	references []read.Input
	sources    []read.Source
}

// plan checks all that needs no model, and reads the sentences.
func (f *compareFlags) plan(c *cli.Context, std console.IO) (*comparePlan, error) {
	p, path := &comparePlan{}, c.Args().First()
	var err error
	if p.samplers, p.params, err = chosenSamplers(f.samplers); err != nil {
		return nil, err
	}
	// The sampler of the options is one that every run replaces.
	err = cmp.Or(f.idle(c), f.stdin(std.In, path == "-", f.references...), f.ready())
	if err != nil {
		return nil, err
	}
	o, err := f.options(c, *f.Seed)
	if err != nil {
		return nil, err
	}
	p.measure = measure.CompareOptions{Options: o, Top: f.fillingFlags.Options.Results.Top,
		Examples: f.examples}
	inputs := slices.Concat(f.references, []string{path}, f.reads())
	targets := []target{{"--markdown", f.markdown}, {"--html", f.html}, {"--trace", f.trace}}
	if err := cmp.Or(p.measure.Check(), checkInputs("--reference", f.references), f.check(inputs...),
		checkTargets(targets, inputs...), checkTrace(f.trace)); err != nil {
		return nil, err
	}
	p.references = read.Files(f.references, std.In)
	p.sources, err = read.Sources(path, std.In)
	return p, err
}

// openFor opens the model, the parts of the energy and the trace.
func (f *compareFlags) openFor(ctx context.Context, r *comparer) error {
	m, err := f.open(ctx)
	if err != nil {
		return err
	}
	r.atEnd(f.close)
	r.model, r.sum = modelName(m), modelHash(m)
	warn(r.std, m, f.quiet)
	f.Method = infill.MethodSample                         // samplers are what is compared,
	f.fillingFlags.Options.Results.Score = infill.ScorePLL // by the energy that they draw from
	if r.engine, err = f.prepare(ctx, m, f.secondModels(), r.std.Err, f.quiet); err != nil {
		return err
	}
	r.atEnd(f.CloseParts)
	r.opt, r.trace = f.made.Options, &traceFile{path: f.trace}
	r.atEnd(r.trace.close)
	return nil
}

// protocol says in words what is done with every sentence.
func (f *compareFlags) protocol() string {
	o := &f.fillingFlags.Options
	steps, chains := o.Sampling.Steps, count.Of(o.Sampling.Chains, "chain")
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if f.Masking.Rate > 0 {
		add("%g %% of the words masked", 100*f.Masking.Rate)
	}
	if f.Masking.Words > 0 {
		add("words masked: %d", f.Masking.Words)
	}
	if o.Words.MinDistance > 0 {
		add("fillings at an edit distance of %d or more", o.Words.MinDistance)
	}
	if len(f.Words.Energy) > 0 {
		add("further parts of the energy: %s", strings.Join(f.Words.Energy, ", "))
	}
	switch {
	case steps == 0:
		add("%s, no step", chains)
	case o.Sampling.Budget == infill.BudgetEvaluations:
		add("%s × %d model evaluations (%s of one, and the start)", chains, steps+1,
			count.Of(steps, "step"))
	case o.Sampling.Budget == infill.BudgetRows:
		add("%s, model rows of %s of one evaluation and of the start", chains, count.Of(steps, "step"))
	default:
		add("%s × %s", chains, count.Of(steps, "step"))
	}
	if begin := o.Sampling.Begin(); begin != infill.StartMasked.String() {
		add("start %s", begin)
	}
	switch o.Results.Collect {
	case infill.CollectLast:
		add("last state")
	case infill.CollectChain:
		add("states after the burn-in")
	default:
		add("all states that were evaluated")
	}
	if o.Results.Diverse {
		add("top %d by score and overlap", o.Results.Top)
	} else {
		add("top %d by score", o.Results.Top)
	}
	if o.Words.Vocab != text.VocabWords {
		add("vocabulary %s", settings.FillTable().Find("vocab").Value(&f.Fill))
	}
	if o.Sampling.Temperature != 1 {
		add("temperature %g", o.Sampling.Temperature)
	}
	return strings.Join(parts, ", ")
}
