package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/infill/jsonl"
	"infill/internal/count"
	"infill/internal/textline"
	"infill/models"
	"infill/models/hub"
)

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
				return printList(std.Out, all)
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

func printList(out io.Writer, all []listed) error {
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
	_, err := io.WriteString(out, b.String())
	return err
}
