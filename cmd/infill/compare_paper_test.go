package main

import (
	"math"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/infill"
	"infill/infill/settings"
	"infill/infill/text"
	"infill/internal/testmode"
	"infill/report"
)

// paperRun has the settings that a command line of infill compare leads to.
type paperRun struct {
	plan  *comparePlan
	flags *compareFlags
}

// planned reads a command line as far as nothing needs a model.
func planned(t *testing.T, args ...string) paperRun {
	t.Helper()
	f := &compareFlags{}
	var out paperRun
	app := &cli.App{Commands: []*cli.Command{{
		Name: "compare",
		Flags: cmdline.Join(f.modelFlags.flags(), f.sampling(), f.own(), f.measureFlags.flags("metric-case",
			"intervals")),
		Action: func(c *cli.Context) (err error) {
			out.flags = f
			out.plan, err = f.plan(c, console.IO{In: strings.NewReader("")})
			return err
		},
	}}}
	if err := app.Run(append([]string{"infill", "compare"}, args...)); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return out
}

// The preset is section 7.5 of the paper, read from the paper itself where it is at hand.
func TestPaperSettings(t *testing.T) {
	t.Parallel()
	whole := write(t, "whole.txt", "the dog sleeps in the house .\n")
	got := planned(t, "--paper", "dlp", whole)
	o := got.flags.fillingFlags.Options
	if s := o.Sampling; s.Chains != 25 || s.Steps != 50 || s.Budget != infill.BudgetSteps ||
		s.Start != infill.StartRandom || s.Temperature != 1 || s.Shortlist != 0 {
		t.Errorf("sampling %+v", s)
	}
	if o.Results.Top != 5 || o.Results.Collect != infill.CollectLast || o.Results.Select == infill.SelectDiverse ||
		o.Words.Vocab != text.VocabAll || got.flags.Masking.Rate != .25 {
		t.Errorf("%+v, %+v, %+v", o.Results, o.Words.Vocab, got.flags.Masking)
	}
	m := got.plan.measure
	if len(m.Ngrams) != 2 || m.Ngrams[0] != 2 || m.Ngrams[1] != 3 || m.Order != 4 ||
		m.SelfBLEU != "corpus" || m.Top != 5 {
		t.Errorf("measures %+v", m)
	}
	var names []string
	for _, s := range got.plan.samplers {
		names = append(names, s.Info().Name)
	}
	if list := strings.Join(names, " "); list != "gibbs gwg dula dmala" {
		t.Errorf("samplers %s", list)
	}
	t.Run("text", paperSays)
}

// paperSays looks the numbers up in the text of the paper.
func paperSays(t *testing.T) {
	text := get(t, testmode.Shared(t, "papers", "000_afe358fca1da7133.txt"))
	for _, says := range []string{`mask 25% of the words`, `sample 25 sentences`,
		`run all samplers for 50 steps`, `select the top-5 sentences`, `N=30,522`} {
		if !strings.Contains(text, says) {
			t.Errorf("the paper does not say %q", says)
		}
	}
}

// A flag that is given wins, by its short form and from the environment too.
func TestPaperYields(t *testing.T) {
	blank := write(t, "blank.txt", "the [MASK] sleeps .\n")
	t.Setenv(settings.EnvName("budget"), "rows")
	got := planned(t, "--paper", "dlp", "--steps", "7", "-n", "2", "--start", "argmax", "--samplers",
		"rows", "--ngrams", "1", "--weights", "1,1", blank)
	o := got.flags.fillingFlags.Options
	if o.Sampling.Steps != 7 || o.Sampling.Chains != 25 || o.Results.Top != 2 ||
		o.Sampling.Start != infill.StartArgmax || o.Sampling.Budget != infill.BudgetRows {
		t.Errorf("%+v, %+v", o.Sampling, o.Results)
	}
	if s := got.plan.samplers; len(s) != 1 || s[0].Info().Name != "rows" {
		t.Errorf("samplers %v", s)
	}
	if m := got.plan.measure; len(m.Ngrams) != 1 || m.Order != 0 {
		t.Errorf("measures %+v", m)
	}
	// A text that has blanks is not masked, nor one whose masks are given.
	whole := write(t, "whole.txt", "the dog sleeps in the house .\n")
	if r := got.flags.Masking.Rate; r != 0 {
		t.Errorf("%g of the words of a text with blanks", r)
	}
	if m := planned(t, "--paper", "dlp", "--mask-words", "2", whole).flags.Masking; m.Rate != 0 {
		t.Errorf("masks %+v", m)
	}
	if m := planned(t, whole).flags.Masking; m.On() {
		t.Errorf("masks %+v without a paper", m)
	}
}

