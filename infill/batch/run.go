package batch

import (
	"context"
	"errors"
	"fmt"

	"infill/infill/batch/input"
	"infill/infill/batch/output"
	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/internal/gate"
)

// A Record is what became of an item.
type Record struct {
	JSON   []byte // one JSON object without a line end; it has the item's line and id
	Failed bool   // it is an error record
	Cause  error  // the error, if Failed
	// Settings are the fields of the item that were taken as settings.
	Settings []string
	// Finish, if not nil, makes the record that is written, in place of this one. It is called when
	// all records before it are written, and none after it is finished: it may depend on them.
	Finish func(ctx context.Context) (Record, error)
}

// A Job is a file to work through.
type Job struct {
	Input   *input.Reader
	Output  *output.Writer
	Workers int // items in work at the same time, at least 1
	// Total is the number of records of the input, −1 if not known; see
	// Input.Survey. It is for Progress only.
	Total int
	// Do makes the record of an item: the same whenever and wherever it is
	// called. An error ends the run. It is called from several goroutines.
	Do func(ctx context.Context, it *input.Item) (Record, error)
	// Known, if not nil, is called for each record that an earlier run has written, in their order,
	// with the item that it is of. A record may depend on those before it by this and Record.Finish.
	Known func(it *input.Item, rec *jsonl.Record) error
	// Texts says that records have the text of their item, as "text", or as "gold" where words of it
	// were masked. A run that is resumed then compares these, besides lines and ids.
	Texts bool
	// MaxErrors is the number of error records that are written; one more
	// stops the run before it is. Negative: any number.
	MaxErrors int
	// Abandon cancels all work when ctx ends, that of the record next in the output too: nobody waits
	// for what could still be written.
	Abandon bool
	// Progress, if not nil, is called after every record, and once before.
	Progress func(Progress)
	// Settings, if not nil, is called once for each name among the Settings of
	// the records that are written, with the first line that has it.
	Settings func(line int, names []string)
	// Data, if not nil, is called for the other fields of JSON lines, with the first that has a name.
	Data func(line int, field jsonl.Field)
	// Report, if not nil, is called for each error record that is written.
	Report func(line int, cause error)
}

// Progress says how far a run is.
type Progress struct {
	Records, Failed int // in the output, those of earlier runs included
	Resumed         int // of earlier runs
	Total           int // records of the input; −1 if not known
}

// errJob is returned for a job that lacks what it needs.
var errJob = errors.New("bad job")

var errNoInput = fmt.Errorf("%w: it has no input; open one with input.Open", errJob)

// ErrTooMany is returned when more records fail than allowed; the run can be
// resumed.
var ErrTooMany = errors.New("stopped: too many lines failed")

// Run works through the input and closes the output. When ctx ends, the record
// that is next in the output, and those that are ready after it, are still
// written, but for Abandon; then the error is ctx's. The Progress returned says what the output
// holds, whatever the error.
//
// Errors: errJob before anything is read, ErrTooMany, the cause of ctx's end, those of
// Do, or those of reading and writing. A panic in Do goes on in Run, as a value that has its stack,
// when the output is closed.
func (j *Job) Run(ctx context.Context) (Progress, error) {
	p := Progress{Total: j.Total}
	err := j.check(ctx)
	if err != nil {
		return p, err
	}
	if records, failed, ok := j.Output.Complete(); ok { // nothing is left to do
		p.Records, p.Failed, p.Resumed = records, failed, records
		if j.Progress != nil {
			j.Progress(p)
		}
		return p, nil
	}
	p.Records, p.Failed, err = j.Output.Recover(j.Input, j.Texts, j.Known)
	if err != nil {
		return p, errors.Join(err, j.Output.Close(false))
	}
	p.Resumed = p.Records
	if j.Progress != nil {
		j.Progress(p)
	}
	err = j.work(ctx, &p)
	err = errors.Join(err, j.Output.Close(err == nil))
	var panicked *gate.Panic
	if errors.As(err, &panicked) {
		panic(panicked)
	}
	if err == nil {
		err = j.Output.Conclude(ctx, j.Input, p.Records, p.Failed)
	}
	return p, err
}

// check refuses a job that would never end, or would panic where nobody recovers.
func (j *Job) check(ctx context.Context) error {
	switch {
	case ctx == nil:
		return fmt.Errorf("%w: the context is nil; pass context.Background()", errJob)
	case j.Input == nil || j.Input.Format() == settings.FormatAuto:
		return errNoInput
	case j.Output == nil || !j.Output.Ready():
		return fmt.Errorf("%w: it has no output; open one with package output", errJob)
	case j.Do == nil:
		return fmt.Errorf("%w: it has no Do, which makes the records", errJob)
	case j.Workers < 1:
		return fmt.Errorf("%w: %d workers, want 1 or more; infill/records.InFlight has a number", errJob,
			j.Workers)
	}
	return nil
}
