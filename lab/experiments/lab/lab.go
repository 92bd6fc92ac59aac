// Package lab has what the experiments share: what an experiment is, Markdown tables, stopwatches,
// kept parts, and the folder of data sets.
package lab

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"time"
)

// An Experiment learns or samples something that papers report, and puts its figures beside
// theirs.
type Experiment struct {
	Name   string // of the command, of its page and of its package
	Title  string // of the page
	Source string // paper, section, figure or table
	Takes  string // time of the full run, and on what machine
	// Run makes the page. All that it returns is a function of Options.Seed and Options.Quick, except
	// for times that it took from Options.Watch.
	Run func(ctx context.Context, o Options) (*Page, error)
}

// Options of a run.
type Options struct {
	Seed    uint64    // decides all randomness
	Quick   bool      // smaller sizes, for a look and for tests: some seconds
	Threads int       // that may compute at a time; 0: one for each processor
	Data    string    // folder of the data sets, see DataFile
	Log     io.Writer // progress; nil: none
	Keep    string    // folder of what long parts gave, see Kept; "" keeps nothing
	// Stopwatch makes what Watch returns. nil: CPUTime. Tests have one that always goes alike.
	Stopwatch func() func() time.Duration
}

// Watch returns a stopwatch for the calling goroutine, which stays on its thread until stop is
// called, because a thread's time is what is read.
func (o Options) Watch() (read func() time.Duration, stop func()) {
	read = CPUTime
	if o.Stopwatch != nil {
		read = o.Stopwatch()
	}
	runtime.LockOSThread()
	return read, runtime.UnlockOSThread
}

// Logf reports progress.
func (o Options) Logf(format string, args ...any) {
	if o.Log != nil {
		fmt.Fprintf(o.Log, format+"\n", args...)
	}
}

// A Page is what an experiment found.
type Page struct {
	Text string // Markdown, without the title
	// Charts are SVG by file name. Text links them as NAME/FILE, for NAME that of the experiment.
	Charts map[string]string
}
