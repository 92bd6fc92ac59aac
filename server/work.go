package server

import (
	"context"
	"errors"
	"math"
	"net/http"
	"sync/atomic"
	"time"

	"infill/infill"
	"infill/infill/batch/input"
	"infill/infill/jsonl"
	"infill/infill/records"
	"infill/infill/settings"
	"infill/infill/text"
	"infill/internal/count"
)

// request reads what a client asks for.
func (s *Server) request(w http.ResponseWriter, r *http.Request, lists bool) (*request, error) {
	values, err := addressed(r)
	if err != nil {
		return nil, err
	}
	for name := range values { // which nobody would read
		return nil, fail("bad_option", "%q stands in the address; put it into the body", name)
	}
	body, err := s.readBody(w, r)
	if err != nil {
		return nil, err
	}
	q, err := decode(body, lists)
	if err != nil {
		return nil, err
	}
	if s.opt.LogTexts {
		s.log(r).Info("text", "path", r.URL.Path, "text", q.item.Text)
	}
	return q, nil
}

// filled is the record of an item with its own fields, settings apart: what a single record is
// wherever it is printed. The rest is as with work.
func (s *Server) filled(t *timed, m *model, it *input.Item,
	look func(*text.Template, *infill.Options) error) (*jsonl.Filled, error) {
	rec, err := s.work(t, m.filler, it, look)
	var f *failure
	done := rec
	if errors.As(err, &f) {
		done = f.record
	}
	if done != nil {
		identify(done, it, settings.FillTable().Has)
	}
	return rec, err
}

// work fills an item. look, if not nil, sees the options before they are used. If the time was over
// before the end, the error is a failure that has the record of what was found by then.
func (s *Server) work(t *timed, fill *records.Filler, it *input.Item, look func(*text.Template,
	*infill.Options) error) (*jsonl.Filled, error) {
	s.counts.texts.Add(1)
	rec, err := fill.Fill(t.works, it, func(tp *text.Template, o *infill.Options) error {
		if err := s.affordable(tp, o, fill.Model.VocabSize()); err != nil {
			return err
		}
		o.Watch.Stop = t.waits.Done()
		if look != nil {
			if err := look(tp, o); err != nil {
				return err
			}
		}
		s.counted(o)
		return nil
	})
	if err != nil {
		return nil, t.cause(err)
	}
	if errors.Is(t.works.Err(), context.Canceled) { // which is a reason to stop, too
		return nil, t.cause(context.Canceled)
	}
	if rec.Ended == infill.EndedStopped.String() {
		after := count.Of(rec.Steps, "step")
		if rec.Method == infill.MethodSearch.String() {
			after = count.Of(rec.Rows, "row") + " of the model"
		}
		f := fail(codeTimeout, "the time was over after %s", after)
		f.record = rec
		return nil, f
	}
	return rec, nil
}

// counted lets the metrics see the steps and the rows of a search as they are made.
func (s *Server) counted(o *infill.Options) {
	watch, rows := o.Watch.Progress, 0
	o.Watch.Progress = func(p infill.Progress) error {
		s.counts.searchRows.Add(int64(p.Rows - rows))
		rows = p.Rows
		if watch == nil {
			return nil
		}
		return watch(p)
	}
	trace := o.Watch.Trace
	o.Watch.Trace = func(st infill.Step) error {
		if st.Step > 0 {
			s.counts.chainSteps.Add(int64(len(st.Energy)))
		}
		if trace == nil {
			return nil
		}
		return trace(st)
	}
}

