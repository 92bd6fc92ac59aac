package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/sync/errgroup"

	"infill/cmd/infill/internal/advice"
	"infill/cmd/infill/internal/console"
	"infill/infill"
	"infill/infill/jsonl"
	"infill/infill/text"
	"infill/internal/textline"
)

// benchFlags are the flags of the commands that fill the same texts in several ways.
type benchFlags struct {
	modelFlags
	fillingFlags
	quiet    bool
	strict   bool // the first text that cannot be filled is an error
	progress string
}

// oneInput refuses arguments that are not one file. try is a command line that has one.
func oneInput(c *cli.Context, try string) error {
	if c.NArg() != 1 {
		return usagef("one file of sentences, got %d arguments; try: %s", c.NArg(), try)
	}
	return nil
}

// A bench fills the same texts in several ways, which a report compares.
type bench struct {
	std    console.IO
	flags  *benchFlags
	tasks  []task
	notes  []string
	left   int            // texts that cannot be read or masked
	first  error          // of these
	failed bool           // some text could not be read, or not be filled
	ends   []func() error // see close
}

// A task is a text to fill.
type task struct {
	line      int              // of the input, 0 for unknown
	id, name  string           // name is what messages call it: line 3
	original  []string         // the words that were blanked out; nil if the text had blanks
	templates []*text.Template // for each of the models
}

// maxWarnings bounds the texts left out that are named one by one.
const maxWarnings = 10

// atEnd has a function called by close.
func (b *bench) atEnd(f func() error) { b.ends = append(b.ends, f) }

// close closes what was opened, the last first.
func (b *bench) close() (err error) {
	for _, end := range slices.Backward(b.ends) {
		err = errors.Join(err, end())
	}
	return err
}

// leave leaves out a text that an error befell. The error is one that would befall every text.
func (b *bench) leave(err error) error {
	if jsonl.Code(err) == "" || b.flags.strict {
		return err
	}
	b.left, b.first = b.left+1, cmp.Or(b.first, err)
	b.warn(b.left, err, "", "; left out")
	return nil
}

// A way fills the texts in one of several ways.
type way struct {
	kind, name string // what it is one of, and how it is called
	model      int    // whose templates it fills
	engine     *infill.Engine
	options    infill.Options // but for what is of each text
	workers    int            // texts at the same time
	watch      func(i int, of *infill.WatchOptions)
	// got takes the result of each text, one after the other, or the error that it ended with.
	got func(i int, r *infill.Result, took time.Duration, err error) error
}

// fill fills text i.
func (w *way) fill(ctx context.Context, i int, t *task) (*infill.Result, time.Duration, error) {
	opt := w.options
	opt.ID, opt.Words.Original = t.id, t.original
	if w.watch != nil {
		w.watch(i, &opt.Watch)
	}
	start := time.Now()
	r, err := w.engine.Fill(ctx, t.templates[w.model], opt)
	if err != nil {
		err = fmt.Errorf("%s: %w", t.name, err)
	}
	return r, time.Since(start), err
}

// fill fills the texts in way n of several.
func (b *bench) fill(ctx context.Context, w *way, n, of int) error {
	if !b.flags.quiet {
		fmt.Fprintf(b.std.Err, "%s (%d of %d) …\n", textline.Printable(w.name), n+1, of)
	}
	bar := console.NewMeter(b.flags.progress, b.flags.quiet, b.std.Err)
	defer bar.Clear()
	var mu sync.Mutex
	done, failed := 0, 0
	each, ctx := errgroup.WithContext(ctx)
	each.SetLimit(max(1, w.workers))
	for i := range b.tasks {
		each.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			r, took, err := w.fill(ctx, i, &b.tasks[i])
			mu.Lock()
			defer mu.Unlock()
			if err != nil && (jsonl.Code(err) == "" || b.flags.strict) {
				return fmt.Errorf("%s %s: %w", w.kind, w.name, err)
			}
			if err != nil {
				failed++
				bar.Clear()
				b.warn(failed, err, w.kind+" "+textline.Printable(w.name)+": ", "")
			}
			done++
			bar.Step(done, done, len(b.tasks))
			return w.got(i, r, took, err)
		})
	}
	return each.Wait()
}

// warn says what befell the n-th of several texts, unless many did before.
func (b *bench) warn(n int, err error, of, then string) {
	if b.failed = true; n <= maxWarnings {
		fmt.Fprintf(b.std.Err, "infill: %s%s%s\n", of, advice.Message(err), then)
	}
}

// ended shows the report, and is an error if some text failed.
func (b *bench) ended(f *reportFlags, r renderer) error {
	err := f.render(b.std, r)
	if b.failed {
		return cmp.Or(err, errSomeFailed)
	}
	return err
}
