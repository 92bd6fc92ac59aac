package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/infill/jsonl"
	"infill/samplers"
)

func samplersCommand(std stdio) *cli.Command {
	var asJSON bool
	return &cli.Command{
		Name:      "samplers",
		Usage:     "the samplers with their parameters",
		ArgsUsage: "[NAME…]",
		Flags:     join([]*option{jsonFlag(&asJSON)}),
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
				if asJSON {
					if err := jsonl.Encode(std.out, samplerRecord(s)); err != nil {
						return err
					}
					continue
				}
				if err := printSampler(std.out, s, i > 0); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func printSampler(out io.Writer, s samplers.Info, gap bool) error {
	var b strings.Builder
	if gap {
		b.WriteByte('\n')
	}
	exact := "exact"
	if !s.Exact {
		exact = "not exact"
	}
	fmt.Fprintf(&b, "%s  %s (%s)\n  %s\n  needs %s; per step: %s\n", s.Name, s.Title, exact, s.Doc,
		s.Needs, s.Cost)
	for _, p := range s.Params {
		fmt.Fprintf(&b, "    %-18s %s; %s; default %s\n", p.Name, p.Doc, p.Range(), p.Default)
	}
	_, err := io.WriteString(out, b.String())
	return err
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
	Params []paramJSON `json:"params"`
}

func samplerRecord(s samplers.Info) samplerJSON {
	r := samplerJSON{Name: s.Name, Title: s.Title, Doc: s.Doc, Exact: s.Exact,
		Needs: s.Needs.String(), Cost: s.Cost, Params: []paramJSON{}}
	for _, p := range s.Params {
		r.Params = append(r.Params, paramJSON{p.Name, p.Doc, p.Range(), p.Default})
	}
	return r
}
