package batch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"infill/infill/batch/input"
	"infill/infill/settings"
	"infill/internal/gate"
)

// Run works through the input and closes the output. When ctx ends, the record that is next in the
// output, and those that are ready after it, are still written, but for Abandon; then the error is
// ctx's. The Progress returned says what the output holds, whatever the error.
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

// slot is an item on its way through the workers.
type slot struct {
	item    input.Item
	ctx     context.Context
	cancel  context.CancelFunc
	release func() bool // from the end of the run's context, which cancels the slot
	done    chan struct{}
	rec     Record
	err     error
}

func (j *Job) work(ctx context.Context, p *Progress) error {
	// order has every item that was read and not yet written. Its bound is what keeps memory flat: a
	// slow item lets the others run only so far ahead.
	order := make(chan *slot, 4*j.Workers)
	todo := make(chan *slot, 4*j.Workers)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var readErr error
	wg.Go(func() {
		defer close(order)
		defer close(todo)
		readErr = j.read(ctx, order, todo, stop)
	})
	for range j.Workers {
		wg.Go(func() {
			for s := range todo {
				j.do(s)
			}
		})
	}
	err := j.write(ctx, p, order)
	close(stop)
	for s := range order { // nothing is wanted any more of what is still in work
		s.release()
		s.cancel()
	}
	wg.Wait()
	if err == nil {
		err = readErr
	}
	return err
}

// read turns the input into slots until it ends or the run stops. The end of ctx cancels all but
// the one whose record is next: the first, or the one that the writer waits for.
func (j *Job) read(ctx context.Context, order, todo chan<- *slot, stop <-chan struct{}) error {
	for first := true; ctx.Err() == nil; first = false {
		it, err := j.Input.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		it.Whole = j.Output.Rows()
		s := &slot{item: it, done: make(chan struct{}), release: func() bool { return false }}
		s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
		if !first || j.Abandon {
			s.release = context.AfterFunc(ctx, s.cancel)
		}
		select {
		case order <- s:
			todo <- s // as much room as order has
		case <-stop:
			s.release()
			s.cancel()
			return nil
		}
	}
	return context.Cause(ctx)
}

func (j *Job) do(s *slot) {
	defer close(s.done)
	if s.err = s.ctx.Err(); s.err != nil {
		return
	}
	s.make(func() (Record, error) { return j.Do(s.ctx, &s.item) })
}

// make makes the record. A panic of f is the error: in these goroutines nobody else could recover
// it.
func (s *slot) make(f func() (Record, error)) {
	defer func() {
		if p := gate.Recovered(recover()); p != nil {
			s.err = p
		}
	}()
	s.rec, s.err = f()
}

// write writes the records in order.
func (j *Job) write(ctx context.Context, p *Progress, order <-chan *slot) error {
	told := map[string]bool{}
	for s := range order {
		j.await(s)
		if err := j.refuse(ctx, p, s); err != nil {
			return err
		}
		if err := j.Output.Write(s.rec.JSON, &s.item); err != nil {
			return err
		}
		p.Records++
		if s.rec.Failed {
			p.Failed++
		}
		if s.rec.Left {
			p.Left++
		}
		j.tell(s, told)
		if j.Progress != nil {
			j.Progress(*p)
		}
	}
	return nil
}

// await waits for the record of the item that is next in the output, and finishes it.
func (j *Job) await(s *slot) {
	if !j.Abandon {
		s.release()
	}
	<-s.done
	if finish := s.rec.Finish; finish != nil && s.err == nil {
		s.make(func() (Record, error) { return finish(s.ctx) })
	}
	s.release()
	s.cancel()
}

// refuse returns why the run ends before this record, nil if it goes on.
func (j *Job) refuse(ctx context.Context, p *Progress, s *slot) error {
	var panicked *gate.Panic
	err := s.err
	switch {
	case errors.As(err, &panicked):
		return panicked
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
	case s.rec.Failed && j.MaxErrors >= 0 && p.Failed >= j.MaxErrors:
		err = fmt.Errorf("%w: %w", ErrTooMany, s.rec.Cause)
	}
	if err != nil {
		return fmt.Errorf("%s %d: %w", j.Input.Unit(), s.item.Line, err)
	}
	return nil
}

// tell calls the job's functions for a record that is written. told has the fields that it told of.
func (j *Job) tell(s *slot, told map[string]bool) {
	fresh := func(name string) bool {
		was := told[name]
		told[name] = true
		return !was
	}
	var names []string
	for _, name := range s.rec.Settings {
		if fresh(name) {
			names = append(names, name)
		}
	}
	if j.Settings != nil && names != nil {
		j.Settings(s.item.Line, names)
	}
	for _, f := range s.item.Fields {
		if j.Data != nil && !s.item.Columns && fresh(f.Name) {
			j.Data(s.item.Line, f)
		}
	}
	if s.rec.Failed && j.Report != nil {
		j.Report(s.item.Line, s.rec.Cause)
	}
}
