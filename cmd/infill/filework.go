package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/advice"
	"infill/cmd/infill/internal/console"
	"infill/infill/batch"
	"infill/infill/batch/input"
	"infill/infill/batch/output"
	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/infill/table"
	"infill/internal/count"
	"infill/internal/textline"
)

// fileWork is what a command does with the records of a file.
type fileWork struct {
	in       *input.Reader
	to       string // the output
	manifest *output.Manifest
	form     output.Layout // of the output
	workers  int           // lines at the same time

	do      func(context.Context, *input.Item) (batch.Record, error)
	known   func(*input.Item, jsonl.Record) error // see batch.Job.Known; nil for none
	begins  func()                                // told once nothing can be refused; nil for none
	advised func(error) error                     // the error of a line with advice; nil: as it is
	summary func() string                         // besides the numbers of records; nil for none
	meant   func(jsonl.Field) string              // what a field of data may mean, see meantBy
	bar     *batchProgress                        // nil: one is made
	doubted *doubted                              // what there is to say of the texts
}

// maxReported is how many lines that fail are told of. The output has all of them.
const maxReported = 20

// A fileRun is a job over a file, and what is said of it.
type fileRun struct {
	*fileFlags
	fileWork
	std      console.IO
	out      *output.Writer
	reported int // lines that fail
}

// work runs a job over the input: opens the output, tells of progress and of
// lines that fail, and says how to go on after an early end.
func (f *fileFlags) work(c *cli.Context, std console.IO, w fileWork) error {
	survey, err := w.in.Survey()
	if err != nil {
		return err
	}
	r := &fileRun{fileFlags: f, fileWork: w, std: std}
	if r.bar == nil {
		r.bar = newBatchProgress(f.progress, f.quiet, w.workers, std.Err)
	}
	r.bar.workers = w.workers
	if r.out, err = r.open(survey); err != nil {
		return err
	}
	begin() // not before, for a pipe without a reader opens only when it has one
	if w.begins != nil {
		w.begins()
	}
	r.sayRenamed("columns")
	resumable := r.out.Resumable() // before it is closed
	job := batch.Job{Input: w.in, Output: r.out, Workers: w.workers, Do: w.do, Known: w.known,
		Texts: true, MaxErrors: f.mayFail(), Progress: r.bar.show, Total: survey.Records,
		Report: r.failed, Settings: r.settings, Data: r.data}
	p, err := job.Run(c.Context)
	r.bar.Clear()
	r.sayOutput()
	if err != nil {
		if resumable {
			r.sayAgain(c, p, err)
		}
		return err
	}
	r.say("%s", r.bar.summary(p))
	if w.summary != nil && (p.Resumed == 0 || p.Resumed < p.Records) { // else nothing was counted
		r.say("%s", w.summary())
	}
	if p.Failed > 0 && !f.okIfLinesFail {
		return errSomeFailed
	}
	return nil
}

// mayFail is how many more lines may fail, −1 for any number.
func (f *fileFlags) mayFail() int {
	switch {
	case f.strict:
		return 0
	case f.maxErrors < 0:
		return -1
	}
	return int(f.maxErrors)
}

// open opens the output.
func (r *fileRun) open(survey input.Survey) (*output.Writer, error) {
	if r.to == "" || r.to == "-" {
		endWithReader(r.std.Out)
		return r.form.Stream(r.std.Out, r.in)
	}
	m := r.manifest
	m.SHA256, m.Bytes, m.Input = survey.SHA256, survey.Bytes, r.in.Name
	m.Limit, m.Shard = r.Limit, r.Shard
	return m.Open(r.to, r.in, r.mode(), r.form)
}

// say prints a note.
func (r *fileRun) say(format string, args ...any) {
	if !r.quiet {
		fmt.Fprintf(r.std.Err, "infill: "+format+"\n", args...)
	}
}

// failed tells of a line that fails.
func (r *fileRun) failed(line int, cause error) {
	if r.reported++; r.quiet || r.reported > maxReported {
		return
	}
	r.bar.Clear()
	if r.advised != nil {
		cause = r.advised(cause)
	}
	r.say("%s", advice.Message(fmt.Errorf("%s %d: %w", r.in.Unit(), line, cause)))
	if r.reported == maxReported {
		r.say("what else fails is said in the output alone")
	}
}

