package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/advice"
	"infill/infill"
	"infill/infill/jsonl"
	"infill/infill/records"
	"infill/infill/text"
	"infill/report/measure"
	"infill/report/read"
	"infill/samplers"
)

// A comparer runs samplers on the same sentences.
type comparer struct {
	bench
	*compareFlags
	chosen     []samplers.Sampler
	params     []string // of each
	options    measure.CompareOptions
	references []read.Input
	sources    []read.Source
	taken      []read.Source // those of the tasks, with the words that were masked
	steps      *traceFile
	on         *openEngine
}

// plan checks all that needs no model, and reads the sentences.
func (r *comparer) plan(c *cli.Context) error {
	f, path := r.compareFlags, c.Args().First()
	var err error
	if r.chosen, r.params, err = chosenSamplers(f.samplers); err != nil {
		return err
	}
	// The sampler of the options is one that every run replaces.
	err = cmp.Or(f.idle(c), f.stdin(r.std.In, path == "-", f.references...), f.ready())
	if err != nil {
		return err
	}
	o, err := f.options(c, *f.Seed)
	if err != nil {
		return err
	}
	r.options = measure.CompareOptions{Options: o, Top: f.fillingFlags.Options.Results.Top,
		Examples: f.examples}
	inputs := slices.Concat(f.references, []string{path}, f.reads())
	targets := []target{{"--markdown", f.markdown}, {"--html", f.html}, {"--trace", f.trace}}
	if err := cmp.Or(r.options.Check(), checkInputs("--reference", f.references), f.check(inputs...),
		checkTargets(targets, inputs...), checkTrace(f.trace)); err != nil {
		return err
	}
	r.references = read.Files(f.references, r.std.In)
	r.sources, err = read.Sources(path, r.std.In)
	return err
}

// open opens the model, the parts of the energy and the trace.
func (r *comparer) open(ctx context.Context) error {
	f := r.compareFlags
	f.Method = infill.MethodSample                         // samplers are what is compared,
	f.fillingFlags.Options.Results.Score = infill.ScorePLL // by the energy that they draw from
	// All samplers have one model.
	e, err := f.engine(ctx, r.std, &f.modelFlags, true, f.quiet)
	if err != nil {
		return err
	}
	r.on, r.steps = e, &traceFile{path: f.trace}
	r.atEnd(e.close)
	r.atEnd(r.steps.close)
	return nil
}

// take masks and reads the sentences, at most as many as wanted. Those that cannot be filled are
// left out with a warning.
func (r *comparer) take(path string) error {
	m := r.made.Masking
	for _, s := range r.sources {
		if r.limit > 0 && len(r.tasks) == r.limit {
			break
		}
		opt := r.made.Options
		opt.ID = s.ID
		gold := s.Gold
		if m.On() {
			gold = s.Text
		}
		t, masked, err := records.Blanks(r.on.Tokenizer(), s.Text, m, &opt)
		if err != nil {
			err := r.leave(advice.OrMask(fmt.Errorf("%s: sentence %s: %w", path, s.ID, err)))
			if err != nil {
				return err
			}
			continue
		}
		r.tasks = append(r.tasks, task{id: s.ID, name: "sentence " + s.ID,
			original: opt.Words.Original, templates: []*text.Template{t}})
		r.taken = append(r.taken, read.Source{ID: s.ID, Text: masked, Gold: gold})
	}
	if len(r.tasks) == 0 {
		return r.first // of lines without blanks it says what to do
	}
	if r.left > maxWarnings {
		fmt.Fprintf(r.std.Err, "infill: %d sentences left out\n", r.left)
	}
	if r.left > 0 {
		r.notes = append(r.notes, fmt.Sprintf("sentences of the input that cannot be filled were left "+
			"out: %d, the first: %v", r.left, r.first))
	}
	return nil
}

