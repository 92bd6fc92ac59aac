// Command infill-beam fills a file of sentences on a runner of Apache Beam. The same program is the
// worker: the SDK starts it again with --worker.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"infill/beam/pipeline"
	"infill/internal/count"
	"infill/internal/program"
)

func main() {
	set := flag.CommandLine // the SDK's flags are there
	set.Init("infill-beam", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	o := newOptions(set)
	err := o.environment(os.Getenv)
	if err == nil {
		err = set.Parse(os.Args[1:])
	}
	if errors.Is(err, flag.ErrHelp) {
		o.help(os.Stdout)
		return
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "infill-beam: %v (--help lists the flags)\n", err)
		os.Exit(program.Usage)
	}
	beam.Init() // a worker never returns from here
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err = o.run(ctx)
	if err != nil && !errors.Is(err, program.ErrSomeFailed) {
		fmt.Fprintf(os.Stderr, "infill-beam: %s\n", message(err))
	}
	os.Exit(program.ExitCode(err, badInput))
}

// run checks the job and runs it.
func (o *options) run(ctx context.Context) error {
	if o.set.NArg() > 0 {
		return program.Usagef("%q is not a flag; the file is named by --input", o.set.Arg(0))
	}
	o.finish()
	if o.job.Source.Path == "" || o.job.Output == "" {
		return program.Usagef("--input FILE and --output PREFIX are needed")
	}
	runner := *runners.Runner
	if err := workerBinary(runner); err != nil {
		return err
	}
	var err error
	if o.job.Settings, err = pipeline.NewSettings(o.chosen); err != nil {
		return err
	}
	o.job.Version = program.Version(buildVersion)
	if err := o.job.Check(ctx); err != nil {
		return err
	}
	if inProcess(runner) {
		// The workers are this process. What is wrong with the model shows before any output is
		// removed, and they find it open.
		if _, err := o.job.Settings.Filler(ctx, o.job.Version); err != nil {
			return err
		}
	}
	if err := o.job.Clear(ctx); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "seed %d\n", o.job.Settings.Seed)
	p, s := beam.NewPipelineWithRoot()
	o.job.Build(s)
	result, err := beamx.RunWithMetrics(ctx, p)
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return pipelineError(err)
	}
	if *jobopts.Async {
		fmt.Fprintf(os.Stderr, "infill-beam: job %s runs on; it is complete when there is %s\n",
			result.JobID(), pipeline.SummaryPath(o.job.Output))
		return nil
	}
	sum, err := pipeline.ReadSummary(ctx, o.job.Output)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "infill-beam: %s, %d failed, in %s\n", count.Of(sum.Records, "record"),
		sum.Failed, count.Of(sum.Chunks, "chunk"))
	if sum.Failed > 0 && !o.okIfLinesFail {
		return program.ErrSomeFailed
	}
	return nil
}

// buildVersion is set by the Makefile, to what the command infill has.
var buildVersion string
