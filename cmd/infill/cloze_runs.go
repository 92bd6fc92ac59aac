package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"infill/cmd/infill/internal/console"
	"infill/infill"
	"infill/infill/settings"
	"infill/mlm"
)

// baselines are runs of earlier programs, which filled without a search.
var baselines = []string{"alone", "greedy", "confident"}

// A clozeRun is one way to fill lines.
type clozeRun struct {
	name    string
	model   *clozeModel
	filling *fillingFlags
	engine  *infill.Engine // of the run alone, so that none profits from what another has asked
}

// A clozeModel is a model of some of the runs.
type clozeModel struct {
	name  string
	flags *modelFlags
	model *mlm.Model // nil until it is open
}

// planned are the runs of the flags, with their models, which are not open.
func (f *clozeFlags) planned() ([]*clozeRun, error) {
	texts := f.runs
	if len(texts) == 0 {
		texts = []string{settings.RunFill}
	}
	models := map[string]*clozeModel{}
	model := func(name string) (*clozeModel, error) {
		if m := models[name]; m != nil {
			return m, nil
		}
		if _, err := resolveModel(name, ""); err != nil {
			return nil, err
		}
		flags := f.modelFlags
		flags.Name, flags.opened = name, nil
		models[name] = &clozeModel{name: name, flags: &flags}
		return models[name], nil
	}
	var runs []*clozeRun
	if f.models == nil {
		f.models = []string{cmp.Or(os.Getenv(settings.EnvName("model")), settings.DefaultModel)}
	}
	for _, name := range f.models {
		for _, text := range texts {
			r, err := settings.ParseRun(text)
			if err != nil {
				if slices.ContainsFunc(baselines, func(b string) bool {
					return slices.Contains(strings.Fields(text), b)
				}) {
					return nil, usagef("--run %s: blanks are filled together, by a search or by sampling; the "+
						"simple ways that they were compared with are in the laboratory: bin/lab baselines",
						console.Quoted([]string{text})[0])
				}
				return nil, fmt.Errorf("--run: %w", err)
			}
			filling, err := f.ForRun(r)
			if err == nil {
				err = filling.CheckOptions()
			}
			if err != nil {
				return nil, fmt.Errorf("--run %s: %w", console.Quoted([]string{r.Text})[0], err)
			}
			run := &clozeRun{name: r.Name, filling: &fillingFlags{Fill: *filling}}
			of := name
			if r.Model != "" {
				if of = r.Model; name != f.models[0] {
					continue // it has a model of its own, and is not one of each
				}
			}
			if run.model, err = model(of); err != nil {
				return nil, err
			}
			runs = append(runs, run)
		}
	}
	return runs, nameRuns(runs, len(models) > 1)
}

// nameRuns completes the names of runs, and refuses two of one name.
func nameRuns(runs []*clozeRun, models bool) error {
	var names []string
	for _, r := range runs {
		if r.name == "" {
			r.name = settings.RunFill
		}
		if models {
			r.name += ", " + r.model.name
		}
		if slices.Contains(names, r.name) {
			return usagef("two runs are called %q; name one of them: name=NAME", r.name)
		}
		names = append(names, r.name)
	}
	return nil
}

// open opens the models of all runs, and what the runs read, before any line is filled.
func (b *clozeBench) open(ctx context.Context) error {
	for _, r := range b.runs {
		if !slices.Contains(b.models, r.model) {
			b.models = append(b.models, r.model)
		}
	}
	for _, m := range b.models {
		gradient := slices.ContainsFunc(b.runs, func(r *clozeRun) bool {
			return r.model == m && r.filling.NeedsGradient()
		})
		if !gradient {
			m.flags.forward()
		}
		var err error
		if m.model, err = m.flags.open(ctx); err != nil {
			return err
		}
		b.atEnd(m.flags.close)
		warn(b.std, m.model, b.quiet)
	}
	for _, r := range b.runs {
		var err error
		r.engine, err = r.filling.prepare(ctx, r.model.model, r.model.flags.secondModels(), b.std.Err,
			b.quiet)
		if err != nil {
			return fmt.Errorf("run %s: %w", r.name, err)
		}
		b.atEnd(r.filling.CloseParts)
	}
	return nil
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
