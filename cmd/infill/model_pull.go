package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"infill/models"
	"infill/models/hub"
)

const modelPullDescription = "" +
	`Every file is fetched at a fixed version and compared with its SHA-256. A download that was
interrupted goes on where it stopped. HTTPS_PROXY, HTTP_PROXY and NO_PROXY are honoured.`

func modelPullCommand(std stdio) *cli.Command {
	var file, mode string
	var offline, quiet bool
	address := hub.DefaultHub
	flags := []*option{
		catalogueFlag(&file),
		textFlag("hub", "`URL` of a mirror of the hub", &address),
		boolFlag("offline", "download nothing; say what is missing and where to put it", &offline),
		boolFlag("quiet", "print the folder only", &quiet),
		wordFlag("progress", "auto|json|none, on standard error", &mode, "auto", "json", "none"),
	}
	return &cli.Command{
		Name:        "pull",
		Usage:       "download models by name, checked, into the cache; prints their folders",
		ArgsUsage:   "NAME...",
		Description: modelPullDescription,
		Flags:       join(flags),
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return usagef("no model named; infill model list shows the names")
			}
			catalogue, cache, err := modelShelf(file)
			if err != nil {
				return err
			}
			var wanted []*hub.Model
			for _, name := range c.Args().Slice() {
				if _, ok := models.Find(name); ok {
					return usagef("the model %s is part of the command; nothing to download", name)
				}
				m, err := catalogue.Find(name)
				if err != nil {
					return unknownModel(catalogue, name)
				}
				wanted = append(wanted, m)
			}
			for _, m := range wanted {
				p := &pullProgress{meter: newMeter(mode, quiet, std.err)}
				o := hub.Options{Hub: address, Offline: offline, Progress: p.show}
				if !quiet {
					o.Log = p.note
				}
				if err := pullOne(c.Context, std, cache, m, o, p); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func pullOne(ctx context.Context, std stdio, cache hub.Cache, m *hub.Model, o hub.Options,
	p *pullProgress) error {
	if cache.State(m) != hub.Present && !o.Offline && o.Log != nil {
		o.Log(fmt.Sprintf("%s: %s, %s, from %s", m.Name, megabytes(m.Size()), m.Licence, m.Home))
	}
	if !m.Pinned() { // said even with --quiet
		p.note(fmt.Sprintf("warning: %s: the catalogue does not know the hashes of %s; what the first "+
			"download brings is trusted, recorded, and compared ever after",
			m.Name, unpinned(m)))
	}
	begin()
	folder, err := cache.Pull(ctx, m, o)
	p.clear()
	switch {
	case errors.Is(err, context.Canceled):
		p.note(fmt.Sprintf("what has arrived is kept; infill model pull %s goes on there", m.Name))
		return err
	case err != nil:
		return hubError(err)
	}
	_, err = fmt.Fprintln(std.out, folder)
	return err
}

// unpinned names the files whose hashes are not known in advance.
func unpinned(m *hub.Model) string {
	var out []string
	for _, f := range m.Files {
		if !f.Pinned() {
			out = append(out, f.Path)
		}
	}
	return strings.Join(out, ", ")
}

// pullProgress shows how far a download is.
type pullProgress struct {
	meter
	start time.Time
	first int64 // bytes that were there at the start
}

func (p *pullProgress) show(h hub.Progress) {
	now := time.Now()
	if p.start.IsZero() {
		p.start, p.first = now, h.Done
	}
	if !p.due(now, 200*time.Millisecond, time.Second, h.Done >= h.Total) {
		return
	}
	rate := 0.0
	if s := now.Sub(p.start).Seconds(); s > 0 {
		rate = float64(h.Done-p.first) / s
	}
	if p.mode == "json" {
		p.line(`"model":%q,"file":%q,"bytes":%d,"of":%d,"per_second":%.0f`,
			h.Model, h.File, h.Done, h.Total, rate)
		return
	}
	p.draw(fmt.Sprintf("%s %s of %s, %.1f MB/s  %s", bar(h.Done, h.Total), megabytes(h.Done),
		megabytes(h.Total), rate/1e6, h.File))
}

// note prints a line above the bar.
func (p *pullProgress) note(line string) {
	p.clear()
	fmt.Fprintln(p.w, printable(line))
}