// The command makes the table of the paper with small.
func TestPaperTable(t *testing.T) {
	t.Parallel()
	whole := write(t, "whole.txt",
		"The old man went down to the house.\nShe opened the door and walked in.\n")
	ref := write(t, "ref.txt", "The old man went home.\nThe dog sleeps in the house.\n")
	other := write(t, "other.txt", "She opened the window and looked out.\n")
	args := []string{"--model", "small", "--paper", "dlp", "--steps", "4", "--chains", "6"}
	res, _ := comparison(t, 0, append(args, "--reference", ref, "--reference", other, whole)...)
	if len(res.Rows) != 4 || res.Sentences != 2 {
		t.Fatalf("%d rows of %d sentences", len(res.Rows), res.Sentences)
	}
	for _, row := range res.Rows {
		if n := value(t, row, "steps"); n != 4 {
			t.Errorf("%s: %v steps", row.Name, n)
		}
		for _, key := range []string{"self_bleu", "bleu"} {
			if v := value(t, row, key); math.IsNaN(v) || v < 0 || v > 100 {
				t.Errorf("%s: %s %v", row.Name, key, v)
			}
		}
		unique := 0
		for _, m := range row.Metrics {
			if strings.HasPrefix(m.Key, "unique.") {
				unique++
			}
		}
		if unique != 6 {
			t.Errorf("%s: %d columns of unique n-grams", row.Name, unique)
		}
	}
	if p := res.Protocol; !strings.Contains(p, "25 % of the words masked, 6 chains × 4 steps, "+
		"start random, last state, top 5 by score, vocabulary all") {
		t.Errorf("protocol %q", p)
	}
	lacks := func(r *report.CompareResult) bool {
		return strings.Contains(strings.Join(r.Notes, "\n"), "two references")
	}
	if lacks(res) {
		t.Errorf("notes %q", res.Notes)
	}
	res, _ = comparison(t, 0, append(args, "--samplers", "rows", whole)...)
	if !lacks(res) {
		t.Errorf("notes %q without references", res.Notes)
	}
}

// A sampler of the paper says how the paper runs it, where nothing of that is chosen.
func TestPaperNote(t *testing.T) {
	t.Parallel()
	const note = "--steps 50 --start random --collect last --vocab all"
	for _, c := range []struct {
		args []string
		says bool
	}{
		{[]string{"--sampler", "dmala"}, true},
		{[]string{"--sampler", "dula"}, true},
		{[]string{"--sampler", "rows"}, false},
		{[]string{"--sampler", "dmala", "--steps", "20"}, false},
		{[]string{"--sampler", "dmala", "--collect", "last"}, false},
		{[]string{"--sampler", "dmala", "--quiet"}, false},
	} {
		r := infillRun("", append(withTiny("fill", "--seed", "1", "--chains", "2"), append(c.args,
			"the [MASK] sleeps in the [MASK] .")...)...)
		if r.code != 0 || strings.Contains(r.err, note) != c.says {
			t.Errorf("%v: exit %d, %s", c.args, r.code, r.err)
		}
	}
}
