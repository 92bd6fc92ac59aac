package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"infill/infill/batch"
	"infill/infill/batch/input"
	"infill/infill/batch/output"
	"infill/infill/jsonl"
	"infill/infill/records"
	"infill/infill/settings"
	"infill/server/api"
)

// batch answers POST /v1/batch: JSON lines in, records out, in order, while they come.
func (s *Server) batch(w http.ResponseWriter, r *http.Request) error {
	q, err := addressed(r)
	if err != nil {
		return err
	}
	m, err := s.find(q.Get("model"))
	if err != nil {
		return err
	}
	q.Del("model")
	fill, err := m.forFile(q)
	if err != nil {
		return err
	}
	select {
	case s.files <- struct{}{}:
	default:
		return &failure{code: codeOverloaded, wait: s.queue.wait(),
			message: "too many batches are under way already; ask again later"}
	}
	defer func() { <-s.files }()
	c := http.NewResponseController(w)
	if err := c.EnableFullDuplex(); err != nil && r.ProtoMajor == 1 {
		return err // HTTP/2 is always so
	}
	// The request's own context ends with any failure to read, also for a client that was only slow.
	ctx, stop := context.WithCancelCause(context.WithoutCancel(r.Context()))
	defer stop(nil)
	defer context.AfterFunc(r.Context(), func() {
		if cause := context.Cause(r.Context()); errors.Is(cause, errCut) {
			stop(cause)
		}
	})()
	in := &slowly{r: r, c: c, wait: s.bodyTime, leaving: s.leaving, gone: func() { stop(errGone) }}
	defer in.watch()()
	out := &steadily{w: w, c: c}
	w.Header().Set("Content-Type", api.JSONLines)
	w.Header().Set("Connection", "close") // what is left of a body begins no other request
	job := batch.Job{
		Input: input.Lines("the body", in, settings.FormatJSONL), Output: output.Stream(out), Total: -1,
		Workers: cap(s.queue.working), MaxErrors: -1, Abandon: true,
		Do: func(ctx context.Context, it *input.Item) (batch.Record, error) {
			return s.line(ctx, fill, it)
		},
	}
	_, err = job.Run(ctx)
	switch {
	case err == nil, out.n == 0 && !errors.Is(err, errGone):
		return err
	case errors.Is(err, errGone), errors.Is(err, context.Canceled):
		return errGone
	}
	// The client has records already: the last line says why there are no more.
	f := asFailure(err)
	b, err2 := encode(f.answer())
	if err2 == nil {
		_, err2 = out.Write(b)
	}
	return errors.Join(err2, &told{f, err})
}

// forFile is the model's filler with the settings of an address.
func (m *model) forFile(q map[string][]string) (*records.Filler, error) {
	fields, err := queryFields(q)
	if err != nil {
		return nil, err
	}
	r := &request{item: input.Item{Fields: fields}}
	r.seeded()
	fill := *m.filler
	fill.Filling, _, err = fill.Filling.ForLine(m.model.Tokenizer(), r.item.Choices())
	return &fill, err
}

// line is the record of a line, which takes a place of its own for its time.
func (s *Server) line(ctx context.Context, fill *records.Filler, it *input.Item) (batch.Record,
	error) {
	leave, err := s.queue.work(ctx)
	if err != nil {
		return batch.Record{}, err
	}
	defer leave()
	t := s.begin(ctx)
	defer t.end()
	filled, err := s.work(t, fill, it, nil)
	var f *failure
	if errors.Is(err, context.DeadlineExceeded) {
		err = asFailure(err)
	}
	if !errors.As(err, &f) {
		return records.Encoded(it, filled, err, settings.FillTable().Has)
	}
	var rec jsonl.Record = &jsonl.Failed{Item: jsonl.Item{Text: it.Text}}
	if f.record != nil {
		rec = f.record
	}
	rec.By().Error = &jsonl.Failure{Code: f.code, Message: f.message}
	out, err := records.Encoded(it, rec, nil, settings.FillTable().Has)
	out.Failed, out.Cause = true, f
	return out, err
}

// A slowly reads a body that comes in pieces. Each has its time.
type slowly struct {
	r       *http.Request
	c       *http.ResponseController
	wait    time.Duration // for a piece
	leaving <-chan struct{}
	gone    func() // is called once the client has gone away

	mu     sync.Mutex
	whole  bool // all was read
	forced bool // a read was ended because the server drains
}

// Read fails with a failure if the server drains, or if the client sends nothing for too long.
func (s *slowly) Read(b []byte) (int, error) {
	// A reader of lines asks again after the end, if the last line has no end of its own. The answer
	// is the same while the server drains. A deadline would end the wait for news of the client.
	s.mu.Lock()
	whole := s.whole
	s.mu.Unlock()
	if whole {
		return 0, io.EOF
	}
	if s.left() {
		return 0, fail(codeDraining, "the server is about to end; ask another one for the rest")
	}
	_ = s.c.SetReadDeadline(time.Now().Add(s.wait)) // writers of tests have none
	if s.left() {                                   // in between
		_ = s.c.SetReadDeadline(time.Now())
	}
	n, err := s.r.Body.Read(b)
	switch {
	case err == nil:
		return n, nil
	case err == io.EOF:
		// From here on nothing is read but the news that the client has gone, without a deadline.
		s.mu.Lock()
		s.whole = true
		forced := s.forced
		s.mu.Unlock()
		if forced { // the next read fails, and tells nothing about the client
			return n, err
		}
		context.AfterFunc(s.r.Context(), func() {
			if !errors.Is(context.Cause(s.r.Context()), errCut) {
				s.gone()
			}
		})
		return n, err
	case errors.Is(err, os.ErrDeadlineExceeded) && s.left():
		return n, fail(codeDraining, "the server is about to end; ask another one for the rest")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return n, fail(codeSlow, "no line came for %v", s.wait)
	}
	s.gone()
	return n, fmt.Errorf("%w: %w", errGone, err)
}

func (s *slowly) left() bool {
	select {
	case <-s.leaving:
		return true
	default:
		return false
	}
}

// watch ends a read that waits when the server drains. The function it returns ends the watch.
func (s *slowly) watch() func() {
	done := make(chan struct{})
	go func() {
		select {
		case <-s.leaving:
			s.mu.Lock()
			defer s.mu.Unlock()
			if !s.whole {
				s.forced = true
				_ = s.c.SetReadDeadline(time.Now())
			}
		case <-done:
		}
	}()
	return func() { close(done) }
}

// A steadily writes records or events, each at once. A client that does not take them is gone.
type steadily struct {
	w http.ResponseWriter
	c *http.ResponseController
	n int64
}

func (s *steadily) Write(b []byte) (int, error) {
	n, err := s.w.Write(b)
	s.n += int64(n)
	if err == nil {
		err = s.c.Flush()
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", errGone, err)
	}
	return n, err
}
