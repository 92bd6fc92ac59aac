package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/infill/jsonl"
	"infill/internal/disk"
	"infill/internal/textline"
	"infill/models"
	"infill/models/hub"
)

// errVerify ends a verification that found files missing or changed.
var errVerify = errors.New("a model is not what it should be; infill model pull NAME fetches " +
	"again what is damaged")

// A verification is what verify found of one model.
type verification struct {
	Model  string      `json:"model"`
	Folder string      `json:"folder"`
	Files  []hub.Check `json:"files"`
	OK     bool        `json:"ok"`
}

func modelVerifyCommand(std console.IO) *cli.Command {
	var all, asJSON bool
	flags := cmdline.Flags{cmdline.Flag("all", "every model in the cache", &all), jsonFlag(&asJSON)}
	return &cli.Command{
		Name:      "verify",
		UsageText: `infill model verify --all`,
		Usage: "hash the files of pulled models and compare: with the catalogue, or the record of " +
			"the download",
		ArgsUsage: "[NAME|FOLDER...]",
		Flags:     cmdline.Join(flags),
		Action: func(c *cli.Context) error {
			cache, err := hub.UserCache()
			if err != nil {
				return err
			}
			names := c.Args().Slice()
			if all != (len(names) == 0) {
				return usagef("verify takes names of pulled models, or --all")
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
	if _, part := models.Find(name); part {
		return nil, usagef("the model %s is part of the command; only pulled models are compared", name)
	}
	m := pulledModel(cache, name)
	if m == nil {
		if _, err := resolveModel(name, ""); err != nil {
			return nil, err
		}
		return nil, usagef("%s was not pulled; for a folder of your own write its hashes down, "+
			"sha256sum * > SHA256SUMS, and compare: sha256sum -c SHA256SUMS", name)
	}
	v := &verification{Model: m.String(), Folder: cache.Folder(m)}
	if _, err := os.Stat(v.Folder); err != nil {
		_, _, err := cache.Locate(m.String(), "")
		return nil, err
	}
	var err error
	if v.Files, err = cache.Verify(ctx, m); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	v.OK = !slices.ContainsFunc(v.Files, hub.Check.Fault)
	return v, nil
}

// pulledModel is the model of the hub that a name or the path of its folder means, nil if there is
// none.
func pulledModel(cache hub.Cache, name string) *hub.Model {
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

func printVerification(out io.Writer, v *verification) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s in %s\n", textline.Printable(v.Model), textline.Printable(v.Folder))
	by := ""
	for _, c := range v.Files {
		size := "–"
		if c.Bytes >= 0 {
			size = fmt.Sprint(c.Bytes)
		}
		fmt.Fprintf(&b, "  %-10s  %12s  %-64s  %s\n", c.Result, size, c.SHA256,
			textline.Printable(c.Path))
		if c.Fault() && c.SHA256 != "" && c.Want != "" {
			fmt.Fprintf(&b, "  %-10s  %12s  %s  (%s)\n", "", "should be", c.Want, c.By)
		}
		by = c.By
	}
	if v.OK {
		fmt.Fprintf(&b, "  whole, as %s says\n", by)
	}
	_, err := io.WriteString(out, b.String())
	return err
}
