package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/samplers"
)

func samplersCommand(std console.IO) *cli.Command {
	var asJSON bool
	return &cli.Command{
		Name: "samplers",
		UsageText: `infill samplers
infill samplers dmala`,
		Usage:     "the samplers with their parameters",
		ArgsUsage: "[NAME…]",
		Flags:     cmdline.Join(cmdline.Flags{jsonFlag(&asJSON)}),
		Action: func(c *cli.Context) error {
			list := samplers.List()
			if c.NArg() > 0 {
				list = nil
				for _, name := range c.Args().Slice() {
					info, err := samplers.Lookup(name)
					if err != nil {
						return err
					}
					list = append(list, info)
				}
			}
			for i, s := range list {
				text := func() string { return strings.Repeat("\n", min(i, 1)) + samplerText(s) }
				if err := printRecord(std.Out, asJSON, samplerRecord(s), text); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// onText says by the name of a sampler what a step costs on sentences, for m tokens in the blanks.
var onText = map[string]string{
	"gibbs":    "1 row",
	"gibbs-mh": "1 row, and then m rows for m tokens",
	"rows":     "m rows for m tokens, no backward pass",
	"dmala":    withGradient,
	"dula":     withGradient + ", 2b with a batch of b, which is at least 2",
	"gwg":      withGradient,
	"dlmc":     withGradient,
	"acs":      withGradient,
	"sgdld": "for a batch of b, 2b rows with Taylor rates, where b is at least 2, and with ratios b " +
		"for every word that a blank could have; ratios are affordable for 16 neighbours or fewer",
}

const withGradient = "m rows for m tokens, with a backward pass"

// needsOf joins what a sampler needs with commas.
func needsOf(s samplers.Info) string {
	words := make([]string, len(s.Needs))
	for i, n := range s.Needs {
		words[i] = n.String()
	}
	return strings.Join(words, ", ")
}

// samplerText describes a sampler for people.
func samplerText(s samplers.Info) string {
	var b strings.Builder
	exact := "exact"
	if !s.Exact {
		exact = "not exact"
	}
	fmt.Fprintf(&b, "%s  %s (%s)\n  %s\n  needs %s; per step: %s\n", s.Name, s.Title, exact, s.Doc,
		needsOf(s), s.Cost)
	if text := onText[s.Name]; text != "" {
		fmt.Fprintf(&b, "  on text: %s\n", text)
	}
	for _, p := range s.Params {
		fmt.Fprintf(&b, "    %-18s %s; %s; default %s\n", p.Name, p.Doc, p.Range(), p.Default)
	}
	return b.String()
}

type paramJSON struct {
	Name    string `json:"name"`
	Doc     string `json:"doc"`
	Range   string `json:"range"`
	Default string `json:"default"`
}

type samplerJSON struct {
	Name   string      `json:"name"`
	Title  string      `json:"title"`
	Doc    string      `json:"doc"`
	Exact  bool        `json:"exact"`
	Needs  string      `json:"needs"`
	Cost   string      `json:"cost"`
	OnText string      `json:"on_text,omitempty"`
	Params []paramJSON `json:"params"`
}

func samplerRecord(s samplers.Info) samplerJSON {
	r := samplerJSON{Name: s.Name, Title: s.Title, Doc: s.Doc, Exact: s.Exact,
		Needs: needsOf(s), Cost: s.Cost, OnText: onText[s.Name], Params: []paramJSON{}}
	for _, p := range s.Params {
		r.Params = append(r.Params, paramJSON{p.Name, p.Doc, p.Range(), p.Default})
	}
	return r
}
