package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"infill/infill"
	"infill/internal/count"
	"infill/mlm"
	"infill/report"
	"infill/samplers"
)

const compareDescription = "" +
	`INPUT is a file of sentences with blanks, one a line; of complete sentences, with --mask-rate
or --mask-words; or the task file of the DISCS benchmark (JSON). Every sampler gets the same
sentences, seeds and number of model evaluations: those of --steps steps of one evaluation each,
and of the start. A sampler whose proposals often are the state itself, which need none, so makes
more steps; sampling of a sentence ends with the step that comes nearest. With --budget rows it is
sequences through the model that are equal, with --budget steps the steps.
Prints the table of Zhang et al. 2022 (Table 3). Lines that cannot be filled are left out, and
said.`

// budgets are the names that reports have for budgets.
var budgets = map[infill.Budget]string{
	infill.BudgetSteps:       report.BudgetSteps,
	infill.BudgetEvaluations: report.BudgetEvaluations,
	infill.BudgetRows:        report.BudgetRows,
}

// compareFlags are the flags of infill compare.
type compareFlags struct {
	modelFlags
	fillingFlags
	measureFlags
	samplers      string
	scoreModel    string
	trace         string
	limit         int
	examples      int
	quiet, strict bool
	progress      string
}

// sampling are the flags of sampling, without those that --samplers and the parameters beside its
// names stand for.
func (f *compareFlags) sampling() []*option {
	f.samplers = "gibbs,gwg,dula,dmala"
	flags := []*option{
		textFlag("samplers", "`SAMPLERS` to compare, comma separated, each with parameters after "+
			"colons: dmala:balance=ratio", &f.samplers),
	}
	filling := f.fillingFlags.flags()
	f.fillingFlags.Options.Budget = infill.BudgetEvaluations
	f.fillingFlags.Options.Steps = infill.PublishedSteps
	for _, o := range without(filling, "sampler", "step-size", "balance", "param", "method",
		"score", "effort", "rows", "row-context",
		"marginals", "log-z", "collect", "thin",
		"min-edits", "max-edits", "max-drop",
		"encoder", "min-similarity", "max-similarity") { // filters would hide
		// what samplers find
		if o.name == "steps" {
			o.usage = "every sampler gets what this many steps of one model evaluation each take"
		}
		flags = append(flags, o)
	}
	return flags
}

func (f *compareFlags) own() []*option {
	f.examples = 3
	return []*option{
		textFlag("score-model", "another `MODEL` that scores the fillings too, named as in --model",
			&f.scoreModel),
		wholeFlag("limit", "sentences to use, from the start; 0: all", &f.limit, 0, math.MaxInt32),
		wholeFlag("examples", "sentences whose fillings the report shows", &f.examples, 0, 1000),
		boolFlag("strict", "stop at the first line that cannot be filled", &f.strict),
		traceFlag(&f.trace),
		boolFlag("quiet", "print results only", &f.quiet),
		progressFlag(&f.progress),
	}
}

