package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"strings"

	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/infill"
	"infill/infill/energies"
	"infill/infill/settings"
	"infill/mlm"
)

// fillingFlags are the flags of every command that fills blanks.
type fillingFlags struct {
	settings.Fill
	made       *settings.Filling // of Fill, by prepare
	seedChosen bool              // by the command, not by its user
}

// flags are the flags of all settings of a Fill. usage has texts of the command in place of the
// usual ones.
func (f *fillingFlags) flags(usage map[string]string) cmdline.Flags {
	f.Fill = *settings.Defaults()
	// The texts below say what only a command line has.
	texts := map[string]string{
		"sampler": `sampler; "infill samplers" lists them`,
		"top":     "fillings to print, best first",
		"budget": "what --steps measures: steps; evaluations or rows: every sampler gets as many as " +
			"this many steps of one evaluation take",
		"param": "`NAME=VALUE` of a sampler's parameter; repeatable",
		"seed":  "seed of all randomness, 0 to 2^64-1; chosen and printed when unset",
		"ban":   "`WORDS` that fill no blank, comma separated; repeatable",
		"allow": "`FILE` of the only words or phrases that fill blanks, one a line",
		"energy": "add a `PART=WEIGHT` to the energy that is sampled and ranked, repeatable: " +
			energies.Forms(true),
		"marginals": "print the probabilities of the words of each blank and of whole texts, with " +
			"standard errors; as many as --top",
	}
	maps.Copy(texts, usage)
	flags := cmdline.Settings(settings.FillTable(), &f.Fill, texts)
	for _, o := range flags {
		if o.Name == "top" {
			o.Alias = "n"
		}
	}
	return flags.Under(fillingGroup)
}

// ready checks what needs no model, and chooses a seed if none is given.
func (f *fillingFlags) ready() (err error) {
	if f.Seed == nil {
		f.seedChosen = true
		if f.Seed, err = chooseSeed(); err != nil {
			return err
		}
	}
	_, err = f.NewSampler()
	return cmp.Or(err, f.Check(), f.CheckFiles())
}

// saySeed says how to repeat a run whose seed the command has chosen.
func (f *fillingFlags) saySeed(w io.Writer) {
	if f.seedChosen {
		fmt.Fprintf(w, "seed %d (repeat with --seed %[1]d)\n", *f.Seed)
	}
}

// chooseSeed draws a seed that is short enough to be typed again.
func chooseSeed() (*uint64, error) {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return nil, fmt.Errorf("choosing a seed: %w", err)
	}
	seed := binary.LittleEndian.Uint64(b[:]) % 1_000_000
	return &seed, nil
}

// settled checks options that no line changes any more, and says what they want of the model.
func (f *fillingFlags) settled(m *modelFlags) error {
	if err := f.CheckOptions(); err != nil {
		return err
	}
	m.mayRound(&f.Fill)
	return nil
}

// An openEngine is an open model and an engine on it. close closes both.
type openEngine struct {
	*infill.Engine
	model *mlm.Model
	close func() error
}

// engine opens the model, with gradients or without, and an engine on it.
func (f *fillingFlags) engine(ctx context.Context, std console.IO, from *modelFlags,
	gradients, quiet bool) (*openEngine, error) {
	from.Options.Forward = !gradients
	m, err := from.open(ctx)
	if err != nil {
		return nil, err
	}
	warn(std, m, quiet)
	e, err := f.prepare(ctx, m, from.secondModels(), std.Err, quiet)
	if err != nil {
		_ = from.close()
		return nil, err
	}
	return &openEngine{e, m, func() error {
		err := f.CloseParts()
		_ = from.close()
		return err
	}}, nil
}

// prepare makes the filling, notes banned words that have no effect, and returns an engine.
func (f *fillingFlags) prepare(ctx context.Context, m *mlm.Model, o energies.Options, w io.Writer,
	quiet bool) (*infill.Engine, error) {
	made, engine, err := f.Open(ctx, m, o)
	if err != nil {
		return nil, err
	}
	f.made = made
	if n := len(made.Unspelt); n > 0 && !quiet {
		fmt.Fprintf(w, "infill: --ban: the model's vocabulary cannot spell %s, "+
			"which it fills in nowhere\n", strings.Join(made.Unspelt, ", "))
	}
	return engine, nil
}

// reads are the files that the flags name.
func (f *fillingFlags) reads() []string {
	paths := energies.Files(f.Words.Energy)
	for _, s := range settings.FillTable() {
		if path, _ := s.File(&f.Fill); path != "" {
			paths = append(paths, path)
		}
	}
	return paths
}

// stdin lets one of the files be standard input, unless that has the texts.
func (f *fillingFlags) stdin(in io.Reader, texts bool, references ...string) error {
	var wanted []string
	if texts {
		wanted = append(wanted, "the texts")
	}
	for _, s := range settings.FillTable() {
		if path, stream := s.File(&f.Fill); stream && path == "-" {
			wanted = append(wanted, "--"+s.Name)
		}
	}
	wanted = append(wanted, asStdin("--reference", references)...)
	if err := onlyOnce(wanted); err != nil {
		return err
	}
	if len(wanted) == 1 && !texts && console.IsTerminal(in) {
		return usagef("%s -: no input; name a file, or pipe one in", wanted[0])
	}
	f.Stdin = in
	return nil
}

// asStdin has the name for each of the paths that is standard input.
func asStdin(name string, paths []string) []string {
	var out []string
	for _, path := range paths {
		if path == "-" {
			out = append(out, name)
		}
	}
	return out
}

// onlyOnce refuses that several files are standard input, which can be read once.
func onlyOnce(wanted []string) error {
	switch {
	case len(wanted) < 2:
		return nil
	case wanted[0] == wanted[1]:
		return usagef("standard input can be %s once; name a file for the other", wanted[0])
	}
	return usagef("standard input can be %s or %s, not both; name a file for one of them", wanted[0],
		wanted[1])
}
