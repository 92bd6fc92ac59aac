package main

import (
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
	"infill/infill/batch/output"
	"infill/internal/count"
	"infill/internal/textline"
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
	files, err := batch.OpenFolder(dir, f.output, f.inputOptions(), f.anyLayout())
	if err != nil {
		return err
	}
	for _, file := range files.Pairs {
		if err := f.seedOf(file.Output); err != nil {
			return err
		}
	}
	if err := f.ready(); err != nil {
		return err
	}
	files.Mode = f.mode()
	if err := sayWrong(std, files.Check()); err != nil {
		return err
	}
	if passed, more := files.Passed, ""; len(passed) > 0 && !f.quiet {
		if n := len(passed) - maxPassed; n > 0 {
			passed, more = passed[:maxPassed], fmt.Sprintf(" and %d more", n)
		}
		fmt.Fprintf(std.Err, "infill: passed over: %s%s\n", textline.Printable(strings.Join(passed,
			", ")), more)
	}
	r := &folderRun{batchFlags: f, c: c, std: std, plan: plan, models: f.modelFlags,
		filling: f.fillingFlags}
	err = r.all(files)
	return errors.Join(err, r.close())
}

// sayWrong says what is wrong with the files of a folder, and returns the last of it, which the
// program says. Outputs that exist are one thing.
func sayWrong(std console.IO, all []error) error {
	var wrong []error
	var there []*output.ExistsError
	for _, err := range all {
		var exists *output.ExistsError
		if errors.As(err, &exists) && !exists.Link {
			there = append(there, exists)
		} else {
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
			return err
		case i < maxReported:
			fmt.Fprintf(std.Err, "infill: %s\n", advice.Message(err))
		case i == maxReported:
			fmt.Fprintf(std.Err, "infill: and %d more; the last one:\n", len(wrong)-1-i)
		}
	}
	return nil
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

// all fills the files, and says at the end what became of them.
func (r *folderRun) all(files *batch.Folder) error {
	var bad []string
	said := map[string]bool{} // of outputs of another run, whose settings may be those of all
	records, failed := 0, 0
	for is := range files.Run(r.file) {
		if is.Err != nil && !is.Own {
			return is.Err
		}
		records, failed = records+is.Progress.Records, failed+is.Progress.Failed
		if is.Err == nil {
			continue
		}
		bad = append(bad, filepath.Base(is.Input))
		var other *output.MismatchError
		if text := is.Err.Error(); !errors.As(is.Err, &other) || !said[text] {
			said[text] = true
			r.sayBad(is)
		}
	}
	if !r.quiet {
		s := fmt.Sprintf("infill: %s: %s", count.Of(len(files.Pairs)-len(bad), "file"),
			count.Of(records, "record"))
		if failed > 0 {
			s += failures(failed)
		}
		fmt.Fprintln(r.std.Err, s)
	}
	switch {
	case len(bad) > 0:
		return usagef("not filled, as said above: %s", textline.Printable(strings.Join(bad, ", ")))
	case failed > 0 && !r.okIfLinesFail:
		return errSomeFailed
	}
	return nil
}

// sayBad says what is wrong with a file.
func (r *folderRun) sayBad(is batch.Result) {
	says := advice.Message(is.Err)
	if !strings.HasPrefix(says, is.Input) {
		says = textline.Printable(filepath.Base(is.Input)) + ": " + says
	}
	fmt.Fprintf(r.std.Err, "infill: %s\n", says)
}

// file fills one of the files. What a model is opened for depends on whether lines have settings,
// so that it is opened again where that changes: a file gets what it would get by itself.
func (r *folderRun) file(file batch.Pair, lines bool) (done batch.Progress, err error) {
	if r.engine.done != nil && r.lines != lines {
		if err := r.close(); err != nil {
			return done, err
		}
	}
	if r.engine.done == nil {
		if r.engine, err = r.opened(r.c, r.std, lines); err != nil {
			return done, err
		}
		r.lines = lines
	}
	// Only now, for what is refused changes nothing.
	err = os.Mkdir(filepath.Dir(file.Output), 0o777)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return done, err
	}
	r.output, r.of = file.Output, filepath.Base(file.Input)
	in, err := r.input(r.c.Context, file.Input, r.std, r.reads()...)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	before := r.done
	if err = r.fillFile(r.c, r.std, in, r.engine, r.plan); errors.Is(err, errSomeFailed) {
		err = nil // the numbers say it
	}
	r.seedChosen, r.filling.seedChosen = false, false // it is said once
	return batch.Progress{Records: r.done.Records - before.Records,
		Failed: r.done.Failed - before.Failed}, err
}
