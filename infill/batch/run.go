package batch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"sync"

	"infill/infill/jsonl"
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
	Input   *Input
	Output  *Output
	Workers int // items in work at the same time, at least 1
	// Total is the number of records of the input, −1 if not known; see
	// Input.Survey. It is for Progress only.
	Total int
	// Do makes the record of an item: the same whenever and wherever it is
	// called. An error ends the run. It is called from several goroutines.
	Do func(ctx context.Context, it *Item) (Record, error)
	// Known, if not nil, is called for each record that an earlier run has written, in their order,
	// with the item that it is of. A record may depend on those before it by this and Record.Finish.
	Known func(it *Item, rec *jsonl.Record) error
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

var errNoInput = fmt.Errorf("%w: it has no input; open one with Open", errJob)

// ErrTooMany is returned when more records fail than allowed; the run can be
// resumed.
var ErrTooMany = errors.New("stopped: too many lines failed")

// errRecord is returned for a record that could not be told from damage when the run is resumed.
var errRecord = errors.New("not the record of its item")

// slot is an item on its way through the workers.
type slot struct {
	item   Item
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{}
	rec    Record
	err    error
}

// Run works through the input and closes the output. When ctx ends, the record
// that is next in the output, and those that are ready after it, are still
// written, but for Abandon; then the error is ctx's. The Progress returned says what the output
// holds, whatever the error.
//
// Errors: errJob before anything is read, ErrTooMany, errRecord, the cause of ctx's end, those of
// Do, or those of reading and writing. A panic in Do goes on in Run, as a value that has its stack,
// when the output is closed.
func (j *Job) Run(ctx context.Context) (Progress, error) {
	p := Progress{Total: j.Total}
	err := j.check(ctx)
	if err != nil {
		return p, err
	}
	if was := j.Output.complete; was != nil { // nothing is left to do
		p.Records, p.Failed, p.Resumed = was.Records, was.Failed, was.Records
		if j.Progress != nil {
			j.Progress(p)
		}
		return p, nil
	}
	p.Records, p.Failed, err = j.Output.recover(j.Input, j.Texts, j.Known)
	if err != nil {
		return p, errors.Join(err, j.Output.sink.finish(false))
	}
	p.Resumed = p.Records
	if j.Progress != nil {
		j.Progress(p)
	}
	err = j.work(ctx, &p)
	err = errors.Join(err, j.Output.sink.finish(err == nil))
	var panicked *gate.Panic
	if errors.As(err, &panicked) {
		panic(panicked)
	}
	if err == nil {
		err = j.Output.conclude(ctx, j.Input, p)
	}
	return p, err
}

// check refuses a job that would never end, or would panic where nobody recovers.
func (j *Job) check(ctx context.Context) error {
	switch {
	case ctx == nil:
		return fmt.Errorf("%w: the context is nil; pass context.Background()", errJob)
	case j.Input == nil || j.Input.src == nil:
		return errNoInput
	case j.Output == nil || j.Output.sink == nil && j.Output.complete == nil:
		return fmt.Errorf("%w: it has no output; open one with Manifest.Open or Layout.Stream", errJob)
	case j.Do == nil:
		return fmt.Errorf("%w: it has no Do, which makes the records", errJob)
	case j.Workers < 1:
		return fmt.Errorf("%w: %d workers, want 1 or more; infill/records.InFlight has a number", errJob,
			j.Workers)
	}
	return nil
}

func (j *Job) work(ctx context.Context, p *Progress) error {
	r := &runner{Job: j, live: map[*slot]bool{}}
	// order has every item that was read and not yet written. Its bound is
	// what keeps memory flat: a slow item lets the others run only so far
	// ahead.
	order := make(chan *slot, 4*j.Workers)
	todo := make(chan *slot, 4*j.Workers)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var readErr error
	wg.Go(func() {
		defer close(order)
		defer close(todo)
		readErr = r.read(ctx, order, todo, stop)
	})
	for range j.Workers {
		wg.Go(func() {
			for s := range todo {
				r.do(s)
			}
		})
	}
	watched := make(chan struct{})
	wg.Go(func() {
		select {
		case <-ctx.Done():
			r.wind(r.Abandon)
		case <-watched:
		}
	})
	err := r.write(ctx, p, order)
	// Nothing is wanted any more of what is still in work.
	close(watched)
	close(stop)
	r.wind(true)
	for range order {
	}
	wg.Wait()
	if err == nil {
		err = readErr
	}
	return err
}

