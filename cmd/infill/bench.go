package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"infill/cmd/infill/internal/advice"
	"infill/cmd/infill/internal/console"
	"infill/infill"
	"infill/infill/jsonl"
	"infill/internal/textline"
)

// A bench fills the same texts in several ways, which a report compares.
type bench struct {
	std      console.IO
	quiet    bool
	strict   bool // the first text that cannot be filled is an error
	progress string
	notes    []string
	left     int            // texts that cannot be read or masked
	first    error          // of these
	failed   bool           // some text could not be read, or not be filled
	ends     []func() error // see close
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
	if jsonl.Code(err) == "" || b.strict {
		return err
	}
	b.left, b.first = b.left+1, cmp.Or(b.first, err)
	b.warn(b.left, err, "", "; left out")
	return nil
}

// A way fills the texts in one of several ways.
type way struct {
	kind, name string // what it is one of, and how it is called
	workers    int    // texts at the same time
	fill       func(ctx context.Context, i int) (*infill.Result, error)
	// got takes what comes of each text, one after the other, or why it cannot be filled.
	got func(i int, r *infill.Result, err error) error
}

// run fills a number of texts in way n of several.
func (b *bench) run(ctx context.Context, w *way, n, of, texts int) error {
	if !b.quiet {
		fmt.Fprintf(b.std.Err, "%s (%d of %d) …\n", textline.Printable(w.name), n+1, of)
	}
	bar := console.NewProgress(b.progress, b.quiet, b.std.Err, texts)
	defer bar.Clear()
	var mu sync.Mutex
	done, failed := 0, 0
	each, ctx := errgroup.WithContext(ctx)
	each.SetLimit(max(1, w.workers))
	for i := range texts {
		each.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			r, err := w.fill(ctx, i)
			mu.Lock()
			defer mu.Unlock()
			if err != nil && (jsonl.Code(err) == "" || b.strict) {
				return fmt.Errorf("%s %s: %w", w.kind, w.name, err)
			}
			if err != nil {
				failed++
				bar.Clear()
				b.warn(failed, err, w.kind+" "+textline.Printable(w.name)+": ", "")
			}
			done++
			bar.Step(done, done)
			return w.got(i, r, err)
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
