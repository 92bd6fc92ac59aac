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
	"infill/infill/text"
	"infill/internal/count"
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
	benchFlags
	measureFlags
	samplers, trace string
	limit, examples int
}

// sampling are the flags of sampling, without those that --samplers and the parameters beside its
// names stand for.
func (f *compareFlags) sampling() cmdline.Flags {
	f.samplers = "gibbs,gwg,dula,dmala"
	flags := cmdline.Flags{
		cmdline.Flag("samplers", "`SAMPLERS` to compare, comma separated, each with parameters after "+
			"colons: dmala:balance=ratio", &f.samplers),
	}
	all := f.fillingFlags.flags(map[string]string{
		"steps": "every sampler gets what this many steps of one model evaluation each take",
	})
	f.fillingFlags.Options.Sampling.Budget = infill.BudgetEvaluations
	f.fillingFlags.Options.Sampling.Steps = infill.PublishedSteps
	f.fillingFlags.Options.Results.Collect = infill.CollectLast // draws, of all samplers as many
	return append(flags, all.Without(settings.FillTable().NotOf("compare")...)...)
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
			f.flags("metric-case", "intervals over the sentences: of BLEU, of self-BLEU, "+
				"and of the samplers' differences from the first")),
		Action: func(c *cli.Context) error {
			if err := oneInput(c, "infill compare sentences.txt --mask-rate 0.25 "+
				"--reference corpus.txt"); err != nil {
				return err
			}
			return f.run(c, std)
		},
	}
}

func (f *compareFlags) run(c *cli.Context, std console.IO) (err error) {
	r := &comparer{compareFlags: f, bench: bench{std: std, flags: &f.benchFlags}}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.plan(c); err != nil {
		return err
	}
	if err := r.open(c.Context); err != nil {
		return err
	}
	if err := r.take(c.Args().First()); err != nil {
		return err
	}
	closeJudge, err := f.openJudge(c.Context, &r.options.Options)
	if err != nil {
		return err
	}
	r.atEnd(closeJudge)
	if j := r.options.Judge; j != nil && j.Sum == modelHash(r.on.model) {
		r.notes = append(r.notes, sameJudge)
	}
	// Nothing that is wrong with a file may throw samples away, so all are read before.
	prepared, err := measure.Prepare(r.taken, r.references, r.options)
	if err != nil {
		return err
	}
	begin()
	compared := &measure.Comparison{Command: typedCommand(), Date: today(),
		Model: modelName(r.on.model), Version: version(), Seed: f.made.Options.Seed,
		Budget: f.made.Options.Sampling.Budget, Protocol: f.protocol(), Sources: r.taken}
	for i := range r.chosen {
		r.on.Forget() // no sampler profits from what another asked
		run, err := r.filled(c.Context, i)
		if err != nil {
			return err
		}
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
