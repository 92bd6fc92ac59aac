package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"infill/infill"
	"infill/report"
	"infill/samplers"
)

// compareFlags are the flags of infill compare.
type compareFlags struct {
	modelFlags
	samplingFlags
	constraintFlags
	measureFlags
	samplers string
	maskRate *number
	limit    *integer
	examples *integer
	quiet    bool
}

func compareCommand(std stdio) *cli.Command {
	f := &compareFlags{
		maskRate: &number{v: 0, min: 0, max: 1},
		limit:    &integer{v: 0, min: 0, max: math.MaxInt32},
		examples: &integer{v: 3, min: 0, max: 1000},
	}
	names := stringFlag("samplers", "samplers to compare, comma separated, each with parameters after colons: dmala:balance=ratio", "gibbs,gwg,dula,dmala")
	names.Destination = &f.samplers
	quiet := boolFlag("quiet", "print results only")
	quiet.Destination = &f.quiet
	flags := append(f.modelFlags.flags(), names)
	for _, fl := range f.samplingFlags.flags() {
		// --samplers and the parameters beside its names stand for these.
		switch fl.Names()[0] {
		case "sampler", "step-size", "balance", "param":
		default:
			flags = append(flags, fl)
		}
	}
	for _, fl := range f.constraintFlags.flags() {
		switch fl.Names()[0] {
		case "ban", "allow", "no-repeat", "long":
			flags = append(flags, fl)
		}
	}
	flags = append(flags,
		valueFlag("mask-rate", "share of the words to mask in texts without blanks; 0: the texts have blanks", f.maskRate),
		valueFlag("limit", "sentences to use, from the start; 0: all", f.limit),
		valueFlag("examples", "sentences whose fillings the report shows", f.examples), quiet)
	flags = append(flags, f.measureFlags.flags("metric-case")...)
	return &cli.Command{
		Name:      "compare",
		Usage:     "run several samplers on the same sentences and compare diversity and quality",
		ArgsUsage: "INPUT",
		Description: "INPUT is a file of sentences with blanks, one a line; of complete sentences, with --mask-rate;\n" +
			"or the task file of the DISCS benchmark (JSON). Every sampler gets the same sentences and seeds, and\n" +
			"at most one model evaluation a step. Prints the table of Zhang et al. 2022 (Table 3).",
		Flags: flags,
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return usagef("one file of sentences, got %d arguments; try: infill compare sentences.txt --mask-rate 0.25 --reference corpus.txt", c.NArg())
			}
			return f.run(c, std)
		},
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
			return nil, nil, usagef("--samplers: an empty name; known: %s", strings.Join(samplers.Names(), ", "))
		}
		parts := strings.Split(spec, ":")
		p := map[string]string{}
		for _, kv := range parts[1:] {
			name, value, ok := strings.Cut(kv, "=")
			if !ok || name == "" {
				return nil, nil, usagef("--samplers: %q of %q: want NAME=VALUE", kv, spec)
			}
			p[name] = value
		}
		s, err := samplers.New(parts[0], p)
		if err != nil {
			return nil, nil, err
		}
		if seen[spec] {
			return nil, nil, usagef("--samplers: %s is there twice", spec)
		}
		seen[spec] = true
		out = append(out, s)
		params = append(params, strings.Join(parts[1:], " "))
	}
	return out, params, nil
}

func (f *compareFlags) run(c *cli.Context, std stdio) error {
	list, params, err := chosenSamplers(f.samplers)
	if err != nil {
		return err
	}
	f.sampler = "dmala" // replaced for every run
	opt, err := f.samplingFlags.options(c)
	if err != nil {
		return err
	}
	mo, err := f.measureFlags.options(opt.Seed)
	if err != nil {
		return err
	}
	inputs := append(c.StringSlice("reference"), c.Args().First(), f.allow)
	if err := f.check(inputs...); err != nil {
		return err
	}
	sources, err := readSources(c.Args().First(), std.in, f.maskRate.v, opt.Seed, int(f.limit.v))
	if err != nil {
		return err
	}
	m, err := f.open(c.Context)
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }()
	if err := f.apply(c, m.Tokenizer(), &opt); err != nil {
		return err
	}
	var templates []*infill.Template
	for _, s := range sources {
		t, err := infill.Parse(m.Tokenizer(), s.Text)
		if err != nil {
			return fmt.Errorf("sentence %s: %w", s.ID, err)
		}
		templates = append(templates, t)
	}
	cmp := &report.Comparison{
		Command: "infill " + strings.Join(quoted(os.Args[min(1, len(os.Args)):]), " "),
		Model:   m.Info().Architecture + " sha256:" + m.Info().SHA256[:16], Version: version(), Seed: opt.Seed,
		Protocol: protocol(opt, f.maskRate.v), Sources: sources,
	}
	runner := comparer{engine: infill.New(m), opt: opt, sources: sources, templates: templates}
	for i, s := range list {
		if !f.quiet {
			fmt.Fprintf(std.err, "%s (%d of %d) …\n", s.Name(), i+1, len(list))
		}
		runner.progress = newProgress("auto", f.quiet, std.err, len(sources))
		run, err := runner.run(c.Context, s)
		runner.progress.clear()
		if err != nil {
			return fmt.Errorf("sampler %s: %w", s.Name(), err)
		}
		if params[i] != "" {
			run.Name += " " + params[i]
			run.Params = strings.TrimPrefix(run.Params+", "+params[i], ", ")
		}
		cmp.Samplers = append(cmp.Samplers, *run)
	}
	o := report.CompareOptions{Options: mo, Top: opt.Top, Examples: int(f.examples.v)}
	if o.Examples == 0 {
		o.Examples = -1
	}
	res, err := report.Compare(cmp, report.Files(c.StringSlice("reference"), std.in), o)
	if err != nil {
		return err
	}
	return f.render(std, res)
}