// affordable refuses a text that would take too much work. The start of the chains counts as a
// step: it is evaluated too, and with no steps at all it is the whole work. A search takes the rows
// that it may evaluate: those that nobody asked for are cut to what the server has.
func (s *Server) affordable(t *text.Template, o *infill.Options, vocab int) error {
	ran, tokens := o.Complete(), 0
	if ran.Method == infill.MethodSearch {
		if o.Search.Rows > s.opt.Work {
			return fail(codeTooMuchWork, `"most_rows" is %d, at most %d; ask for fewer`, o.Search.Rows,
				s.opt.Work)
		}
		o.Search.Rows = min(ran.Search.Rows, s.opt.Work)
		return nil
	}
	for _, b := range t.Blanks {
		tokens += b.Max
	}
	work := float64(ran.Sampling.Chains) * (float64(ran.Sampling.Steps) + 1) * float64(tokens)
	if work > float64(s.opt.Work) {
		return fail(codeTooMuchWork, `"chains" × ("steps" + 1) × blanks are %d × (%d + 1) × %d, at most `+
			"%d together; ask for fewer chains or steps", ran.Sampling.Chains, ran.Sampling.Steps,
			tokens, s.opt.Work)
	}
	return holdable(ran.Sampling.Chains, tokens, vocab)
}

// mostHeld bounds what the chains of a request hold at a time: for each token of the blanks a value
// for each token of the vocabulary, once in 4 bytes and once in 8. That is 3 GiB.
const mostHeld = 1 << 28

// holdable refuses chains whose states take too much memory, however few steps they make.
func holdable(chains, tokens, vocab int) error {
	if float64(chains)*float64(tokens)*float64(vocab) <= mostHeld {
		return nil
	}
	return fail(codeTooMuchWork, `"chains" × blanks are %d × %d, at most %d together with a `+
		"vocabulary of %d; ask for fewer chains", chains, tokens, mostHeld/vocab, vocab)
}

// timed is the time that a request has.
type timed struct {
	waits context.Context // ends at the limit, or once works has ended
	works context.Context // ends overTime later, for what can say nothing before its end
	end   func()
}

func (s *Server) begin(ctx context.Context) *timed {
	works, stop := context.WithTimeout(ctx, s.opt.Limit+overTime)
	waits, stop2 := context.WithTimeout(works, s.opt.Limit)
	return &timed{waits, works, func() { stop(); stop2() }}
}

// cause is the error of a request whose time may be over, whose client may be gone, or that the
// server has cut off.
func (t *timed) cause(err error) error {
	switch {
	case !errors.Is(err, context.Canceled) || !errors.Is(t.works.Err(), context.Canceled):
		return err
	case errors.Is(context.Cause(t.works), errCut):
		return errCut
	}
	return errGone
}

// A queue bounds how many requests and lines of batches are worked on, and how many requests wait.
type queue struct {
	working chan struct{} // a place each
	waits   chan struct{} // a wait for a place, but for those of lines of batches
	mean    atomic.Int64  // nanoseconds that a place is kept, a moving mean
}

func newQueue(places, waiting int) *queue {
	return &queue{working: make(chan struct{}, places), waits: make(chan struct{}, waiting)}
}

// enter waits for a place and returns the function that frees it. The error says that the queue is
// full, or is the cause of ctx's end.
func (q *queue) enter(ctx context.Context) (leave func(), err error) {
	select {
	case q.working <- struct{}{}: // never before one that waits: a place that is freed is theirs
		return q.begun(), nil
	default:
	}
	select {
	case q.waits <- struct{}{}:
		defer func() { <-q.waits }()
	default:
		return nil, &failure{code: codeOverloaded, wait: q.wait(),
			message: "too many requests wait already; ask again later"}
	}
	return q.work(ctx)
}

// work waits for a place without a bound on how many wait.
func (q *queue) work(ctx context.Context) (leave func(), err error) {
	select {
	case q.working <- struct{}{}:
		return q.begun(), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// begun returns the function that frees a place which was taken now.
func (q *queue) begun() (leave func()) {
	start := time.Now()
	return func() {
		old, took := q.mean.Load(), time.Since(start).Nanoseconds()
		q.mean.Store(old + (took-old)/8) // another update may be lost, which harms no estimate
		<-q.working
	}
}

// waiting is the number of requests that wait, lines of batches apart.
func (q *queue) waiting() int { return len(q.waits) }

// wait is about how long it takes until half of those who wait have a place, 1 s to a minute.
func (q *queue) wait() time.Duration {
	turns := float64(cap(q.working)+cap(q.waits)) / 2 / float64(cap(q.working))
	seconds := math.Ceil(turns * time.Duration(q.mean.Load()).Seconds())
	return time.Duration(min(max(seconds, 1), 60)) * time.Second
}
