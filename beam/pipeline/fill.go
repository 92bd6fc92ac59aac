package pipeline

import (
	"context"
	"fmt"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"infill/infill/batch"
	"infill/infill/batch/input"
	"infill/infill/records"
	"infill/infill/settings"
)

// A Part is the records of a chunk, in the order of its lines, without line ends.
type Part struct {
	Chunk   int // the number of the chunk
	Records [][]byte
}

// Namespace is the namespace of a pipeline's counters.
const Namespace = "infill"

// The counters: chunks and lines that were worked through, each attempt of a runner among them.
// They show how far a run is. The numbers of its end are in its [Summary].
var (
	chunksDone  = beam.NewCounter(Namespace, "chunks")
	linesFilled = beam.NewCounter(Namespace, "filled")
	linesFailed = beam.NewCounter(Namespace, "failed")
)

// Fill fills the lines of chunks. all has a record for each line, those of lines that failed too,
// as infill batch writes them. failed has those of lines that failed once more. Both are
// PCollections of KV<int, [Part]> by shard. version is the program's, for records.
//
// An error that would befall every line ends the pipeline. So does a model that a worker cannot
// open.
func Fill(s beam.Scope, how *Settings, textField, version string, chunks beam.PCollection) (
	all, failed beam.PCollection) {
	fn := &fillFn{Settings: *how, TextField: textField, Version: version}
	return beam.ParDo2(s.Scope("infill.Fill"), fn, chunks)
}

type fillFn struct {
	Settings  Settings
	TextField string
	Version   string

	filler *records.Filler
}

// Setup opens the model, if no other bundle of the process has.
func (f *fillFn) Setup(ctx context.Context) (err error) {
	f.filler, err = f.Settings.Filler(ctx, f.Version)
	return err
}

// ProcessElement fills a chunk. What keeps the processor busy are its lines: a bundle gets its
// chunks one after the other.
func (f *fillFn) ProcessElement(ctx context.Context, c Chunk, all, failed func(int, Part)) error {
	out, err := f.fill(ctx, c)
	if err != nil {
		return err
	}
	chunksDone.Inc(ctx, 1)
	parts, bad := Part{Chunk: c.Number}, Part{Chunk: c.Number}
	for _, r := range out {
		parts.Records = append(parts.Records, r.JSON)
		if r.Failed {
			bad.Records = append(bad.Records, r.JSON)
		}
	}
	linesFilled.Inc(ctx, int64(len(parts.Records)-len(bad.Records)))
	linesFailed.Inc(ctx, int64(len(bad.Records)))
	all(c.Shard, parts)
	if len(bad.Records) > 0 {
		failed(c.Shard, bad)
	}
	return nil
}

// fill makes the records of a chunk. The error is one that would befall every line.
func (f *fillFn) fill(ctx context.Context, c Chunk) ([]batch.Record, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	how := input.Options{Format: settings.Format(c.Format), TextField: f.TextField}
	out := make([]batch.Record, len(c.Lines))
	next := make(chan int)
	var wg sync.WaitGroup
	workers := records.InFlight(f.filler.Model.Streams(), f.filler.Filling.Options.Sampling.Chains)
	for range min(workers, len(c.Lines)) {
		wg.Go(func() {
			for i := range next {
				it := how.Item(c.Lines[i])
				var err error
				if out[i], err = f.filler.Record(ctx, &it); err != nil {
					cancel(fmt.Errorf("line %d: %w", it.Line, err)) // the first one counts
				}
			}
		})
	}
	for i := range c.Lines {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()
	return out, context.Cause(ctx)
}

func init() {
	register.DoFn4x1[context.Context, Chunk, func(int, Part), func(int, Part), error](&fillFn{})
	register.Emitter2[int, Part]()
}
