package main

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"infill/cmd/infill/internal/advice"
	"infill/infill"
	"infill/infill/jsonl"
	"infill/infill/records"
	"infill/infill/text"
	"infill/report/measure"
	"infill/report/read"
	"infill/samplers"
)

// comparer runs samplers on the same sentences.
type comparer struct {
	bench
	engine     *infill.Engine
	opt        infill.Options
	tasks      []task
	trace      *traceFile
	model, sum string
}

// A task is a sentence to fill.
type task struct {
	read.Source
	original []string // the words that were masked; nil if the text had blanks
	template *text.Template
}

// take masks and reads the sentences, at most limit of them unless that is 0.
// Those that cannot be filled are left out with a warning.
func (r *comparer) take(path string, sources []read.Source, m text.Masking, limit int) error {
	for _, s := range sources {
		if limit > 0 && len(r.tasks) == limit {
			break
		}
		opt := r.opt
		opt.ID = s.ID
		gold := s.Gold
		if m.On() {
			gold = s.Text
		}
		t, masked, err := records.Blanks(r.engine.Tokenizer(), s.Text, m, &opt)
		if err != nil {
			err := r.leave(advice.OrMask(fmt.Errorf("%s: sentence %s: %w", path, s.ID, err)))
			if err != nil {
				return err
			}
			continue
		}
		r.tasks = append(r.tasks,
			task{read.Source{ID: s.ID, Text: masked, Gold: gold}, opt.Words.Original, t})
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

// fill fills every sentence with sampler n of a plan.
func (r *comparer) fill(ctx context.Context, p *comparePlan, n int) (*measure.SamplerRun, error) {
	s := p.samplers[n]
	name := strings.TrimSpace(s.Info().Name + " " + p.params[n])
	out := &measure.SamplerRun{Name: name, Params: p.params[n], MoveShare: math.NaN(),
		Acceptance: math.NaN()}
	var stats samplers.Stats
	var traces []measure.ChainTrace
	opt := r.opt
	err := r.run(ctx, &way{kind: "sampler", name: s.Info().Name, workers: 1,
		fill: func(ctx context.Context, i int) (*infill.Result, error) {
			t := &r.tasks[i]
			opt = r.opt
			opt.Sampling.Sampler, opt.ID, opt.Words.Original = s, t.ID, t.original
			traces = make([]measure.ChainTrace, opt.Sampling.Chains)
			for k := range traces {
				traces[k].Sentence = i
			}
			opt.Watch.Trace = func(st infill.Step) error {
				addStep(traces, st)
				return r.trace.enter(r.engine.Tokenizer(), jsonl.Step{Sampler: name, ID: t.ID}, st)
			}
			opt.Watch.TraceEnergies = true
			start := time.Now()
			res, err := r.engine.Fill(ctx, t.template, opt)
			out.Wall += time.Since(start)
			if err != nil {
				err = fmt.Errorf("sentence %s: %w", t.ID, err)
			}
			return res, err
		},
		got: func(_ int, res *infill.Result, err error) error {
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
		}}, n, len(p.samplers), len(r.tasks))
	if err != nil {
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
func states(res *infill.Result, opt infill.Options) int {
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