func compareCommand(std stdio) *cli.Command {
	f := &compareFlags{}
	return &cli.Command{
		Name:        "compare",
		Usage:       "run several samplers on the same sentences and compare diversity and quality",
		ArgsUsage:   "INPUT",
		Description: compareDescription,
		Flags: join(f.modelFlags.flags(), group(groupFill, f.sampling()), group(groupOutput, f.own()),
			f.measureFlags.flags("metric-case", "intervals over the sentences: of BLEU, of self-BLEU, "+
				"and of the samplers' differences from the first")),
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return usagef("one file of sentences, got %d arguments; try: infill compare sentences.txt "+
					"--mask-rate 0.25 --reference corpus.txt", c.NArg())
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
	if err := f.idle(c); err != nil {
		return err
	}
	if err := f.stdin(std.in, c.Args().First() == "-", f.references...); err != nil {
		return err
	}
	if err := f.ready(); err != nil { // with a sampler that every run replaces
		return err
	}
	opt := &f.fillingFlags.Options
	mo, err := f.options(c, opt.Seed)
	if err != nil {
		return err
	}
	o := report.CompareOptions{
		Options: mo, Top: opt.Top, Examples: f.examples, NoExamples: f.examples == 0,
	}
	if err := o.Check(); err != nil {
		return err
	}
	if err := checkInputs("--reference", f.references); err != nil {
		return err
	}
	references, err := plainFiles("--reference", f.references, std.in)
	if err != nil {
		return err
	}
	inputs := slices.Concat(f.references, []string{c.Args().First()}, f.reads())
	if err := f.check(inputs...); err != nil {
		return err
	}
	if err := checkTargets([]target{{"--markdown", f.markdown}, {"--html", f.html},
		{"--trace", f.trace}}, inputs...); err != nil {
		return err
	}
	if err := checkTrace(f.trace); err != nil {
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
	warn(std, m, f.quiet)
	f.Method = infill.MethodSample   // samplers are what is compared,
	opt.Collect = infill.CollectLast // by their draws,
	opt.Score = infill.ScorePLL      // and by the energy that they draw from
	engine, err := f.prepare(c.Context, m, f.secondModels(), std.err, f.quiet)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.CloseParts()) }()
	cmp := &report.Comparison{
		Command: typedCommand(), Date: today(),
		Model: modelName(m), Version: version(), Seed: opt.Seed, Budget: budgets[opt.Budget],
		Protocol: f.protocol(),
	}
	tr := newTrace(f.trace)
	defer func() { err = errors.Join(err, tr.close()) }()
	runner := &comparer{trace: tr, engine: engine, opt: *opt, warn: std.err}
	if err := runner.take(path, sources, f.Masking, f.limit, f.strict); err != nil {
		return err
	}
	for _, t := range runner.tasks {
		cmp.Sources = append(cmp.Sources, t.Source)
	}
	// Nothing that is wrong with a file may throw samples away, so all are read before.
	prepared, err := report.Prepare(cmp.Sources, references, o)
	if err != nil {
		return err
	}
	if f.scoreModel != "" {
		other := f.modelFlags
		other.Name = f.scoreModel
		second, err := other.open(c.Context)
		if err != nil {
			return fmt.Errorf("--score-model: %w", err)
		}
		defer func() { _ = second.Close() }()
		runner.second, cmp.SecondModel = infill.New(second), modelName(second)
	}
	begin()
	if err := f.sample(c.Context, std, runner, cmp, list, params); err != nil {
		return err
	}
	cmp.Notes = runner.notes
	res, err := prepared.Compare(cmp)
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

// sample runs every sampler on every sentence.
func (f *compareFlags) sample(ctx context.Context, std stdio, runner *comparer,
	cmp *report.Comparison,
	list []samplers.Sampler, params []string) error {
	for i, s := range list {
		if !f.quiet {
			fmt.Fprintf(std.err, "%s (%d of %d) …\n", s.Name(), i+1, len(list))
		}
		runner.progress = newProgress(f.progress, f.quiet, std.err, len(runner.tasks))
		runner.name = strings.TrimSpace(s.Name() + " " + params[i])
		runner.engine.Forget() // no sampler profits from what another asked
		run, err := runner.run(ctx, s, f.strict)
		runner.progress.clear()
		if err != nil {
			return fmt.Errorf("sampler %s: %w", s.Name(), err)
		}
		run.Params = params[i]
		cmp.Samplers = append(cmp.Samplers, *run)
	}
	return nil
}

// modelName names a model in a report.
func modelName(m *mlm.Model) string {
	return strings.TrimSpace(m.Info().Architecture + " sha256:" + m.Info().SHA256[:16])
}

// typedCommand is what was typed, as a shell would need it.
func typedCommand() string {
	return "infill " + strings.Join(quoted(os.Args[min(1, len(os.Args)):]), " ")
}

// today is the date of a report.
func today() string { return time.Now().Format(time.DateOnly) }

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
func (f *compareFlags) protocol() string {
	o := &f.fillingFlags.Options
	steps, chains := o.Steps, count.Of(o.Chains, "chain")
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if f.Masking.Rate > 0 {
		add("%g %% of the words masked", 100*f.Masking.Rate)
	}
	if f.Masking.Words > 0 {
		add("words masked: %d", f.Masking.Words)
	}
	if o.MinDistance > 0 {
		add("fillings at an edit distance of %d or more", o.MinDistance)
	}
	if len(f.Energy) > 0 {
		add("further parts of the energy: %s", strings.Join(f.Energy, ", "))
	}
	switch {
	case steps == 0:
		add("%s, no step", chains)
	case o.Budget == infill.BudgetEvaluations:
		add("%s × %d model evaluations (%s of one, and the start)", chains, steps+1,
			count.Of(steps, "step"))
	case o.Budget == infill.BudgetRows:
		add("%s, model rows of %s of one evaluation and of the start", chains, count.Of(steps, "step"))
	default:
		add("%s × %s", chains, count.Of(steps, "step"))
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
