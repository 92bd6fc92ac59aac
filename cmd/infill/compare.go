package main

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/infill"
	"infill/infill/settings"
	"infill/mlm"
	"infill/report/measure"
	"infill/report/show"
)

const compareDescription = "" +
	`INPUT is a file of sentences with blanks, one a line, JSON lines or a table with a column "text";
of complete sentences, with --mask-rate or --mask-words; or the task file of the DISCS benchmark
(JSON). Every sampler gets the same sentences, seeds and number of model evaluations: those of as
many steps of one evaluation each as --steps says, and of the start. A sampler whose proposals
often are the state itself, which need none, so makes more steps; sampling of a sentence ends with
the step that comes nearest. With --budget rows it is sequences through the model that are equal,
with --budget steps the steps. Prints the table of Zhang et al. 2022 (Table 3). Lines that cannot be
filled are left out, with a warning.`

// compareFlags are the flags of infill compare.
type compareFlags struct {
	modelFlags
	fillingFlags
	measureFlags
	samplers      string
	trace         string
	limit         int
	examples      int
	quiet, strict bool
	progress      string
}

// sampling are the flags of sampling, without those that --samplers and the parameters beside its
// names stand for.
func (f *compareFlags) sampling() cmdline.Flags {
	f.samplers = "gibbs,gwg,dula,dmala"
	flags := cmdline.Flags{
		cmdline.Flag("samplers", "`SAMPLERS` to compare, comma separated, each with parameters after "+
			"colons: dmala:balance=ratio", &f.samplers),
	}
	all := f.fillingFlags.flags()
	f.fillingFlags.Options.Sampling.Budget = infill.BudgetEvaluations
	f.fillingFlags.Options.Sampling.Steps = infill.PublishedSteps
	f.fillingFlags.Options.Results.Collect = infill.CollectLast // draws, of all samplers as many
	for _, o := range all.Without(settings.FillTable().NotOf("compare")...) {
		if o.Name == "steps" {
			o.Usage = "every sampler gets what this many steps of one model evaluation each take"
		}
		flags = append(flags, o)
	}
	return flags
}

func (f *compareFlags) own() cmdline.Flags {
	f.examples = 3
	return cmdline.Flags{
		cmdline.Whole("limit", "sentences to use, from the start; 0: all", &f.limit, 0, math.MaxInt32),
		cmdline.Whole("examples", "sentences whose fillings the report shows", &f.examples, 0, 1000),
		cmdline.Flag("strict", "stop at the first line that cannot be filled", &f.strict),
		traceFlag(&f.trace),
		cmdline.Flag("quiet", "print results only", &f.quiet),
		progressFlag(&f.progress),
	}
}

func compareCommand(std console.IO) *cli.Command {
	f := &compareFlags{}
	return &cli.Command{
		Name: "compare",
		UsageText: `infill compare sentences.txt
infill compare sentences.txt --samplers gibbs,dmala --steps 20 --html report.html
infill compare corpus.txt --mask-rate 0.25 --reference books.txt`,
		Usage:       "run several samplers on the same sentences and compare diversity and quality",
		ArgsUsage:   "INPUT",
		Description: compareDescription,
		Flags: cmdline.Join(f.modelFlags.flags(), f.sampling().Under(fillingGroup),
			f.own().Under(printingGroup),
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

func (f *compareFlags) run(c *cli.Context, std console.IO) (err error) {
	r := &comparer{bench: bench{std: std, quiet: f.quiet, progress: f.progress}, strict: f.strict}
	defer func() { err = errors.Join(err, r.close()) }()
	p, err := f.plan(c, std)
	if err != nil {
		return err
	}
	if err := f.openFor(c.Context, r); err != nil {
		return err
	}
	if err := r.take(c.Args().First(), p.sources, f.made.Masking, f.limit); err != nil {
		return err
	}
	compared := &measure.Comparison{Command: typedCommand(), Date: today(), Model: r.model,
		Version: version(), Seed: r.opt.Seed, Budget: r.opt.Sampling.Budget, Protocol: f.protocol()}
	for _, t := range r.tasks {
		compared.Sources = append(compared.Sources, t.Source)
	}
	closeJudge, err := f.openJudge(c.Context, &p.measure.Options)
	if err != nil {
		return err
	}
	r.atEnd(closeJudge)
	if p.measure.Judge != nil && p.measure.Judge.Sum == r.sum {
		r.notes = append(r.notes, sameJudge)
	}
	// Nothing that is wrong with a file may throw samples away, so all are read before.
	prepared, err := measure.Prepare(compared.Sources, p.references, p.measure)
	if err != nil {
		return err
	}
	begin()
	for i, s := range p.samplers {
		name := s.Info().Name
		r.bar = r.begins(name, i, len(p.samplers), len(r.tasks))
		r.name = strings.TrimSpace(name + " " + p.params[i])
		r.engine.Forget() // no sampler profits from what another asked
		run, err := r.run(c.Context, s)
		r.bar.Clear()
		if err != nil {
			return fmt.Errorf("sampler %s: %w", name, err)
		}
		run.Params = p.params[i]
		compared.Samplers = append(compared.Samplers, *run)
	}
	compared.Notes = r.notes
	res, err := prepared.Compare(compared)
	if err != nil {
		return err
	}
	return r.ended(&f.reportFlags, show.Compare(res))
}

// modelName names a model in a report.
func modelName(m *mlm.Model) string {
	return strings.TrimSpace(m.Info().Architecture + " sha256:" + m.Info().SHA256[:16])
}

// today is the date of a report.
