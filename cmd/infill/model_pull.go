package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/internal/count"
	"infill/internal/disk"
	"infill/internal/textline"
	"infill/models"
	"infill/models/hub"
)

const modelPullDescription = "" +
	`NAME is one of infill model list, or OWNER/NAME or OWNER/NAME@REVISION of the hub, which has to
have an ONNX export. Every file is fetched at a fixed version. Its SHA-256 is compared with the
program's, or with that of the first download. A download that was interrupted goes on where it
stopped. HTTPS_PROXY, HTTP_PROXY and NO_PROXY are honoured, and so are HF_TOKEN and HF_ENDPOINT.`

// pullFlags are the flags of infill model pull.
type pullFlags struct {
	address, file, mode string
	offline, quiet      bool
}

func modelPullCommand(std console.IO) *cli.Command {
	// Redacted, as the help shows it. One with a password is refused in either form.
	f := &pullFlags{address: hub.Redacted(hub.ForeignHub())}
	flags := cmdline.Flags{
		cmdline.Flag("file",
			"`PATH` of the repository's ONNX file, such as onnx/model_fp16.onnx, in place "+
				"of model.onnx", &f.file),
		cmdline.Flag("hub", "`URL` of a mirror of the hub", &f.address),
		cmdline.Flag("offline", "download nothing; check what is in the cache", &f.offline),
		cmdline.Flag("quiet", "print the folder only", &f.quiet),
		cmdline.Word("progress", "auto|json|none, on standard error", &f.mode, "auto", "json", "none"),
	}
	flags[0].Env = "" // it is for one model
	return &cli.Command{
		Name: "pull",
		UsageText: `infill model pull answerdotai/ModernBERT-base
infill model pull bert-base-uncased`,
		Usage:       "download models by name, checked, into the cache; prints their folders",
		ArgsUsage:   "NAME...",
		Description: modelPullDescription,
		Flags:       cmdline.Join(flags),
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return usagef("no model named; infill model list shows names, and the hub has others: " +
					"infill model pull OWNER/NAME")
			}
			return f.pull(c.Context, std, c.Args().Slice())
		},
	}
}

func (f *pullFlags) pull(ctx context.Context, std console.IO, names []string) error {
	cache, err := hub.UserCache()
	if err != nil {
		return err
	}
	if f.file != "" {
		f.file = path.Clean(filepath.ToSlash(f.file))
	}
	for _, name := range names {
		_, part := models.Find(name)
		switch {
		case part:
			return usagef("the model %s is part of the command; nothing to download", name)
		case f.file != "" && (!hub.IsRepository(name) || len(names) > 1):
			return usagef("--file goes with one OWNER/NAME of the hub")
		case !hub.IsRepository(name) && cache.Find(name, "") == nil:
			return unknownModel(name)
		}
	}
	o := hub.Options{Hub: f.address, Offline: f.offline}
	if !o.Offline {
		if o.Token, err = hub.Token(f.address); err != nil {
			return err
		}
	}
	for _, name := range names {
		p := &pullProgress{Meter: console.NewMeter(f.mode, f.quiet, std.Err), model: name}
		o.Progress, o.Log = p.show, nil
		if !f.quiet {
			o.Log = p.note
		}
		if err := f.one(ctx, std, cache, name, o, p); err != nil {
			return hubError(err)
		}
	}
	return nil
}

// one pulls a model and prints its folder.
func (f *pullFlags) one(ctx context.Context, std console.IO, cache hub.Cache, name string,
	o hub.Options, p *pullProgress) error {
	begin()
	m, err := cache.Look(ctx, name, f.file, o)
	if err != nil {
		return err
	}
	if !cache.Has(m) && !o.Offline && o.Log != nil {
		for _, line := range announced(m, o.Hub) {
			o.Log(line)
		}
	}
	folder, err := cache.Pull(ctx, m, o)
	p.Clear()
	if errors.Is(err, context.Canceled) {
		p.note(fmt.Sprintf("what has arrived is kept; infill model pull %s goes on there", name))
	}
	if err != nil {
		return err
	}
	return printText(std.Out, folder+"\n")
}

// announced says what is going to be downloaded, and from where.
func announced(m *hub.Model, address string) []string {
	text := fmt.Sprintf("%s: %s, %s, from %s", m, count.Bytes(m.Size()), m.Licence, m.Page(address))
	if m.Commit == "" {
		return []string{text}
	}
	text += fmt.Sprintf(" at commit %.12s, trusted on first use", m.Commit)
	var sizes []string
	for _, f := range m.Files {
		if f.Bytes >= 1e6 || f.Path == m.Export() {
			sizes = append(sizes, path.Base(f.Path)+" "+count.Bytes(f.Bytes))
		}
	}
	if rest := len(m.Files) - len(sizes); rest > 0 {
		sizes = append(sizes, count.Of(rest, "small file"))
	}
	return []string{text, "  " + m.Note, "  " + strings.Join(sizes, ", ")}
}

// pullProgress shows how far a download is.
type pullProgress struct {
	console.Meter
	model string
	start time.Time
	first int64 // bytes that were there at the start
}

func (p *pullProgress) show(file string, done, total int64) {
	now := time.Now()
	if p.start.IsZero() {
		p.start, p.first = now, done
	}
	if !p.Due(now, 200*time.Millisecond, time.Second, done >= total) {
		return
	}
	rate := 0.0
	if s := now.Sub(p.start).Seconds(); s > 0 {
		rate = float64(done-p.first) / s
	}
	if p.Mode == "json" {
		p.Line(`"model":%q,"file":%q,"bytes":%d,"of":%d,"per_second":%.0f`,
			p.model, file, done, total, rate)
		return
	}
	p.Draw(fmt.Sprintf("%s %s of %s, %.1f MB/s  %s", p.Bar(done, total), count.Bytes(done),
		count.Bytes(total), rate/1e6, file))
}

// note prints a line above the bar.
func (p *pullProgress) note(line string) {
	p.Clear()
	fmt.Fprintln(p.W, textline.Printable(line))
}

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
				if err := printRecord(std.Out, asJSON, v, v.text); err != nil {
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

// text is the verification for people.
func (v *verification) text() string {
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
	return b.String()
}