// A runner keeps track of the items in work.
type runner struct {
	*Job
	mu      sync.Mutex
	live    map[*slot]bool
	head    *slot // the one whose record is next
	winding bool
}

// read turns the input into slots until it ends or the run stops.
func (r *runner) read(ctx context.Context, order, todo chan<- *slot, stop <-chan struct{}) error {
	for ctx.Err() == nil {
		it, err := r.Input.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		it.Whole = r.Output.layout.Rows()
		s := &slot{item: it, done: make(chan struct{})}
		s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
		r.mu.Lock()
		r.live[s] = true
		if r.head == nil {
			r.head = s // the first, which the writer may not have taken up yet
		}
		if r.winding {
			s.cancel()
		}
		r.mu.Unlock()
		select {
		case order <- s:
			todo <- s // as much room as order has
		case <-stop:
			s.cancel()
			return nil
		}
	}
	return context.Cause(ctx)
}

func (r *runner) do(s *slot) {
	defer close(s.done)
	if s.err = s.ctx.Err(); s.err != nil {
		return
	}
	s.make(func() (Record, error) { return r.Do(s.ctx, &s.item) })
}

// make makes the record. A panic of f is the error: in these goroutines nobody else could recover
// it.
func (s *slot) make(f func() (Record, error)) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case *gate.Panic:
			s.err = v
		default:
			s.err = &gate.Panic{Value: v, Stack: debug.Stack()}
		}
	}()
	s.rec, s.err = f()
}

// fits refuses a record that a later run would take for a torn one, or for that of another item.
func (s *slot) fits() error {
	h, ok := parseHead(s.rec.JSON)
	switch {
	case !ok || bytes.IndexByte(s.rec.JSON, '\n') >= 0:
		return fmt.Errorf("%w, %.40q: want one JSON object on one line, with the item's line and id",
			errRecord, s.rec.JSON)
	case h.line != s.item.Line || !bytes.Equal(compact(h.id), compact(s.item.ID)):
		return fmt.Errorf("%w: it is of line %d (id %s), the item of line %d (id %s)", errRecord, h.line,
			orNone(h.id), s.item.Line, orNone(s.item.ID))
	}
	return nil
}

// wind cancels what is in work, all of it or all but the head.
func (r *runner) wind(all bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.winding = true
	for s := range r.live {
		if all || s != r.head {
			s.cancel()
		}
	}
}

// write writes the records in order.
func (r *runner) write(ctx context.Context, p *Progress, order <-chan *slot) error {
	known := map[string]bool{} // fields that were told of
	for s := range order {
		r.mu.Lock()
		if !r.winding {
			r.head = s
		}
		r.mu.Unlock()
		<-s.done
		r.mu.Lock()
		delete(r.live, s)
		r.mu.Unlock()
		if finish := s.rec.Finish; finish != nil && s.err == nil {
			s.make(func() (Record, error) { return finish(s.ctx) })
		}
		s.cancel()
		var panicked *gate.Panic
		switch {
		case errors.As(s.err, &panicked):
			return panicked
		case s.err != nil && ctx.Err() != nil:
			return context.Cause(ctx)
		case s.err != nil:
			return fmt.Errorf("line %d: %w", s.item.Line, s.err)
		case s.rec.Failed && r.MaxErrors >= 0 && p.Failed >= r.MaxErrors:
			return fmt.Errorf("line %d: %w: %w", s.item.Line, ErrTooMany, s.rec.Cause)
		}
		if err := s.fits(); err != nil {
			return fmt.Errorf("line %d: %w", s.item.Line, err)
		}
		// The bytes behind those of the record may be the caller's.
		if err := r.Output.sink.write(append(slices.Clip(s.rec.JSON), '\n')); err != nil {
			return err
		}
		p.Records++
		var names []string
		for _, name := range s.rec.Settings {
			if !known[name] {
				known[name] = true
				names = append(names, name)
			}
		}
		if r.Settings != nil && names != nil {
			r.Settings(s.item.Line, names)
		}
		for _, f := range s.item.Fields {
			if r.Data != nil && !s.item.Columns && !known[f.Name] {
				known[f.Name] = true
				r.Data(s.item.Line, f)
			}
		}
		if s.rec.Failed {
			p.Failed++
			if r.Report != nil {
				r.Report(s.item.Line, s.rec.Cause)
			}
		}
		if r.Progress != nil {
			r.Progress(*p)
		}
	}
	return nil
}
