package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/infill"
	"infill/mlm"
	"infill/report"
)

// compareFlags are the flags of infill compare.
type compareFlags struct {
	modelFlags
	samplingFlags
	constraintFlags
	measureFlags
	samplers   string
	budget     *choice
	scoreModel string
	trace      string
	limit      *integer
	examples   *integer
	quiet      bool
	strict     bool
	progress   *choice
}

func compareCommand(std stdio) *cli.Command {
	f := &compareFlags{
		budget:   &choice{report.BudgetEvaluations, []string{report.BudgetEvaluations, report.BudgetRows, report.BudgetSteps}},
		limit:    &integer{v: 0, min: 0, max: math.MaxInt32},
		examples: &integer{v: 3, min: 0, max: 1000},
		progress: &choice{"auto", []string{"auto", "json", "none"}},
	}
	names := stringFlag("samplers", "samplers to compare, comma separated, each with parameters after colons: dmala:balance=ratio", "gibbs,gwg,dula,dmala")
	names.Destination = &f.samplers
	quiet := boolFlag("quiet", "print results only")
	quiet.Destination = &f.quiet
	strict := boolFlag("strict", "stop at the first line that cannot be filled")
	strict.Destination = &f.strict
	second := stringFlag("score-model", "another model that scores the fillings too, named as in --model", "")
	second.Destination = &f.scoreModel
	trace := stringFlag("trace", "write energy, acceptance and state of every step to a `FILE`, as JSON lines", "")
	trace.Destination = &f.trace
	flags := append(f.modelFlags.flags(), names,
		valueFlag("budget", "what --steps measures: evaluations|rows|steps", f.budget))
	for _, fl := range f.samplingFlags.flags() {
		// --samplers and the parameters beside its names stand for these.
		switch fl.Names()[0] {
		case "sampler", "step-size", "balance", "param":
			continue
		case "steps":
			fl.(*cli.GenericFlag).Usage = "every sampler gets what so many steps of one model evaluation each take"
		}
		flags = append(flags, fl)
	}
	flags = append(flags, f.constraintFlags.flags()...)
	flags = append(flags, second,
		valueFlag("limit", "sentences to use, from the start; 0: all", f.limit),
		valueFlag("examples", "sentences whose fillings the report shows", f.examples), strict, trace, quiet,
		valueFlag("progress", "auto|json|none", f.progress))
	flags = append(flags, f.measureFlags.flags("metric-case")...)
	return &cli.Command{
		Name:      "compare",
		Usage:     "run several samplers on the same sentences and compare diversity and quality",
		ArgsUsage: "INPUT",
		Description: "INPUT is a file of sentences with blanks, one a line; of complete sentences, with --mask-rate\n" +
			"or --mask-words; or the task file of the DISCS benchmark (JSON). Every sampler gets the same\n" +
			"sentences, seeds and number of model evaluations: those of --steps steps of one evaluation each,\n" +
			"and of the start. A sampler whose proposals often are the state itself, which need none, so makes\n" +
			"more steps; sampling of a sentence ends with the step that comes nearest. With --budget rows it is\n" +
			"sequences through the model that are equal, with --budget steps the steps.\n" +
			"Prints the table of Zhang et al. 2022 (Table 3). Lines that cannot be filled are left out, and said.",
		Flags: flags,
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return usagef("one file of sentences, got %d arguments; try: infill compare sentences.txt --mask-rate 0.25 --reference corpus.txt", c.NArg())
			}
			return f.run(c, std)
		},
	}
}

