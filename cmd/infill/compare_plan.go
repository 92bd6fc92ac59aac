package main

import (
	"context"
	"errors"
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
	path       string
	sources    []read.Source
}

// plan checks all that needs no model, and reads the sentences.
func (f *compareFlags) plan(c *cli.Context, std console.IO) (*comparePlan, error) {
	p := &comparePlan{path: c.Args().First()}
	var err error
	if p.samplers, p.params, err = chosenSamplers(f.samplers); err != nil {
		return nil, err
	}
	if err := f.idle(c); err != nil {
		return nil, err
	}
	if err := f.stdin(std.In, p.path == "-", f.references...); err != nil {
		return nil, err
	}
	if err := f.ready(); err != nil { // with a sampler that every run replaces
		return nil, err
	}
	if p.measure, err = f.measure(c); err != nil {
		return nil, err
	}
	if err := checkInputs("--reference", f.references); err != nil {
		return nil, err
	}
	p.references = read.Files(f.references, std.In)
	if err := f.checkOutputs(p.path); err != nil {
		return nil, err
	}
	if p.sources, err = read.Sources(p.path, std.In); err != nil {
		return nil, err
	}
	return p, nil
}

// measure are the options of the report.
func (f *compareFlags) measure(c *cli.Context) (measure.CompareOptions, error) {
	opt := &f.fillingFlags.Options
	mo, err := f.options(c, *f.Seed)
	if err != nil {
		return measure.CompareOptions{}, err
	}
	o := measure.CompareOptions{Options: mo, Top: opt.Results.Top, Examples: f.examples}
	return o, o.Check()
}

// checkOutputs refuses to write over what is there or is read.
func (f *compareFlags) checkOutputs(path string) error {
	inputs := slices.Concat(f.references, []string{path}, f.reads())
	if err := f.check(inputs...); err != nil {
		return err
	}
	if err := checkTargets([]target{{"--markdown", f.markdown}, {"--html", f.html},
		{"--trace", f.trace}}, inputs...); err != nil {
		return err
	}
	return checkTrace(f.trace)
}

// comparer opens the model, the parts of the energy and the trace. What it returns is to be closed,
// with an error too.
func (f *compareFlags) comparer(ctx context.Context, std console.IO) (*comparer, error) {
	r := &comparer{warn: std.Err}
	m, err := f.open(ctx)
	if err != nil {
		return r, err
	}
	r.atEnd(f.close)
	r.model, r.sum = modelName(m), modelHash(m)
	warn(std, m, f.quiet)
	opt := &f.fillingFlags.Options
	f.Method = infill.MethodSample      // samplers are what is compared,
	opt.Results.Score = infill.ScorePLL // by the energy that they draw from
	if r.engine, err = f.prepare(ctx, m, f.secondModels(), std.Err, f.quiet); err != nil {
		return r, err
	}
	r.atEnd(f.CloseParts)
	r.opt, r.trace = f.made.Options, &traceFile{path: f.trace}
	r.atEnd(r.trace.close)
	return r, nil
}

// comparison is the head of the report, with the sentences that were taken.
func (f *compareFlags) comparison(r *comparer) *measure.Comparison {
	out := &measure.Comparison{
		Command: typedCommand(), Date: today(),
		Model: r.model, Version: version(), Seed: r.opt.Seed, Budget: r.opt.Sampling.Budget,
		Protocol: f.protocol(),
	}
	for _, t := range r.tasks {
		out.Sources = append(out.Sources, t.Source)
	}
	return out
}

// sample runs every sampler on every sentence.
func (f *compareFlags) sample(ctx context.Context, std console.IO, r *comparer,
	out *measure.Comparison, p *comparePlan) error {
	for i, s := range p.samplers {
		if !f.quiet {
			fmt.Fprintf(std.Err, "%s (%d of %d) …\n", s.Info().Name, i+1, len(p.samplers))
		}
		r.progress = console.NewProgress(f.progress, f.quiet, std.Err, len(r.tasks))
		r.name = strings.TrimSpace(s.Info().Name + " " + p.params[i])
		r.engine.Forget() // no sampler profits from what another asked
		run, err := r.run(ctx, s, f.strict)
		r.progress.Clear()
		if err != nil {
			return fmt.Errorf("sampler %s: %w", s.Info().Name, err)
		}
		run.Params = p.params[i]
		out.Samplers = append(out.Samplers, *run)
	}
	return nil
}

// atEnd has a function called by close.
func (r *comparer) atEnd(f func() error) { r.ends = append(r.ends, f) }

// close closes what was opened, the last first.
func (r *comparer) close() (err error) {
	for _, end := range slices.Backward(r.ends) {
		err = errors.Join(err, end())
	}
	return err
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
