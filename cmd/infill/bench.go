package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"infill/cmd/infill/internal/advice"
	"infill/cmd/infill/internal/console"
	"infill/internal/textline"
)

// A bench fills the same texts in several ways, which a report compares.
type bench struct {
	std      console.IO
	quiet    bool
	progress string
	notes    []string
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

// begins says which of several runs over a number of texts begins.
func (b *bench) begins(name string, i, of, texts int) *console.Progress {
	if !b.quiet {
		fmt.Fprintf(b.std.Err, "%s (%d of %d) …\n", textline.Printable(name), i+1, of)
	}
	return console.NewProgress(b.progress, b.quiet, b.std.Err, texts)
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