// settings tells that lines have settings of their own.
func (r *fileRun) settings(line int, names []string) {
	if !r.quiet {
		r.bar.Clear()
	}
	r.say("from %s %d on, taken as settings of their %[1]ss: %[3]s", r.in.Unit(), line,
		strings.Join(names, ", "))
}

// data tells of a field that may be meant as a setting.
func (r *fileRun) data(line int, field jsonl.Field) {
	if says := r.meant(field); says != "" && !r.quiet {
		r.bar.Clear()
		r.say("from %s %d on, the field %s is data: %s", r.in.Unit(), line,
			textline.Printable(field.Name), says)
	}
}

// sayRenamed says which columns or fields of the input have another name in the output.
func (r *fileRun) sayRenamed(what string) {
	var renamed []string
	for _, pair := range r.out.Renamed(r.in) {
		renamed = append(renamed, textline.Printable(pair[0])+" to "+textline.Printable(pair[1]))
	}
	if len(renamed) > 0 {
		r.say("%s of the input are renamed, because the output has such names of its own: %s", what,
			strings.Join(renamed, ", "))
	}
}

// sayOutput says at the end what there is to know of the output.
func (r *fileRun) sayOutput() {
	if r.in.Format().JSON() { // whose fields are known only now
		r.sayRenamed("fields")
	}
	if n, first, as := r.out.Escaped(); n > 0 {
		r.say("%s that %s lacks: written as escapes, such as %s for %q", count.Of(n, "character"),
			r.form.Encoding, as, first)
	}
	for _, note := range r.doubted.notes(r.in.Unit()) {
		r.say("%s", note)
	}
	if r.out.Dropped > 0 {
		r.say("%s: cut off %s at its end that the earlier run had not made sure of", r.out.File(),
			count.Of(int(r.out.Dropped), "byte"))
	}
}

// sayAgain says, after an error, how to go on with an output that is a file.
func (r *fileRun) sayAgain(c *cli.Context, p batch.Progress, err error) {
	so, how, flags := "", "go on with", []string{"--resume"}
	var damaged *output.ManifestError
	switch {
	case errors.As(err, &damaged): // which would be refused again
		if damaged.Force {
			fmt.Fprintf(r.std.Err, "infill: begin again with:\n  %s\n", againCommand(c, "--force"))
		}
		return
	case input.Damaged(err):
		so = " of what came before the damage"
		how, flags = "get the input again whole, then begin again with", []string{"--force"}
	case errors.Is(err, table.ErrCell) && r.in.Format() == settings.FormatTSV:
		how, flags = "begin again with", []string{"--force", "--quote"} // which reads the input too
	case errors.Is(err, table.ErrCell):
		flags = append(flags, "--quote")
	case errors.Is(err, output.ErrMismatch):
		return
	}
	fmt.Fprintf(r.std.Err, "infill: %s has %d record%s%s; %s:\n  %s\n", r.out.File(), p.Records,
		count.S(p.Records), so, how, againCommand(c, flags...))
}

// againCommand is the command line as it was typed, that goes on with the output or overwrites it.
func againCommand(c *cli.Context, flags ...string) string {
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
	again := slices.Concat(args[:2], flags, args[2:])
	return strings.Join(console.Quoted(again), " ")
}

// meantBy says which setting of a table a field of a JSON line may mean that is none of the line,
// and how it is chosen; "" for a field that resembles no setting.
func meantBy[T any](table settings.Table[T]) func(jsonl.Field) string {
	return func(f jsonl.Field) string {
		switch s := table.Meant(f.Name, f.Value); {
		case f.Name == "log_z":
			return "marginals estimates the probabilities of whole texts, and log Z is not estimated"
		case s == nil:
			return ""
		case s.Line:
			return fmt.Sprintf("the setting is called %s", s.Field())
		default:
			return fmt.Sprintf("lines do not choose it, --%s does", s.Name)
		}
	}
}

// meantByAny asks one after the other.
func meantByAny(all ...func(jsonl.Field) string) func(jsonl.Field) string {
	return func(f jsonl.Field) string {
		for _, by := range all {
			if says := by(f); says != "" {
				return says
			}
		}
		return ""
	}
}
