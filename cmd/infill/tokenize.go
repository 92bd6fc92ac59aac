package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/tokenize"
)

func tokenizeCommand(std console.IO) *cli.Command {
	model := settings.DefaultModel
	var asJSON bool
	flags := cmdline.Flags{
		cmdline.Flag("model",
			"`MODEL`: a folder with a tokenizer's files, or the name of an embedded one",
			&model),
		jsonFlag(&asJSON),
	}
	return &cli.Command{
		Name:        "tokenize",
		UsageText:   `infill tokenize "The cat sat on the mat."`,
		Usage:       "the pieces, ids and byte offsets that a model's tokenizer makes of a text",
		ArgsUsage:   "TEXT… | -",
		Description: "With - or without TEXT, reads standard input, one text a line.",
		Flags:       cmdline.Join(flags),
		Action: func(c *cli.Context) error {
			texts, err := manyTexts(c.Args().Slice(), std)
			if err != nil {
				return err
			}
			tok, err := openTokenizer(model)
			if err != nil {
				return err
			}
			first := true
			return eachText(std, texts, asJSON, c.NArg() == 1 && c.Args().First() != "-", false,
				func(n int, text string) error {
					enc, err := tok.Encode(text)
					if err != nil {
						return err
					}
					pieces := func() string {
						var b strings.Builder
						if !first {
							b.WriteByte('\n')
						}
						first = false
						for i, id := range enc.IDs {
							span := enc.Spans[i]
							fmt.Fprintf(&b, "%7d  %4d–%-4d  %s\n", id, span[0], span[1], enc.Tokens[i])
						}
						return b.String()
					}
					return printRecord(std.Out, asJSON, &jsonl.Tokens{Line: n, Text: text, IDs: enc.IDs,
						Tokens: enc.Tokens, Offsets: enc.Spans}, pieces)
				})
		},
	}
}

// openTokenizer loads only the tokenizer of the model that a flag names.
func openTokenizer(model string) (*tokenize.Tokenizer, error) {
	src, err := resolveModel(model, "")
	if err != nil {
		return nil, err
	}
	return tokenize.Load(src.Files())
}