// filled fills every sentence with sampler n.
func (r *comparer) filled(ctx context.Context, n int) (*measure.SamplerRun, error) {
	s := r.chosen[n]
	name := strings.TrimSpace(s.Info().Name + " " + r.params[n])
	out := &measure.SamplerRun{Name: name, Params: r.params[n], MoveShare: math.NaN(),
		Acceptance: math.NaN()}
	var stats samplers.Stats
	var traces []measure.ChainTrace
	w := &way{kind: "sampler", name: s.Info().Name, engine: r.on.Engine, options: r.made.Options}
	opt := &w.options
	opt.Sampling.Sampler, opt.Watch.TraceEnergies = s, true
	w.watch = func(i int, of *infill.WatchOptions) {
		traces = make([]measure.ChainTrace, opt.Sampling.Chains)
		for k := range traces {
			traces[k].Sentence = i
		}
		of.Trace = func(st infill.Step) error {
			addStep(traces, st)
			return r.steps.enter(r.on.Tokenizer(), jsonl.Step{Sampler: name, ID: r.tasks[i].id}, st)
		}
	}
	w.got = func(_ int, res *infill.Result, took time.Duration, err error) error {
		out.Wall += took
		if err != nil {
			out.Sentences = append(out.Sentences, measure.SentenceRun{Err: err.Error()})
			return nil
		}
		out.Sentences = append(out.Sentences, measure.SentenceRun{Fillings: res.Fillings,
			Distinct: res.Distinct, Total: states(res, opt)})
		out.Chains = append(out.Chains, traces...)
		out.Evaluations += int64(res.Stats.Evals)
		out.Rows += int64(res.Rows)
		out.Steps += int64(res.Steps * opt.Sampling.Chains)
		stats.Add(res.Stats)
		return nil
	}
	if err := r.fill(ctx, w, n, len(r.chosen)); err != nil {
		return nil, err
	}
	if stats.Zero > 0 {
		r.notes = append(r.notes, name+": "+refusals(stats.Zero, "had probability 0, against a "+
			"constraint,"))
	}
	if stats.NonFinite > 0 {
		r.notes = append(r.notes, name+": "+refusals(stats.NonFinite, "had an energy or gradient "+
			"that is not finite"))
	}
	out.MoveShare = stats.MoveShare()
	if s.Info().Corrected {
		out.Acceptance = stats.Acceptance()
	} else {
		for i := range out.Chains {
			out.Chains[i].Accepted = nil
		}
	}
	return out, nil
}

// states is how many states of a run, which opt.Complete has filled in, fillings come from.
func states(res *infill.Result, opt *infill.Options) int {
	switch opt.Results.Collect {
	case infill.CollectLast:
		return opt.Sampling.Chains
	case infill.CollectChain:
		return opt.Sampling.Chains * (max(0, res.Steps-opt.Burnin()) / opt.Thinning())
	default:
		return res.Stats.Evals
	}
}

// refusals says how many states were refused, and why.
func refusals(n int, why string) string {
	if n == 1 {
		return "1 proposal or neighbour " + why + " and was refused"
	}
	return fmt.Sprintf("%d proposals or neighbours %s and were refused", n, why)
}

// addStep enters the start, or a step, of all chains of a sentence.
func addStep(traces []measure.ChainTrace, st infill.Step) {
	evals := float64(st.Evals) / float64(len(traces))
	for k := range traces {
		t := &traces[k]
		a := math.NaN()
		switch {
		case st.Accepted == nil || !st.Proposed[k]: // the start, or a step that stays
		case st.Accepted[k]:
			a = 1
		default:
			a = 0
		}
		t.Energy = append(t.Energy, st.Energy[k])
		t.Accepted = append(t.Accepted, a)
		t.Evaluations = append(t.Evaluations, evals)
	}
}

// chosenSamplers parses --samplers.
func chosenSamplers(list string) ([]samplers.Sampler, []string, error) {
	var out []samplers.Sampler
	var params []string
	seen := map[string]bool{}
	for _, spec := range strings.Split(list, ",") {
		spec = strings.TrimSpace(spec)
		if spec == "" {
			return nil, nil, usagef("--samplers: an empty name; known: %s", strings.Join(samplers.Names(),
				", "))
		}
		name, p, err := samplers.ParseSpec(spec)
		if err != nil {
			return nil, nil, usagef("--samplers: %v", err)
		}
		s, err := samplers.New(name, p)
		if err != nil {
			return nil, nil, err
		}
		if seen[spec] {
			return nil, nil, usagef("--samplers: %s is there twice", spec)
		}
		seen[spec] = true
		out = append(out, s)
		_, given, _ := strings.Cut(spec, ":")
		params = append(params, strings.ReplaceAll(given, ":", " "))
	}
	return out, params, nil
}