// quoted writes arguments as a shell would need them.
func quoted(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		if a == "" || strings.ContainsAny(a, " \t\n\"'\\$`*?[]|&;<>(){}~#!") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		out[i] = a
	}
	return out
}

func protocol(o infill.Options, rate float64) string {
	s := fmt.Sprintf("%d chains × %d steps, last state, top %d by score", o.Chains, max(o.Steps, 0), o.Top)
	if rate > 0 {
		s = fmt.Sprintf("%g %% of the words masked, ", 100*rate) + s
	}
	if o.Temperature != 1 {
		s += fmt.Sprintf(", temperature %g", o.Temperature)
	}
	return s
}

// comparer runs samplers on the same sentences.
type comparer struct {
	engine    *infill.Engine
	opt       infill.Options
	sources   []report.Source
	templates []*infill.Template
	progress  *progress
}

// budget is the number of steps that gives a sampler no more evaluations than
// the steps asked for give one that needs one evaluation a step. What a step
// costs is measured on the first sentence.
func (r *comparer) budget(ctx context.Context, s samplers.Sampler) (int, error) {
	const pilot = 2
	if r.opt.Steps <= pilot {
		return r.opt.Steps, nil
	}
	opt := r.opt
	opt.Sampler, opt.Steps, opt.ID = s, pilot, "pilot"
	res, err := r.engine.Fill(ctx, r.templates[0], opt)
	if err != nil {
		return 0, err
	}
	cost := float64(res.Stats.Evals-opt.Chains) / float64(pilot*opt.Chains) // a chain's start is one
	return max(1, int(float64(r.opt.Steps)/max(1, math.Floor(cost)))), nil
}

// run fills every sentence with one sampler.
func (r *comparer) run(ctx context.Context, s samplers.Sampler) (*report.SamplerRun, error) {
	out := &report.SamplerRun{Name: s.Name(), Acceptance: math.NaN()}
	n, err := r.budget(ctx, s)
	if err != nil {
		return nil, err
	}
	if n != r.opt.Steps {
		out.Params = fmt.Sprintf("%d steps", n)
	}
	start := time.Now()
	var accepted, steps int
	for i, t := range r.templates {
		opt := r.opt
		opt.Sampler = s
		opt.Steps = n
		opt.ID = r.sources[i].ID
		opt.Top = -1 // the report keeps the best, and counts all
		traces := make([]report.ChainTrace, opt.Chains)
		for k := range traces {
			traces[k].Sentence = i
		}
		opt.Trace = func(st infill.Step) error {
			if st.Step == 0 {
				return nil
			}
			for k := range traces {
				traces[k].Energy = append(traces[k].Energy, st.Energy[k])
				a := 0.0
				if st.Accepted[k] {
					a = 1
				}
				traces[k].Accepted = append(traces[k].Accepted, a)
			}
			return nil
		}
		opt.TraceEnergies = true
		res, err := r.engine.Fill(ctx, t, opt)
		if err != nil {
			if lineCode(err) == "" {
				return nil, err
			}
			out.Sentences = append(out.Sentences, report.SentenceRun{Err: err.Error()})
			continue
		}
		sr := report.SentenceRun{Distinct: res.Distinct, Total: opt.Chains}
		for _, f := range res.Fillings {
			sr.Fillings = append(sr.Fillings, report.Filling{Text: f.Text, Spans: f.Spans, Score: f.Score})
		}
		out.Sentences = append(out.Sentences, sr)
		out.Chains = append(out.Chains, traces...)
		out.Evaluations += int64(res.Stats.Evals)
		accepted += res.Stats.Accepted
		steps += res.Stats.Steps
		r.progress.step(i+1, i+1)
	}
	out.Wall = time.Since(start)
	if info, err := samplers.Lookup(s.Name()); err == nil && corrected(info) && steps > 0 {
		out.Acceptance = float64(accepted) / float64(steps)
	} else {
		for i := range out.Chains {
			out.Chains[i].Accepted = nil
		}
	}
	return out, nil
}

// corrected tells whether a sampler has an acceptance step.
func corrected(i samplers.Info) bool {
	return i.Exact && !strings.Contains(i.Name, "gibbs") || i.Name == "gibbs-mh"
}

// readSources reads sentences with blanks or, with a mask rate, complete ones
// whose words it masks.
func readSources(path string, stdin io.Reader, rate float64, seed uint64, limit int) ([]report.Source, error) {
	in := stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		in = file
	}
	all, err := report.ReadSources(in, path)
	if err != nil {
		return nil, err
	}
	var out []report.Source
	for _, s := range all {
		if limit > 0 && len(out) == limit {
			break
		}
		if rate > 0 {
			s.Gold = s.Text
			if s.Text, _, err = infill.MaskWords(s.Gold, rate, seed, s.ID); err != nil {
				if errors.Is(err, infill.ErrEmpty) {
					continue // a line of punctuation has no word to mask
				}
				return nil, fmt.Errorf("%s: sentence %s: %w", path, s.ID, err)
			}
		}
		out = append(out, s)
	}
	if len(out) == 0 {
		return nil, usagef("%s: no sentence in it", path)
	}
	return out, nil
}
