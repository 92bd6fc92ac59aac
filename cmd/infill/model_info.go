package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/advice"
	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/infill/jsonl"
	"infill/internal/count"
	"infill/internal/textline"
	"infill/mlm"
	"infill/models"
	"infill/models/hub"
)

const modelInfoDescription = "" +
	`If a part of the model is missing or broken, what could be recognised of the others is printed,
with what is wrong, and the exit code is 3.`

func modelInfoCommand(std console.IO) *cli.Command {
	var f modelFlags
	var asJSON bool
	return &cli.Command{
		Name: "info",
		UsageText: `infill model info
infill model info bert-base-uncased`,
		Usage: "what was recognised in a model: architecture, inputs, vocabulary, mask token, " +
			"embedding, head, operators, hash",
		ArgsUsage:   "[MODEL]",
		Description: modelInfoDescription,
		Flags: cmdline.Join(f.flags(), cmdline.Flags{cmdline.Flag("json",
			"print one JSON object", &asJSON)}),
		Action: func(c *cli.Context) error {
			if err := f.modelArgument(c); err != nil {
				return err
			}
			r, err := f.recognise(c.Context)
			if r == nil {
				return err
			}
			return errors.Join(printRecord(std.Out, asJSON, r, r.text), err)
		},
	}
}

// A recognised is what info found.
type recognised struct {
	mlm.Info
	Problems []string `json:"problems,omitempty"` // why the model cannot be used
}

// recognise opens the model, or, if that fails, looks at its parts; then the error of opening comes
// along.
func (f *modelFlags) recognise(ctx context.Context) (*recognised, error) {
	src, err := f.source()
	if err != nil {
		return nil, err
	}
	f.Options.Forward = false // gradients are among the facts
	m, err := f.open(ctx)
	if err == nil {
		defer func() { _ = f.close() }()
		r := &recognised{Info: m.Info()}
		r.packed(src.Part)
		return r, nil
	}
	if ctx.Err() != nil {
		return nil, err
	}
	r := &recognised{}
	var problems []error
	if src.Part != "" {
		r.Info, problems = mlm.Inspect(src.Files(), src.File)
	} else {
		r.Info, problems = mlm.InspectDir(src.Dir, src.File)
	}
	r.packed(src.Part)
	for _, p := range problems {
		r.Problems = append(r.Problems, advice.Message(p))
	}
	if len(problems) == 0 { // the files are fine, the runtime or the comparison of hashes is not
		r.Problems = []string{advice.Message(err)}
	}
	if r.SHA256 == "" && r.Tokens == 0 {
		return nil, err // nothing was recognised
	}
	return r, errors.New("the model cannot be used: " + strings.Join(r.Problems, "; "))
}

// packed gives a model of the program the size that it has there. Unpacked it is larger.
func (r *recognised) packed(name string) {
	for _, m := range models.All() {
		if m.Name == name {
			r.Bytes = m.Bytes()
		}
	}
}

// text is the report for people.
func (i *recognised) text() string {
	var b strings.Builder
	row := func(known bool, name, format string, args ...any) {
		if known {
			fmt.Fprintf(&b, "%-13s %s\n", name, textline.Printable(fmt.Sprintf(format, args...)))
		}
	}
	row(i.SHA256 != "", "file", "%s, %s with its weights", i.File, count.Bytes(i.Bytes))
	row(i.SHA256 != "", "sha256", "%s", i.SHA256)
	row(true, "architecture", "%s", cmp.Or(i.Architecture, "not stated in config.json"))
	row(i.SHA256 != "", "exporter", "%s, opset %d", cmp.Or(i.Producer, "unknown exporter"), i.Opset)
	row(i.SHA256 != "", "parameters", "%.2f M", float64(i.Parameters)/1e6)
	row(i.SHA256 != "", "inputs", "%s", strings.Join(i.Inputs, ", "))
	for _, a := range i.Adapted {
		row(true, "adapted", "%s", a)
	}
	row(i.Tokens > 0, "vocabulary", "%d pieces, mask token %s = %d", i.Tokens, i.Mask, i.MaskID)
	row(i.Known != "", "", "the pieces and ids of %s", i.Known)
	if i.Vocab > 0 && i.Vocab != i.Tokens {
		more := ""
		if i.Tokens > 0 && i.Vocab > i.Tokens {
			more = fmt.Sprintf(", the last %d of no piece, which are never chosen", i.Vocab-i.Tokens)
		}
		row(true, "logits", "%d%s", i.Vocab, more)
	}
	row(i.Typography != "", "typography", "%s", i.Typography)
	row(i.MaxLength > 0, "length", "up to %d pieces, special tokens included", i.MaxLength)
	row(i.Embedding != "", "embedding", "%s, width %d", i.Embedding, i.Hidden)
	if i.Vocab > 0 {
		tied := "its own table"
		if i.Tied {
			tied = "tied to the embedding"
		}
		row(true, "head", "%s, %s", cmp.Or(i.Head, "not a plain product"), tied)
		gradient := "full"
		if !i.Gradients {
			gradient = "forward only: " + i.NoGradients
		}
		row(true, "gradient", "%s", gradient)
	}
	names := slices.Sorted(maps.Keys(i.Ops))
	for k, op := range names {
		names[k] = fmt.Sprintf("%s×%d", op, i.Ops[op])
	}
	row(len(names) > 0, "operators", "%s", strings.Join(names, " "))
	for _, w := range i.Warnings {
		row(true, "WARNING", "%s", w)
	}
	for _, p := range i.Problems {
		row(true, "PROBLEM", "%s", p)
	}
	return b.String()
}

