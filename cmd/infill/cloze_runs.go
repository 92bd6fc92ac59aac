package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"infill/cmd/infill/internal/console"
	"infill/infill"
	"infill/infill/records"
	"infill/infill/settings"
	"infill/metrics/cloze"
	"infill/mlm"
	"infill/report/measure"
)

// A clozeBench fills the same lines by several runs.
type clozeBench struct {
	bench
	*clozeFlags
	runs   []*clozeRun
	models []*clozeModel
	few    error // of the first line without enough words
}

// A clozeRun is one way to fill lines. Its engine is its own, so that no run profits from the
// questions of another.
type clozeRun struct {
	way
	filling *fillingFlags
}

// A clozeModel is a model of some of the runs.
type clozeModel struct {
	modelFlags
	model *mlm.Model // nil until it is open
}

// plan makes the runs of the flags, with their models, which are not open.
func (b *clozeBench) plan() error {
	texts, names := b.givenRuns, b.givenModels
	if len(texts) == 0 {
		texts = []string{settings.RunFill}
	}
	if names == nil {
		names = []string{usualModel()}
	}
	for _, name := range names {
		for _, text := range texts {
			r, err := parseRun(text)
			if err != nil {
				return err
			}
			filling, err := b.ForRun(r)
			if err == nil {
				err = filling.CheckOptions()
			}
			if err != nil {
				return fmt.Errorf("--run %s: %w", console.Quoted([]string{r.Text})[0], err)
			}
			if r.Model != "" && name != names[0] {
				continue // it has a model of its own, and is not one of each
			}
			model, err := b.modelOf(cmp.Or(r.Model, name))
			if err != nil {
				return err
			}
			b.runs = append(b.runs, &clozeRun{filling: &fillingFlags{Fill: *filling},
				way: way{kind: "run", name: cmp.Or(r.Name, settings.RunFill), model: model}})
		}
	}
	seen := map[string]bool{}
	for _, r := range b.runs {
		if len(b.models) > 1 {
			r.name += ", " + b.models[r.model].Name
		}
		if seen[r.name] {
			return usagef("two runs are called %q; name one of them: name=NAME", r.name)
		}
		seen[r.name] = true
	}
	return nil
}

// modelOf is the place of a model in the list of models, which it adds where it is new.
func (b *clozeBench) modelOf(name string) (int, error) {
	i := slices.IndexFunc(b.models, func(m *clozeModel) bool { return m.Name == name })
	if i >= 0 {
		return i, nil
	}
	if _, err := resolveModel(name, ""); err != nil {
		return 0, err
	}
	m := &clozeModel{modelFlags: b.modelFlags}
	m.Name = name
	b.models = append(b.models, m)
	return len(b.models) - 1, nil
}

// open opens the models of all runs, and what the runs read, before any line is filled.
func (b *clozeBench) open(ctx context.Context) (err error) {
	for i, m := range b.models {
		m.Options.Forward = slices.ContainsFunc(b.runs, func(r *clozeRun) bool {
			return r.model == i && !r.filling.NeedsGradient()
		})
		if m.model, err = m.open(ctx); err != nil {
			return err
		}
		b.atEnd(m.close)
		warn(b.std, m.model, b.quiet)
	}
	for _, r := range b.runs {
		m := b.models[r.model]
		r.engine, err = r.filling.prepare(ctx, m.model, m.secondModels(), b.std.Err, b.quiet)
		if err != nil {
			return fmt.Errorf("run %s: %w", r.name, err)
		}
		b.atEnd(r.filling.CloseParts)
		r.options = r.filling.made.Options
		r.workers = records.InFlight(m.model.Streams(), r.options.Sampling.Chains)
	}
	return nil
}

// measured fills all lines by all runs.
func (b *clozeBench) measured(ctx context.Context) (*measure.ClozeResult, error) {
	test := &measure.ClozeResult{
		Command: typedCommand(), Version: version(), Date: today(), Seed: *b.Seed,
		Protocol: b.protocol(), Gaps: b.gaps(), Level: b.level, Notes: b.notes,
		Among: b.fillingFlags.Options.Results.Top,
	}
	for _, m := range b.models {
		test.Models = append(test.Models, fmt.Sprintf("%s (%s)", m.Name, modelName(m.model)))
	}
	for i := range b.runs {
		run, err := b.filled(ctx, i)
		if err != nil {
			return nil, err
		}
		test.Runs = append(test.Runs, *run)
	}
	return test, measure.Cloze(test)
}

// filled fills all lines by run n.
func (b *clozeBench) filled(ctx context.Context, n int) (*measure.ClozeRun, error) {
	r, among := b.runs[n], b.fillingFlags.Options.Results.Top
	out := &measure.ClozeRun{Name: r.name, Lines: make([]cloze.Counts, len(b.tasks))}
	r.got = func(i int, res *infill.Result, _ time.Duration, err error) error {
		if err != nil {
			out.Failed++
			res, err = &infill.Result{}, nil
		}
		out.Rows, out.Asked = out.Rows+int64(res.Evaluated), out.Asked+int64(res.Rows)
		words, original := wordsIn(res.Fillings), b.tasks[i].original
		if b.gaps() {
			out.Lines[i] = cloze.CountGap(original[0], slices.Concat(words...), among, b.same)
		} else {
			out.Lines[i], err = cloze.Count(original, words, among, b.same)
		}
		return err
	}
	before := processorTime()
	err := b.fill(ctx, &r.way, n, len(b.runs))
	if b.times {
		out.Processor = processorTime() - before
	}
	r.engine.Forget() // it is not asked again
	return out, err
}

// wordsIn are the filled words of each filling, as they stand in its text.
func wordsIn(fillings []infill.Filling) [][]string {
	out := make([][]string, len(fillings))
	for k, f := range fillings {
		for _, s := range f.Spans {
			out[k] = append(out[k], f.Text[s[0]:s[1]])
		}
	}
	return out
}
