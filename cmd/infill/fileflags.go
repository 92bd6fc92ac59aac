package main

import (
	"context"
	"errors"
	"maps"
	"os"
	"runtime"

	"infill/cmd/infill/internal/advice"
	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/infill/batch/input"
	"infill/infill/batch/output"
	"infill/infill/settings"
)

// fileFlags are the flags of every command that works through a file.
type fileFlags struct {
	settings.File
	output        string
	outputFlag    *cmdline.Option
	resume, force bool
	strict        bool
	maxErrors     int64
	okIfLinesFail bool
	quiet         bool
	progress      string
}

func (f *fileFlags) flags() cmdline.Flags {
	f.File = *settings.FileDefaults()
	f.maxErrors = -1
	output := cmdline.Write("output",
		"write to a `FILE`, .gz and .zst compressed; - is standard output",
		&f.output)
	output.Alias = "o"
	f.outputFlag = output
	return append(append(cmdline.Flags{output}, cmdline.Settings(settings.FileTable(), &f.File,
		nil)...),
		cmdline.Flag("resume", "go on with an output that was left unfinished", &f.resume),
		cmdline.Flag("force", "overwrite an output that exists", &f.force),
		cmdline.Flag("strict", "stop before the first line that fails", &f.strict),
		cmdline.Whole("max-errors", "stop when more lines than this fail; -1: never", &f.maxErrors, -1,
			1<<40),
		cmdline.Flag("ok-if-lines-fail",
			"exit with 0 although lines failed or standard input is empty, for engines that repeat a task "+
				"otherwise", &f.okIfLinesFail),
		cmdline.Flag("quiet", "print no notes and no progress", &f.quiet),
		progressFlag(&f.progress),
	)
}

// jsonFlag and progressFlag are the flags that several commands have.
func jsonFlag(p *bool) *cmdline.Option {
	return cmdline.Flag("json", "print one JSON object a line", p)
}

func progressFlag(p *string) *cmdline.Option {
	return cmdline.Word("progress", "auto|json|none", p, "auto", "json", "none")
}

func (f *fileFlags) check() error {
	switch {
	case f.resume && f.force:
		return usagef("--resume goes on with the output, --force overwrites it: give one of them")
	case (f.resume || f.force) && (f.output == "" || f.output == "-"):
		return usagef("--resume and --force are for an output file: -o FILE")
	}
	return nil
}

// input opens the file of records that become an output. Nothing on standard input is an error, as
// it is of every command, unless an engine feeds it parts that may be empty; a named file may be
// empty, and so is then its output. The output must not take the place of the input, nor of the
// other files that the command reads.
func (f *fileFlags) input(ctx context.Context, of pair, std console.IO, others ...string) (
	*input.Reader, error) {
	path, to := of.input, of.output
	if err := noInput(path, std); err != nil {
		return nil, err
	}
	if to != "" && to != "-" {
		flag := f.outputFlag.Spelling()
		targets := []target{{flag, to}}
		if info, err := os.Stat(to); err != nil || info.Mode().IsRegular() {
			manifest, part := output.Beside(to)
			targets = append(targets, target{flag + " " + to + ": its manifest", manifest},
				target{flag + " " + to + ": its records until the end", part})
		}
		if err := checkTargets(targets, append(others, path)...); err != nil {
			return nil, err
		}
		l, err := f.anyLayout().Found(to)
		if err == nil && !f.resume && !f.force {
			err = l.Free(to)
		}
		if err != nil {
			return nil, err
		}
	}
	stdin := std.In
	if path == "-" {
		stdin = interruptible(ctx, stdin)
	}
	in, err := input.Open(path, stdin, input.Options(f.Input))
	if err == nil && path == "-" && !f.okIfLinesFail && in.Empty() {
		return nil, errors.Join(usagef("no text on standard input"), in.Close())
	}
	if err == nil {
		f.sayText(std, path, in)
	}
	return in, err
}

// noInput refuses a terminal in the place of a file.
func noInput(path string, std console.IO) error {
	if path == "-" && console.IsTerminal(std.In) {
		return usagef("no input; name a file, or pipe one in")
	}
	return nil
}

// anyLayout is the form of outputs whose names say the rest.
func (f *fileFlags) anyLayout() output.Layout {
	return output.Layout{Format: f.OutputFormat, Per: f.Per, Quote: f.Quote, Delimiter: f.Delimiter,
		Encoding: f.OutputEncoding}
}

// mode says what happens to an output that exists.
func (f *fileFlags) mode() output.Mode {
	switch {
	case f.resume:
		return output.Resume
	case f.force:
		return output.Force
	}
	return output.Create
}

// recordFile puts what the manifest has of the files into its settings.
func (f *fileFlags) recordFile(recorded map[string]string, in *input.Reader,
	l output.Layout) error {
	ofFile, err := settings.FileTable().Recorded(&f.File)
	maps.Copy(recorded, ofFile)
	recorded["format"] = in.Format().String()
	if in.Format() != settings.FormatTSV {
		delete(recorded, "quote") // the records do not depend on it
	}
	if in.Format() != settings.FormatCSV && l.Format != settings.FormatCSV {
		delete(recorded, "delimiter")
	}
	recorded["output-format"] = l.Format.String()
	recorded[advice.PlatformSetting] = platform
	return err
}

// platform is the manifest's name of the machine: floating-point results are not the same on all.
const platform = runtime.GOOS + "/" + runtime.GOARCH