const modelListDescription = "" +
	`Beside the models with short names there are the repositories of the hub that were pulled.
Hash says how a download is checked. pinned: against SHA-256 sums of the program. first use: what
arrives first is recorded, and compared ever after.`

// A listed is one model that list prints.
type listed struct {
	Name         string `json:"name"`
	Architecture string `json:"architecture"`
	Bytes        int64  `json:"bytes"` // as far as known
	Licence      string `json:"licence"`
	Home         string `json:"home"`
	Note         string `json:"note,omitempty"`
	Cached       string `json:"cached"`           // embedded, yes, partly, no
	Hash         string `json:"hash"`             // pinned, or first use
	Commit       string `json:"commit,omitempty"` // of a repository
	Folder       string `json:"folder,omitempty"`
}

func modelListCommand(std console.IO) *cli.Command {
	var asJSON bool
	return &cli.Command{
		Name:        "list",
		Usage:       "the models that have a name: those of the program, of pull, and pulled ones",
		Description: modelListDescription,
		Flags:       cmdline.Join(cmdline.Flags{jsonFlag(&asJSON)}),
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return usagef("model list takes no argument, got %q", c.Args().First())
			}
			cache, noCache := hub.UserCache()
			named := hub.Catalogue()
			if noCache == nil {
				named = cache.Models()
			} else {
				fmt.Fprintf(std.Err, "infill: %s\n", textline.Printable(noCache.Error()))
			}
			var all []listed
			for _, m := range models.All() {
				all = append(all, listed{Name: m.Name, Architecture: "BERT", Licence: m.Licence,
					Bytes: m.Bytes(), Home: "embedded in this command", Note: m.Note,
					Cached: "embedded", Hash: "pinned"})
			}
			for _, m := range named {
				l := listed{Name: m.String(), Architecture: m.Architecture, Bytes: m.Size(), Licence: m.Licence,
					Home: m.Home, Note: m.Note, Cached: "no", Hash: hashWord(m), Commit: m.Commit}
				if noCache == nil {
					l.Cached = cache.State(m)
				}
				if l.Cached == "yes" {
					l.Folder = cache.Folder(m)
				}
				all = append(all, l)
			}
			if !asJSON {
				return printText(std.Out, listOf(all))
			}
			for _, l := range all {
				if err := jsonl.Encode(std.Out, l); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func hashWord(m *hub.Model) string {
	if m.Commit == "" {
		return "pinned"
	}
	return "first use"
}

// listOf is the list for people.
func listOf(all []listed) string {
	name, arch, licence := len("name"), len("architecture"), len("licence")
	for _, l := range all {
		name, arch, licence = max(name, len(l.Name)), max(arch, len(l.Architecture)), max(licence,
			len(l.Licence))
	}
	var b strings.Builder
	row := func(cells ...string) {
		fmt.Fprintf(&b, "%-*s  %-*s  %7s  %-*s  %-8s  %s\n", name, cells[0], arch, cells[1], cells[2],
			licence, cells[3], cells[4], cells[5])
	}
	row("name", "architecture", "size", "licence", "cached", "hash")
	for _, l := range all {
		row(l.Name, l.Architecture, count.Bytes(l.Bytes), l.Licence, l.Cached, l.Hash)
		for _, more := range []string{l.Note, l.Home, l.Folder} {
			if more != "" {
				fmt.Fprintf(&b, "    %s\n", more)
			}
		}
	}
	return b.String()
}
