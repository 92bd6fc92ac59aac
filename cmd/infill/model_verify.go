package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/advice"
	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/infill/jsonl"
	"infill/infill/open"
	"infill/internal/disk"
	"infill/models"
	"infill/models/hub"
)

const modelVerifyDescription = "" +
	`Without an argument the embedded models are compared with their cards. A folder of your own is
compared with its SHA256SUMS (as sha256sum writes it) or the table of files in its README.md.`

// errVerify ends a verification that found files missing or changed.
var errVerify = errors.New("a model is not what it should be; infill model pull NAME fetches " +
	"again what is damaged")

// A verification is what verify found of one model.
type verification struct {
	Model  string      `json:"model"`            // its name or the folder
	Folder string      `json:"folder,omitempty"` // "" for an embedded model
	Files  []hub.Check `json:"files"`
	OK     bool        `json:"ok"`
}

func modelVerifyCommand(std console.IO) *cli.Command {
	var all, asJSON bool
	flags := []*cmdline.Option{
		cmdline.Bool("all", "the embedded models and every model in the cache", &all),
		jsonFlag(&asJSON),
	}
	return &cli.Command{
		Name:      "verify",
		UsageText: `infill model verify --all`,
		Usage: "hash the files of models and compare: with the catalogue, the record of the " +
			"download, or the folder's own list",
		ArgsUsage:   "[NAME|FOLDER...]",
		Description: modelVerifyDescription,
		Flags:       cmdline.Join(flags),
		Action: func(c *cli.Context) error {
			cache, err := hub.UserCache()
			if err != nil {
				return err
			}
			names := c.Args().Slice()
			if all && len(names) > 0 {
				return usagef("--all and names exclude each other")
			}
			if len(names) == 0 {
				for _, m := range models.All() {
					names = append(names, m.Name)
				}
			}
			if all {
				for _, m := range cache.Models() {
					if cache.Has(m) {
						names = append(names, cache.Folder(m))
					}
				}
			}
			fault := false
			for _, name := range names {
				v, err := verifyModel(c.Context, cache, name)
				if err != nil {
					return err
				}
				fault = fault || !v.OK
				if asJSON {
					err = jsonl.Encode(std.Out, v)
				} else {
					err = printVerification(std.Out, v)
				}
				if err != nil {
					return err
				}
			}
			if fault {
				return errVerify
			}
			return nil
		},
	}
}

func verifyModel(ctx context.Context, cache hub.Cache, name string) (*verification, error) {
	v := &verification{Model: name}
	var err error
	if files, ok := models.Find(name); ok {
		v.Files, err = hub.VerifyFolder(ctx, files)
	} else if m := fetchedModel(cache, name); m != nil {
		v.Model, v.Folder = m.String(), cache.Folder(m)
		if _, serr := os.Stat(v.Folder); serr != nil {
			return nil, fmt.Errorf("the model %s is not in the cache; infill model pull %s downloads it",
				m, advice.PullWords(m))
		}
		v.Files, err = cache.Verify(ctx, m)
	} else {
		var src open.Source
		if src, err = resolveModel(name, ""); err != nil {
			return nil, err
		}
		v.Folder = src.Dir
		v.Files, err = verifyDir(ctx, src.Dir)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	v.OK = faults(v.Files) == 0
	return v, nil
}

// fetchedModel is the pulled model that a name or the path of its folder means, nil if there is
// none.
func fetchedModel(cache hub.Cache, name string) *hub.Model {
	if _, err := os.Stat(name); err != nil {
		return cache.Find(name, "")
	}
	for _, m := range cache.Models() {
		if disk.Same(name, cache.Folder(m)) {
			return m
		}
	}
	return nil
}

// verifyDir looks at a folder with the links that opening a model follows.
func verifyDir(ctx context.Context, dir string) ([]hub.Check, error) {
	files, done, err := openRoot(dir)
	if err != nil {
		return nil, err
	}
	defer done()
	return hub.VerifyFolder(ctx, files)
}

// openRoot opens a folder. No link leads out of it. Those of a snapshot in Hugging Face's cache may
// lead to wherever its repository is.
func openRoot(dir string) (files fs.FS, done func(), err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, nil, err
	}
	base, below := disk.Repository(dir)
	root, err := os.OpenRoot(base)
	if err != nil {
		return nil, nil, err
	}
	files, err = fs.Sub(disk.RootFS(root), filepath.ToSlash(below))
	if err != nil {
		return nil, nil, errors.Join(err, root.Close())
	}
	return files, func() { _ = root.Close() }, nil
}

// faults counts what is missing, differs or does not belong.
func faults(checks []hub.Check) (n int) {
	for _, c := range checks {
		if c.Fault() {
			n++
		}
	}
	return n
}

func printVerification(out io.Writer, v *verification) error {
	var b strings.Builder
	b.WriteString(console.Printable(v.Model))
	if v.Folder != "" && v.Folder != v.Model {
		fmt.Fprintf(&b, " in %s", console.Printable(v.Folder))
	}
	b.WriteString("\n")
	for _, c := range v.Files {
		size := "–"
		if c.Bytes >= 0 {
			size = fmt.Sprint(c.Bytes)
		}
		fmt.Fprintf(&b, "  %-10s  %12s  %-64s  %s\n", c.Result, size, c.SHA256, console.Printable(c.Path))
		if c.Fault() && c.SHA256 != "" && c.Want != "" {
			fmt.Fprintf(&b, "  %-10s  %12s  %s  (%s)\n", "", "should be", c.Want, c.By)
		}
	}
	switch n := faults(v.Files); {
	case n == 1:
		b.WriteString("  1 file is missing, differs or does not belong\n")
	case n > 1:
		fmt.Fprintf(&b, "  %d files are missing, differ or do not belong\n", n)
	default:
		fmt.Fprintf(&b, "  whole, as %s says\n", strings.Join(authorities(v.Files), " and "))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// authorities lists what the files were compared with.
func authorities(checks []hub.Check) []string {
	var out []string
	for _, c := range checks {
		if !c.Fault() && c.Want != "" && !slices.Contains(out, c.By) {
			out = append(out, c.By)
		}
	}
	return out
}
