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
	item   input.Item
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{}
	rec    Record
	err    error
}

func (j *Job) work(ctx context.Context, p *Progress) error {
	r := &runner{Job: j, live: map[*slot]bool{}}
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
		it.Whole = r.Output.Rows()
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
		if p := gate.Recovered(recover()); p != nil {
			s.err = p
		}
	}()
	s.rec, s.err = f()
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
	told := map[string]bool{}
	for s := range order {
		r.await(s)
		if err := r.refuse(ctx, p, s); err != nil {
			return err
		}
		if err := r.Output.Write(s.rec.JSON, &s.item); err != nil {
			return err
		}
		p.Records++
		if s.rec.Failed {
			p.Failed++
		}
		if s.rec.Left {
			p.Left++
		}
		r.tell(s, told)
		if r.Progress != nil {
			r.Progress(*p)
		}
	}
	return nil
}

// await waits for the record of the item that is next in the output, and finishes it.
func (r *runner) await(s *slot) {
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
}

// refuse returns why the run ends before this record, nil if it goes on.
func (r *runner) refuse(ctx context.Context, p *Progress, s *slot) error {
	var panicked *gate.Panic
	err := s.err
	switch {
	case errors.As(err, &panicked):
		return panicked
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
	case s.rec.Failed && r.MaxErrors >= 0 && p.Failed >= r.MaxErrors:
		err = fmt.Errorf("%w: %w", ErrTooMany, s.rec.Cause)
	}
	if err != nil {
		return fmt.Errorf("%s %d: %w", r.Input.Unit(), s.item.Line, err)
	}
	return nil
}

// tell calls the job's functions for a record that is written. told has the fields that it told of.
func (r *runner) tell(s *slot, told map[string]bool) {
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
	if r.Settings != nil && names != nil {
		r.Settings(s.item.Line, names)
	}
	for _, f := range s.item.Fields {
		if r.Data != nil && !s.item.Columns && fresh(f.Name) {
			r.Data(s.item.Line, f)
		}
	}
	if s.rec.Failed && r.Report != nil {
		r.Report(s.item.Line, s.rec.Cause)
	}
}