func (f *compareFlags) run(c *cli.Context, std stdio) (err error) {
	list, params, err := chosenSamplers(f.samplers)
	if err != nil {
		return err
	}
	f.sampler = "dmala" // replaced for every run
	opt, err := f.samplingFlags.options(c)
	if err != nil {
		return err
	}
	switch f.budget.v {
	case report.BudgetEvaluations:
		opt.Budget = infill.BudgetEvaluations
	case report.BudgetRows:
		opt.Budget = infill.BudgetRows
	}
	masking, err := f.masking()
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
	if err := checkTargets([]target{{"--markdown", f.markdown}, {"--html", f.html}, {"--trace", f.trace}}, inputs...); err != nil {
		return err
	}
	path := c.Args().First()
	sources, err := readSources(path, std.in)
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
	cmp := &report.Comparison{
		Command: "infill " + strings.Join(quoted(os.Args[min(1, len(os.Args)):]), " "),
		Model:   modelName(m), Version: version(), Seed: opt.Seed, Budget: f.budget.v,
		Protocol: f.protocol(opt),
	}
	tr, err := openTrace(f.trace)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tr.close()) }()
	runner := &comparer{trace: tr, engine: infill.New(m), opt: opt, warn: std.err}
	if err := runner.take(path, sources, masking, int(f.limit.v), f.strict); err != nil {
		return err
	}
	if f.scoreModel != "" {
		other := f.modelFlags
		other.model = f.scoreModel
		second, err := other.open(c.Context)
		if err != nil {
			return fmt.Errorf("--score-model: %w", err)
		}
		defer func() { _ = second.Close() }()
		runner.second, cmp.SecondModel = infill.New(second), modelName(second)
	}
	for _, t := range runner.tasks {
		cmp.Sources = append(cmp.Sources, t.Source)
	}
	for i, s := range list {
		if !f.quiet {
			fmt.Fprintf(std.err, "%s (%d of %d) …\n", s.Name(), i+1, len(list))
		}
		runner.progress = newProgress(f.progress.v, f.quiet, std.err, len(runner.tasks))
		runner.name = strings.TrimSpace(s.Name() + " " + params[i])
		run, err := runner.run(c.Context, s, f.strict)
		runner.progress.clear()
		if err != nil {
			return fmt.Errorf("sampler %s: %w", s.Name(), err)
		}
		run.Params = params[i]
		cmp.Samplers = append(cmp.Samplers, *run)
	}
	cmp.Notes = runner.notes
	o := report.CompareOptions{Options: mo, Top: opt.Top, Examples: int(f.examples.v)}
	if o.Examples == 0 {
		o.Examples = -1
	}
	res, err := report.Compare(cmp, report.Files(c.StringSlice("reference"), std.in), o)
	if err != nil {
		return err
	}
	if err := f.render(std, res); err != nil {
		return err
	}
	if runner.failed {
		return errSomeFailed
	}
	return nil
}

// modelName names a model in a report.
func modelName(m *mlm.Model) string {
	return strings.TrimSpace(m.Info().Architecture + " sha256:" + m.Info().SHA256[:16])
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

// protocol says in words what is done with every sentence.
func (f *compareFlags) protocol(o infill.Options) string {
	steps := max(o.Steps, 0)
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if f.maskRate.v > 0 {
		add("%g %% of the words masked", 100*f.maskRate.v)
	}
	if f.maskWords.v > 0 {
		add("words masked: %d", f.maskWords.v)
	}
	if f.minDistance.v > 0 {
		add("fillings at an edit distance of %d or more", f.minDistance.v)
	}
	switch {
	case steps == 0:
		add("%d chains, no step", o.Chains)
	case o.Budget == infill.BudgetEvaluations:
		add("%d chains × %d model evaluations (%d steps of one, and the start)", o.Chains, steps+1, steps)
	case o.Budget == infill.BudgetRows:
		add("%d chains, model rows of %d steps of one evaluation and of the start", o.Chains, steps)
	default:
		add("%d chains × %d steps", o.Chains, steps)
	}
	add("last state")
	if o.Select == infill.SelectDiverse {
		add("top %d by score and overlap", o.Top)
	} else {
		add("top %d by score", o.Top)
	}
	if o.Temperature != 1 {
		add("temperature %g", o.Temperature)
	}
	return strings.Join(parts, ", ")
}
