package batch

import (
	"context"
	"errors"
	"fmt"

	"infill/infill/batch/input"
	"infill/infill/batch/output"
	"infill/infill/jsonl"
)

// A Record is the outcome of an item.
type Record struct {
	JSON   []byte // one JSON object without a line end; it has the item's line and id
	Failed bool   // it is an error record
	Left   bool   // its text was left as it is
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
	Known func(it *input.Item, rec jsonl.Record) error
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
	Left            int // texts of this run that were left as they are
	Total           int // records of the input; −1 if not known
}

// errJob is returned for a job that lacks what it needs.
var errJob = errors.New("bad job")

var errNoInput = fmt.Errorf("%w: it has no input; open one with input.Open", errJob)

// ErrTooMany is returned when more records fail than allowed; the run can be resumed.
var ErrTooMany = errors.New("stopped: too many lines failed")
