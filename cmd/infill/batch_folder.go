package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/advice"
	"infill/cmd/infill/internal/console"
	"infill/infill/batch"
	"infill/infill/batch/input"
	"infill/infill/batch/output"
	"infill/infill/table"
	"infill/internal/count"
)

// maxPassed is how many files that are passed over are named.
const maxPassed = 10

// folder works through the files of a folder, as if each were given by itself.
func (f *batchFlags) folder(c *cli.Context, std console.IO, dir string, plan filePlan) error {
	switch {
	case f.output == "" || f.output == "-":
		return usagef("%s is a folder: %s FOLDER names another for its outputs", dir,
			f.outputFlag.Spelling())
	case !f.Shard.Whole():
		return usagef("--shard is for a file: %s is a folder, whose files are parts already", dir)
	case slices.Contains(f.reads(), "-"):
		return usagef("each file reads the files of its settings, so none can be standard input; name it")
	}
	files, passed, err := batch.Folder(output.Layout{Format: f.OutputFormat}, dir, f.output,
		f.Format)
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := f.seedOf(file.Output); err != nil {
			return err
		}
	}
	if err := f.ready(); err != nil {
		return err
	}
	looks, err := f.inspect(std, files)
	if err != nil {
		return err
	}
	if len(passed) > 0 && !f.quiet {
		more := ""
		if n := len(passed) - maxPassed; n > 0 {
			passed, more = passed[:maxPassed], fmt.Sprintf(" and %d more", n)
		}
		fmt.Fprintf(std.Err, "infill: passed over: %s%s\n", console.Printable(strings.Join(passed,
			", ")), more)
	}
	r := &folderRun{batchFlags: f, c: c, std: std, plan: plan, models: f.modelFlags,
		filling: f.fillingFlags}
	err = r.all(files, looks)
	return errors.Join(err, r.close())
}

// A look is what is known of a file before any is filled.
type look struct {
	lines bool  // it has lines with settings of their own
	bad   error // it cannot be read, which ends none of the others
}

// inspect opens each file and looks at the place of its output, before any work is done.
func (f *batchFlags) inspect(std console.IO, files []batch.Pair) (looks []look, err error) {
	var wrong []error
	var there []*output.ExistsError
	for _, file := range files {
		var is look
		in, err := input.Open(file.Input, nil, f.inputOptions())
		if err == nil {
			is.lines = in.Format().JSON()
			err = in.Close()
		}
		if err != nil && ofFile(err, file) {
			is.bad, err = err, nil
		}
		looks = append(looks, is)
		if err == nil && !f.resume && !f.force {
			var l output.Layout
			if l, err = f.layoutOf(file.Output); err == nil {
				err = l.Free(file.Output)
			}
		}
		var exists *output.ExistsError
		switch {
		case errors.As(err, &exists) && !exists.Link:
			there = append(there, exists)
		case err != nil:
			wrong = append(wrong, err)
		}
	}
	if len(there) == 1 {
		wrong = append(wrong, there[0])
	} else if len(there) > 1 {
		first := there[0].Path
		wrong = append(wrong, usagef("%d outputs exist in %s, the first %s; name another folder "+
			"(--resume goes on with them, --force overwrites them)", len(there), filepath.Dir(first), first))
	}
	for i, err := range wrong {
		switch {
		case i == len(wrong)-1:
			return nil, err // the program says it
		case i < maxReported:
			fmt.Fprintf(std.Err, "infill: %s\n", advice.Message(err))
		case i == maxReported:
			fmt.Fprintf(std.Err, "infill: and %d more; the last one:\n", len(wrong)-1-i)
		}
	}
	return looks, nil
}

// A folderRun fills the files of a folder.
type folderRun struct {
	*batchFlags
	c       *cli.Context
	std     console.IO
	plan    filePlan
	models  modelFlags // as they were before a model was opened
	filling fillingFlags
	engine  fileEngine // its done is nil before a model is opened
	lines   bool       // the model may be asked for what lines say
}

// close closes the model.
func (r *folderRun) close() error {
	if r.engine.done == nil {
		return nil
	}
	err := r.engine.done()
	r.engine.done = nil
	r.modelFlags, r.fillingFlags = r.models, r.filling
	return err
}

// all fills the files, and says at the end what became of them. A file that is at fault itself ends
// none of the others.
func (r *folderRun) all(files []batch.Pair, looks []look) error {
	var bad []string
	said := map[string]bool{} // of outputs of another run, whose settings may be those of all
	someFailed := false
	for i, file := range files {
		err := looks[i].bad
		if err == nil {
			err = r.file(file, looks[i].lines)
		}
		var other *output.MismatchError
		switch {
		case errors.Is(err, errSomeFailed):
			someFailed = true
		case err != nil && !ofFile(err, file):
			return err
		case err != nil:
			bad = append(bad, filepath.Base(file.Input))
			if errors.As(err, &other) {
				if said[err.Error()] {
					continue
				}
				said[err.Error()] = true
			}
			says := advice.Message(err)
			if !strings.HasPrefix(says, file.Input) {
				says = console.Printable(filepath.Base(file.Input)) + ": " + says
			}
			fmt.Fprintf(r.std.Err, "infill: %s\n", says)
		}
	}
	if !r.quiet {
		s := fmt.Sprintf("infill: %s: %s", count.Of(len(files)-len(bad), "file"),
			count.Of(r.done.Records, "record"))
		if r.done.Failed > 0 {
			s += failures(r.done.Failed)
		}
		fmt.Fprintln(r.std.Err, s)
	}
	switch {
	case len(bad) > 0:
		return usagef("not filled, as said above: %s", console.Printable(strings.Join(bad, ", ")))
	case someFailed:
		return errSomeFailed
	}
	return nil
}

// file fills one of the files. What a model is opened for depends on whether lines have settings,
// so that it is opened again where that changes: a file gets what it would get by itself.
func (r *folderRun) file(file batch.Pair, lines bool) (err error) {
	if r.engine.done != nil && r.lines != lines {
		if err := r.close(); err != nil {
			return err
		}
	}
	if r.engine.done == nil {
		if r.engine, err = r.opened(r.c, r.std, lines); err != nil {
			return err
		}
		r.lines = lines
	}
	// Only now, for what is refused changes nothing.
	err = os.Mkdir(filepath.Dir(file.Output), 0o777)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	r.output, r.of = file.Output, filepath.Base(file.Input)
	in, err := r.input(r.c.Context, file.Input, r.std, r.reads()...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	err = r.fillFile(r.c, r.std, in, r.engine, r.plan)
	r.seedChosen, r.filling.seedChosen = false, false // it is said once
	return err
}

// ofFile reports whether an error is that of a file, or of its output, and not of all.
func ofFile(err error, file batch.Pair) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, batch.ErrTooMany) {
		return false
	}
	var path *fs.PathError
	return inputDamaged(err) || errors.Is(err, table.ErrTable) || errors.Is(err, input.ErrNotLines) ||
		errors.Is(err, output.ErrMismatch) || errors.Is(err, output.ErrManifest) ||
		errors.Is(err, table.ErrCell) || errors.As(err, &path) && path.Path == file.Input
}
