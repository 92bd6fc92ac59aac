package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/infill"
	"infill/infill/batch"
	"infill/infill/profile"
	"infill/infill/records"
	"infill/infill/settings"
	"infill/internal/count"
	"infill/internal/disk"
	"infill/mlm"
	"infill/samplers"
)

const tuneDescription = "" +
	`CORPUS has texts with blanks, one a line or as JSON lines, or with --mask-rate or --mask-words
complete sentences. A random sample of them is filled, with one burn-in each, and what the
sampler adapts is averaged for each number of blanks. Fillings with --profile then need no
burn-in. A profile is for one model, one sampler and one gradient mode.`

// minTuneSteps are the fewest steps with one in their first half, in which a sampler adapts. With
// fewer a profile would have the values that the sampler began with.
const minTuneSteps = 2

// tuneFlags are the flags of infill tune.
type tuneFlags struct {
	modelFlags
	fillingFlags
	settings.File
	sample int
	output string
	force  bool
	quiet  bool
}

func tuneCommand(std stdio) *cli.Command {
	f := &tuneFlags{sample: 50}
	filling := without(f.fillingFlags.flags(), "profile", "method", "score", "effort", "rows",
		"row-context", "top", "select", "case",
		"marginals", "log-z", "anneal", "budget", "collect", "thin", "min-edits", "max-edits", "max-drop",
		"encoder", "min-similarity", "max-similarity")
	own := []*option{
		wholeFlag("sample", "texts to tune on, drawn from all with --seed", &f.sample, 1, 100_000),
		writeFlag("output", "`FILE` for the profile", &f.output),
		boolFlag("force", "overwrite an output that exists", &f.force),
		boolFlag("quiet", "print nothing", &f.quiet),
	}
	own[1].alias = "o"
	f.File = *settings.FileDefaults()
	for _, o := range settingFlags(settings.FileTable(), &f.File, nil) {
		if o.name == "format" || o.name == "text-field" {
			own = append(own, o)
		}
	}
	for _, o := range filling {
		if o.name == "steps" { // no probabilities are estimated
			o.usage = "steps of every chain"
		}
	}
	f.Filling.Options.Steps, f.Filling.Options.Chains = 200, 8
	return &cli.Command{
		Name:        "tune",
		Usage:       "tune a sampler on a sample of a corpus, for fillings without burn-in",
		ArgsUsage:   "CORPUS -o PROFILE",
		Description: tuneDescription,
		Flags: join(f.modelFlags.flags(), group(groupFill, filling),
			group(groupOutput, ownEnv("tune", own, "sample"))),
		Action: func(c *cli.Context) error { return f.run(c, std) },
	}
}

func (f *tuneFlags) run(c *cli.Context, std stdio) (err error) {
	switch {
	case c.NArg() != 1:
		return usagef("one file of texts, got %d arguments; try: infill tune texts.txt -o profile.json",
			c.NArg())
	case f.output == "":
		return usagef("no file for the profile: -o FILE")
	case f.Filling.Options.Steps < minTuneSteps:
		return usagef("--steps %d adapts nothing: the first half of the steps is for that; give %d or "+
			"more, or leave --steps out", f.Filling.Options.Steps, minTuneSteps)
	}
	path := c.Args().First()
	targets := []target{{"-o", f.output}}
	if err := checkTargets(targets, append(f.reads(), path)...); err != nil {
		return err
	}
	if err := checkReplaced(targets, f.force); err != nil {
		return err
	}
	if err := f.stdin(std.in, path == "-"); err != nil {
		return err
	}
	if err := f.ready(); err != nil {
		return err
	}
	texts, corpus, err := sampleOf(path, std.in, f.sample, *f.Seed,
		batch.InputOptions{Format: f.Format, TextField: f.TextField})
	if err != nil {
		return err
	}
	m, err := f.open(c.Context)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	warn(std, m, f.quiet)
	engine, err := f.prepare(c.Context, m, f.secondModels(), std.err, f.quiet)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Parts.Close()) }()
	pool, left, err := f.tune(c.Context, m, engine, texts)
	if err != nil {
		return err
	}
	p, err := f.profileOf(m, pool)
	if err != nil {
		return err
	}
	p.Corpus = corpus
	p.Corpus.Sampled -= left.texts
	b, err := p.Encode()
	if err != nil {
		return err
	}
	if err := disk.Write(f.output, b); err != nil {
		return err
	}
	if !f.quiet {
		fmt.Fprint(std.err, tuned(p, left))
	}
	return nil
}

// profileOf is the profile without its corpus.
func (f *tuneFlags) profileOf(m *mlm.Model, pool *profile.Pool) (*profile.Profile, error) {
	said, err := settings.Recorded(settings.FillTable(), &f.Filling, settings.Defaults())
	if err != nil {
		return nil, err
	}
	said["seed"] = fmt.Sprint(*f.Seed)
	p := &profile.Profile{
		Format: profile.Format, Version: version(), Model: modelHash(m),
		Sampler: f.Sampler, Gradient: mlm.GradientModeNames()[f.Filling.Options.Gradient],
		Settings: said, Tuned: pool.Entries(),
	}
	if p.Params, err = f.Parameters(); err != nil {
		return nil, err
	}
	if len(p.Tuned) == 0 {
		return nil, fmt.Errorf("no text was tuned: the sampler %s adapts nothing, or the texts leave it "+
			"nothing to choose (infill samplers lists what can be auto)", p.Sampler)
	}
	_, err = p.Samplers()
	return p, err
}

