package main

import (
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/cmdline"
	"infill/infill"
	"infill/infill/text"
	"infill/report"
)

// A published value is that of a flag of infill compare in the experiment of a paper.
type published struct{ flag, value string }

// papers are the experiments that --paper names. Values that are defaults today stand here too:
// they are the paper's, whatever the defaults become.
var papers = map[string][]published{
	// Zhang, Liu and Liu, ICML 2022, section 7.5, appendix I.6 and Table 3. Every sampler makes as
	// many steps, and any of the model's tokens may fill a blank. The paper does not say where chains
	// begin, nor what the step sizes are: here at random words, and adapted.
	// U as their score is what every comparison has.
	"dlp": {
		{"samplers", "gibbs,gwg,dula,dmala"},
		{"chains", "25"}, {"steps", "50"}, {"budget", "steps"}, {"start", "random"},
		{"temperature", "1"}, {"vocab", "all"}, {"gradient", "full"}, {"shortlist", "0"},
		{"collect", "last"}, {"top", "5"}, {"select", "likelihood"},
		{"bleu-order", "4"}, {"self-bleu", "corpus"}, {"ngrams", "2,3"},
	},
}

// paperNote says how the samplers of DLP are run there, where nothing of it is chosen. The defaults
// were chosen for rows and for the best fillings.
func paperNote(o *infill.Options) string {
	s := o.Sampling.Sampler
	if s == nil || o.Sampling.Steps != 0 || o.Results.Collect != infill.CollectVisited {
		return ""
	}
	name := s.Info().Name
	if name != "dula" && name != "dmala" {
		return ""
	}
	return fmt.Sprintf("%s makes %d steps here, and every state that it visited is ranked; its paper "+
		"has --steps %d --start random --collect last --vocab all", name, infill.DefaultSteps,
		infill.PublishedSteps)
}

// paperMaskRate is the share of words that DLP masks.
const paperMaskRate = .25

// paperFlag is the flag that names one of papers.
func paperFlag(p *string) *cmdline.Option {
	return cmdline.Word("paper",
		"the settings of a paper's experiment, but for flags that you set; dlp: "+
			"Zhang et al. 2022, section 7.5, with a quarter of the words of texts without blanks masked", p,
		"none", "dlp")
}

// publish sets what the paper has, but for flags that are set, also in the environment.
func (f *compareFlags) publish(c *cli.Context) error {
	for _, s := range papers[f.paper] {
		i := slices.IndexFunc(c.Command.Flags, func(g cli.Flag) bool { return g.Names()[0] == s.flag })
		if i < 0 {
			return fmt.Errorf("--paper %s: no flag is called %s", f.paper, s.flag)
		}
		if c.IsSet(s.flag) || s.flag == "bleu-order" && f.weights != "" { // weights say the order
			continue
		}
		if err := c.Command.Flags[i].(*cmdline.Option).Set(s.value); err != nil {
			return fmt.Errorf("--paper %s: --%s %s: %w", f.paper, s.flag, s.value, err)
		}
	}
	return nil
}

// publishMasks masks the paper's share of the words of texts without blanks.
func (f *compareFlags) publishMasks(c *cli.Context, sources []report.Source) {
	blank := func(s report.Source) bool { return text.LooksBlank(s.Text) }
	if papers[f.paper] == nil || c.IsSet("mask-rate") || c.IsSet("mask-words") ||
		slices.ContainsFunc(sources, blank) {
		return
	}
	f.Masking.Rate = paperMaskRate
}

// paperNotes say what the paper's table has and this one lacks.
func (f *compareFlags) paperNotes() []string {
	if papers[f.paper] == nil || len(f.references) > 1 {
		return nil
	}
	return []string{"the paper's table has two references, 5,000 sentences each of WikiText-103 and " +
		"of TBC: --reference wiki103.5k.txt --reference tbc.5k.txt"}
}
