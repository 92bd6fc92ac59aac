package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/infill"
)

func scoreCommand(std stdio) *cli.Command {
	var f modelFlags
	var asJSON bool
	j := boolFlag("json", "print one JSON object a line")
	j.Destination = &asJSON
	return &cli.Command{
		Name:      "score",
		Usage:     "pseudo-log-likelihood of complete sentences",
		ArgsUsage: "TEXT… | -",
		Description: "Prints, for every text, the sum over its word pieces of log f(piece | the rest, that\n" +
			"piece masked), in nats: nearer to 0 is likelier. With - or without TEXT, reads\n" +
			"standard input, one text a line.",
		Flags: append(f.flags(), j),
		Action: func(c *cli.Context) error {
			texts, err := manyTexts(c.Args().Slice(), std.in)
			if err != nil {
				return err
			}
			m, err := f.open(c.Context)
			if err != nil {
				return err
			}
			defer func() { _ = m.Close() }()
			e := infill.New(m)
			return eachText(std, texts, asJSON, c.NArg() == 1, false, func(n int, text string) error {
				s, err := e.Score(c.Context, text)
				if err != nil {
					return err
				}
				if asJSON {
					return encodeJSON(std.out, struct {
						Line int `json:"line"`
						*infill.Score
						Model string `json:"model"`
					}{n, s, "sha256:" + m.Info().SHA256})
				}
				var b strings.Builder
				fmt.Fprintf(&b, "%8.2f  %s\n", s.Score, shown(std.out, text))
				for _, p := range s.Pieces {
					fmt.Fprintf(&b, "  %8.2f  %s\n", p.LogProb, p.Piece)
				}
				_, err = io.WriteString(std.out, b.String())
				return err
			})
		},
	}
}

// shown is a text as it may be printed on a writer.
func shown(out io.Writer, text string) string {
	if isTerminal(out) {
		return printable(text)
	}
	return text
}
