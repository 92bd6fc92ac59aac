package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/infill/batch"
	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/internal/count"
	"infill/internal/unpack"
)

// fileFlags are the flags of every command that works through a file.
type fileFlags struct {
	settings.File
	output        string
	outputFlag    *option
	resume, force bool
	strict        bool
	maxErrors     int64
	okIfLinesFail bool
	quiet         bool
	progress      string
}

func (f *fileFlags) flags() []*option {
	f.File = *settings.FileDefaults()
	f.maxErrors = -1
	output := writeFlag("output", "write to a `FILE`, .gz and .zst compressed; - is standard output",
		&f.output)
	output.alias = "o"
	f.outputFlag = output
	return append(append([]*option{output}, settingFlags(settings.FileTable(), &f.File, nil)...),
		boolFlag("resume", "go on with an output that was left unfinished", &f.resume),
		boolFlag("force", "overwrite an output that exists", &f.force),
		boolFlag("strict", "stop before the first line that fails", &f.strict),
		wholeFlag("max-errors", "stop when more lines than this fail; -1: never", &f.maxErrors, -1,
			1<<40),
		boolFlag("ok-if-lines-fail",
			"exit with 0 although lines failed or standard input is empty, for engines that repeat a task "+
				"otherwise", &f.okIfLinesFail),
		boolFlag("quiet", "print no notes and no progress", &f.quiet),
		progressFlag(&f.progress),
	)
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

// input opens the file of records. Nothing on standard input is an error, as
// it is of every command, unless an engine feeds it parts that may be empty; a
// named file may be empty, and so is then its output.
// The output must not take the place of the input, nor of the other files that
// the command reads.
func (f *fileFlags) input(ctx context.Context, path string, std stdio, others ...string) (
	*batch.Input, error) {
	if path == "-" && isTerminal(std.in) {
		return nil, usagef("no input; name a file, or pipe one in")
	}
	if f.output != "" && f.output != "-" {
		flag := f.outputFlag.spelling()
		targets := []target{{flag, f.output}}
		if info, err := os.Stat(f.output); err != nil || info.Mode().IsRegular() {
			what := flag + " " + f.output + ": its manifest"
			targets = append(targets, target{what, batch.ManifestPath(f.output)})
			what = flag + " " + f.output + ": its records until the end"
			targets = append(targets, target{what, batch.PartPath(f.output)})
		}
		if err := checkTargets(targets, append(others, path)...); err != nil {
			return nil, err
		}
		if l, err := f.layout(); err != nil {
			return nil, err
		} else if err := l.Free(f.output); err != nil && !f.resume && !f.force {
			return nil, err
		}
	}
	in, err := batch.Open(path, newInterruptible(ctx, std.in), batch.InputOptions{
		Format: f.Format, TextField: f.TextField, Quote: f.Quote, Limit: f.Limit,
		Shard: f.Shard})
	if err == nil && path == "-" && !f.okIfLinesFail && in.Empty() {
		return nil, errors.Join(usagef("no text on standard input"), in.Close())
	}
	if err == nil {
		f.sayText(std, path, in)
	}
	return in, err
}

// fileWork is what a command does with the records of a file.
type fileWork struct {
	do      func(context.Context, *batch.Item) (batch.Record, error)
	known   func(*batch.Item, *jsonl.Record) error // see batch.Job.Known; nil for none
	begins  func()                                 // told once nothing can be refused; nil for none
	summary func() string                          // besides the numbers of records; nil for none
	meant   func(jsonl.Field) string               // what a field of data may mean, see meantBy
	note    func() string                          // what else there is to say, "" for nothing; or nil
}

// maxReported is how many lines that fail are told of. The output has all of them.
const maxReported = 20

// work runs a job over the input: opens the output, tells of progress and of
// lines that fail, and says how to go on after an early end.
func (f *fileFlags) work(c *cli.Context, std stdio, in *batch.Input, man *batch.Manifest,
	layout batch.Layout, workers int, w fileWork) error {
	begin()
	survey, err := in.Survey()
	if err != nil {
		return err
	}
	var out *batch.Output
	if f.output != "" && f.output != "-" {
		mode := batch.Create
		switch {
		case f.resume:
			mode = batch.Resume
		case f.force:
			mode = batch.Force
		}
		man.SHA256, man.Bytes, man.Input = survey.SHA256, survey.Bytes, in.Name
		man.Limit, man.Shard = f.Limit, f.Shard
		out, err = man.Open(f.output, in, mode, layout)
	} else {
		out, err = layout.Stream(std.out, in)
	}
	if err != nil {
		return err
	}
	if w.begins != nil {
		w.begins()
	}
	f.sayRenamed(std, out, in, "columns")
	resumable := out.Resumable()
	bar := newBatchProgress(f.progress, f.quiet, workers, std.err)
	job := batch.Job{Input: in, Output: out, Workers: workers, Do: w.do, Known: w.known, Texts: true,
		MaxErrors: int(f.maxErrors), Progress: bar.show, Total: survey.Records}
	if f.strict {
		job.MaxErrors = 0
	}
	reported := 0
	job.Report = func(line int, cause error) {
		if reported++; f.quiet || reported > maxReported {
			return
		}
		bar.clear()
		switch c.Command.Name {
		case "batch":
			cause = orMask(cause)
		case "score":
			cause = ofRanking(cause)
		}
		fmt.Fprintf(std.err, "infill: %s\n", message(atLine(line, cause)))
		if reported == maxReported {
			fmt.Fprintln(std.err, "infill: what else fails is said in the output alone")
		}
	}
	job.Settings = func(line int, names []string) {
		if !f.quiet {
			bar.clear()
			fmt.Fprintf(std.err, "infill: from line %d on, taken as settings of their lines: %s\n",
				line, strings.Join(names, ", "))
		}
	}
	job.Data = func(line int, field jsonl.Field) {
		if says := w.meant(field); says != "" && !f.quiet {
			bar.clear()
			fmt.Fprintf(std.err, "infill: from line %d on, the field %s is data: %s\n", line,
				printable(field.Name), says)
		}
	}
	p, err := job.Run(c.Context)
	bar.clear()
	if in.Format() == settings.FormatJSONL { // whose fields are known only now
		f.sayRenamed(std, out, in, "fields")
	}
	if w.note != nil && !f.quiet {
		if note := w.note(); note != "" {
			fmt.Fprintf(std.err, "infill: %s\n", note)
		}
	}
	if !f.quiet && out.Dropped > 0 {
		fmt.Fprintf(std.err, "infill: %s: cut off %s of a record that was not whole\n", out.File(),
			count.Of(int(out.Dropped), "byte"))
	}
	switch {
	case err != nil && resumable && damaged(err):
		fmt.Fprintf(std.err, "infill: %s has %d record%s of what came before the damage; get the input "+
			"again whole, then begin again with:\n  %s\n", out.File(), p.Records, count.S(p.Records),
			againCommand(c, "--force"))
		return err
	case err != nil && resumable && !errors.Is(err, batch.ErrMismatch):
		fmt.Fprintf(std.err, "infill: %s has %d record%s; go on with:\n  %s\n", out.File(), p.Records,
			count.S(p.Records), againCommand(c, "--resume"))
		return err
	case err != nil:
		return err
	}
	if !f.quiet {
		fmt.Fprintf(std.err, "infill: %s\n", bar.summary(p))
		if w.summary != nil && (p.Resumed == 0 || p.Resumed < p.Records) { // else nothing was counted
			fmt.Fprintf(std.err, "infill: %s\n", w.summary())
		}
	}
	if p.Failed > 0 && !f.okIfLinesFail {
		return errSomeFailed
	}
	return nil
}

// sayRenamed says which columns or fields of the input have another name in the output.
func (f *fileFlags) sayRenamed(std stdio, out *batch.Output, in *batch.Input, what string) {
	var renamed []string
	for _, r := range out.Renamed(in) {
		renamed = append(renamed, printable(r[0])+" to "+printable(r[1]))
	}
	if len(renamed) > 0 && !f.quiet {
		fmt.Fprintf(std.err, "infill: %s of the input are renamed, because the output has such names of "+
			"its own: %s\n", what, strings.Join(renamed, ", "))
	}
}

// layout is the form of the output.
func (f *fileFlags) layout() (batch.Layout, error) {
	return batch.Layout{Format: f.OutputFormat, Per: f.Per, Quote: f.Quote}.Found(f.output)
}

// recordFile puts what the manifest has of the files into its settings.
func (f *fileFlags) recordFile(recorded map[string]string, in *batch.Input, l batch.Layout) error {
	ofFile, err := settings.Recorded(settings.FileTable(), &f.File, settings.FileDefaults())
	maps.Copy(recorded, ofFile)
	recorded["format"] = in.Format().String()
	if in.Format() != settings.FormatTSV {
		delete(recorded, "quote") // the records do not depend on it
	}
	if l.Format != settings.FormatJSONL {
		recorded["output-format"] = l.Format.String() // a later setting than the others
	}
	recorded[platformSetting] = platform
	return err
}

// damaged says whether the input is at fault. Nothing goes on with an output made of it, which does
// not belong to the file that is whole. A disk or a pipe that fails may read it the next time.
func damaged(err error) bool {
	var file *fs.PathError
	return errors.Is(err, unpack.ErrDamaged) && !errors.Is(err, context.Canceled) &&
		!errors.As(err, &file)
}

// againCommand is the command line as it was typed, that goes on with the output or overwrites it.
func againCommand(c *cli.Context, flag string) string {
	typed, _ := c.App.Metadata["args"].([]string)
	args := []string{"infill"}
	for _, a := range typed {
		switch strings.TrimLeft(a, "-") {
		case "force", "resume", "force=true", "resume=true":
			if strings.HasPrefix(a, "-") {
				continue
			}
		}
		args = append(args, a)
	}
	// Before a lone --, after which all are arguments.
	return strings.Join(quoted(append([]string{args[0], args[1], flag}, args[2:]...)), " ")
}