// leftOut are the texts of the sample that could not be filled.
type leftOut struct {
	texts int
	first error // of the first one, with its line
}

// tune fills the texts and gathers what was adapted. Texts that cannot be filled are left out.
func (f *tuneFlags) tune(ctx context.Context, m *mlm.Model, engine *infill.Engine,
	texts []batch.Item) (pool *profile.Pool, left leftOut, err error) {
	begin()
	pool = &profile.Pool{}
	for i := range texts {
		found, err := f.one(ctx, engine, &texts[i])
		switch {
		case ctx.Err() != nil:
			return nil, left, ctx.Err()
		case errors.Is(err, samplers.ErrParam):
			return nil, left, err // of all texts
		case err != nil:
			if left.texts == 0 {
				left.first = orMask(fmt.Errorf("line %d: %w", texts[i].Line, err))
			}
			left.texts++
		default:
			pool.Add(found)
		}
	}
	if left.texts == len(texts) {
		return nil, left, left.first
	}
	return pool, left, nil
}

// one is what is adapted to one text. The settings of its line hold, but for those of the sampling.
func (f *tuneFlags) one(ctx context.Context, e *infill.Engine, it *batch.Item) ([]infill.Tuning,
	error) {
	if it.Err != nil {
		return nil, it.Err
	}
	line, _, err := f.ForLine(e.Tokenizer(), records.FieldsOf(it))
	if err != nil {
		return nil, err
	}
	opt, all := line.Options, &f.Filling.Options
	opt.ID, opt.Seed, opt.Steps, opt.Chains = it.Key(), all.Seed, all.Steps, all.Chains
	opt.NoSteps = all.NoSteps
	opt.Sampler, opt.Gradient, opt.Start, opt.Starts = all.Sampler, all.Gradient, all.Start, all.Starts
	// What is adapted is for one temperature, and nothing is estimated or taken.
	opt.Anneal, opt.Marginals, opt.Normalize = nil, false, false
	opt.Budget, opt.Collect, opt.Thin = infill.BudgetSteps, infill.CollectLast, 0
	t, _, err := records.TemplateOf(e.Tokenizer(), it, line, &opt)
	if err != nil {
		return nil, err
	}
	return e.Tune(ctx, t, opt)
}

// sampleOf draws n texts of a file, in its order, and hashes what was read. Every text is as likely
// to be drawn as any other (Waterman's algorithm R, in Knuth 1997, section 3.4.2).
func sampleOf(path string, stdin io.Reader, n int, seed uint64, o batch.InputOptions) (
	_ []batch.Item, _ profile.Corpus, err error) {
	fail := func(err error) ([]batch.Item, profile.Corpus, error) { return nil, profile.Corpus{}, err }
	sum := sha256.New()
	stream := io.TeeReader(stdin, sum)
	in, err := batch.Open(path, stream, o)
	if err != nil {
		return fail(err)
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	rng := rand.New(rand.NewPCG(seed, 0x74756e65)) //nolint:gosec // a sample, no secret
	var kept []batch.Item
	all := 0
	for {
		it, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fail(err)
		}
		all++
		if len(kept) < n {
			kept = append(kept, it)
		} else if j := rng.IntN(all); j < n {
			kept[j] = it
		}
	}
	if all == 0 {
		return fail(usagef("%s: no text", in.Name))
	}
	if path == "-" {
		_, err = io.Copy(io.Discard, stream)
	} else {
		err = hashFile(sum, path)
	}
	if err != nil {
		return fail(err)
	}
	slices.SortFunc(kept, func(a, b batch.Item) int { return a.Line - b.Line })
	return kept, profile.Corpus{
		SHA256: "sha256:" + hex.EncodeToString(sum.Sum(nil)), Texts: all, Sampled: len(kept),
	}, nil
}

// hashFile hashes a file.
func hashFile(sum io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	_, err = io.Copy(sum, f)
	return err
}

// tuned says what a profile has, and what was left out of it.
func tuned(p *profile.Profile, left leftOut) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, tuned on %d of %s", p.Sampler, p.Corpus.Sampled,
		count.Of(p.Corpus.Texts, "text"))
	b.WriteByte('\n')
	if left.texts > 0 {
		which := ""
		if left.texts > 1 {
			which = "the first in "
		}
		fmt.Fprintf(&b, "%d of the sample could not be filled, %s%s\n", left.texts, which,
			printable(message(left.first)))
	}
	for _, e := range p.Tuned {
		noun := "coordinates"
		if e.Coordinates == 1 {
			noun = "coordinate"
		}
		fmt.Fprintf(&b, "%4d %-11s %4d text%s", e.Coordinates, noun, e.Texts, count.S(e.Texts))
		if e.Acceptance != nil {
			fmt.Fprintf(&b, ", acceptance %.2f", *e.Acceptance)
		}
		for _, name := range slices.Sorted(maps.Keys(e.Values)) {
			fmt.Fprintf(&b, ", %s %.3g", strings.ReplaceAll(name, "-", " "), e.Values[name])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// modelHash names a model in manifests and profiles.
func modelHash(m *mlm.Model) string { return "sha256:" + m.Info().SHA256 }
