package server

import (
	"bytes"
	"errors"
	"net/http"
	"sync"
	"time"

	"infill/infill"
	"infill/infill/jsonl"
)

// frameTime is the least time between two steps that a client is sent.
const frameTime = 50 * time.Millisecond

// aloneWords and countedWords bound the words that a stream has of a blank.
const (
	aloneWords   = 20
	countedWords = 100
)

// A startEvent is the first event of a stream.
type startEvent struct {
	Blanks int    `json:"blanks"`
	Chains int    `json:"chains"`
	Steps  int    `json:"steps"`
	Model  string `json:"model"`
	// MarksSpaces is true for a vocabulary that marks the pieces after a space (Ġ or ▁) and not those
	// inside words (##).
	MarksSpaces bool `json:"marks_spaces"`
	// Alone has, for every blank, the likeliest words when all blanks are masked.
	Alone [][]aloneWord `json:"alone"`
}

type aloneWord struct {
	Token string  `json:"token"`
	P     float64 `json:"p"`
}

// A stepEvent is the state of all chains after a step.
type stepEvent struct {
	Step   int        `json:"step"`
	Energy []*float64 `json:"energy"` // nats by chain, null for what is not a number
	Tokens [][]string `json:"tokens"` // by chain and blank
	// Moved is true for a chain that accepted a proposal since the event before, Accepted is the
	// share of accepted proposals among those of another state.
	Moved    []bool  `json:"moved"`
	Accepted float64 `json:"accepted"`

	accepted, proposed int
}

// A doneEvent is the last event of a stream.
type doneEvent struct {
	Record rawRecord `json:"record"`
	// Marginals has, for every blank, the words of all chains after the burn-in, most frequent
	// first.
	Marginals [][]countedWord `json:"marginals"`
}

type countedWord struct {
	Token string  `json:"token"`
	Count int     `json:"count"`
	P     float64 `json:"p"` // Count over the number of chains and steps that were counted
}

// stream fills and tells of it by events. Before the first event an error is returned, after it the
// error is an event.
func (s *Server) stream(w http.ResponseWriter, t *timed, m *model, q *request, form string) error {
	e := newEvents(w, form)
	defer e.finish() // after a panic, too
	count := &counts{tok: m.model.Tokenizer()}
	for _, f := range q.item.Fields {
		if f.Name == "method" && string(f.Value) == `"search"` {
			return fail("bad_option", `"method" is "search", and a stream is of chains; leave one of the `+
				"two out")
		}
	}
	// The chains are what a stream is about.
	rec, err := s.filled(t, m, &q.item, true, func(tp *infill.Template, o *infill.Options) error {
		ran := o.Complete()
		alone, err := alone(t.works, m.model, tp)
		if err != nil {
			return err
		}
		count.burnin = ran.Burnin()
		o.TraceEnergies = true // of all samplers, so that they can be compared
		o.Trace = func(st infill.Step) error {
			e.step(count.add(st))
			return e.failed()
		}
		return e.begin(&startEvent{len(tp.Blanks()), ran.Chains, ran.Steps, m.name,
			m.model.Tokenizer().MarksSpaces(), alone}, t.end) // a client that goes away ends the work
	})
	if !e.begun {
		return err
	}
	e.finish()
	switch {
	case err == nil:
		b, err := jsonl.Append(nil, rec)
		if err != nil {
			return err
		}
		return e.send("done", doneEvent{b, count.words()})
	case errors.Is(err, errGone) || e.failed() != nil:
		return errGone
	}
	f := asFailure(err)
	return errors.Join(e.send("error", f.answer()), &told{f, err})
}

// A told is a failure that the client knows of already.
type told struct {
	*failure
	cause error
}

func (t *told) Unwrap() error { return t.cause }

// events writes a stream. Steps are written by a goroutine of its own, so that a client that reads
// slowly holds nothing up: what it has no time for is left out.
type events struct {
	w     http.ResponseWriter
	c     *http.ResponseController
	form  string
	begun bool
	done  chan struct{}
	once  sync.Once

	mu    sync.Mutex
	next  *stepEvent // that is to be written
	wake  chan struct{}
	ended bool
	err   error
}

func newEvents(w http.ResponseWriter, form string) *events {
	return &events{w: w, c: http.NewResponseController(w), form: form, wake: make(chan struct{}, 1),
		done: make(chan struct{})}
}

// begin writes the header and the first event. gone is called if the client goes away later.
func (e *events) begin(v *startEvent, gone func()) error {
	h := e.w.Header()
	h.Set("Content-Type", e.form)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // a proxy would hold events back
	e.begun = true
	err := e.send("start", v)
	go func() {
		defer close(e.done)
		if e.write() != nil {
			gone()
		}
	}()
	return err
}

// write writes steps until finish.
func (e *events) write() error {
	var last time.Time
	for range e.wake {
		e.mu.Lock()
		ended := e.ended
		e.mu.Unlock()
		if rest := time.Until(last.Add(frameTime)); rest > 0 && !ended {
			time.Sleep(rest)
		}
		e.mu.Lock()
		f := e.next
		e.next = nil
		e.mu.Unlock()
		if f == nil {
			continue
		}
		last = time.Now()
		if err := e.send("step", f); err != nil {
			e.mu.Lock()
			e.err = err
			e.mu.Unlock()
			return err
		}
	}
	return nil
}

// step hands over a step to be written. One that was not written yet is left out, but what was
// accepted in it is not.
func (e *events) step(f *stepEvent) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if old := e.next; old != nil {
		for k, moved := range old.Moved {
			f.Moved[k] = f.Moved[k] || moved
		}
		f.accepted, f.proposed = f.accepted+old.accepted, f.proposed+old.proposed
	}
	if f.proposed > 0 {
		f.Accepted = float64(f.accepted) / float64(f.proposed)
	}
	e.next = f
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// finish waits until the last step is written. More calls do nothing.
func (e *events) finish() {
	if !e.begun {
		return
	}
	e.once.Do(e.last)
}

func (e *events) last() {
	e.mu.Lock()
	e.ended = true
	e.mu.Unlock()
	select {
	case e.wake <- struct{}{}:
	default:
	}
	close(e.wake)
	<-e.done
}

// failed is errGone once the client takes nothing any more.
func (e *events) failed() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

// send writes an event.
func (e *events) send(name string, v any) error {
	var data, b bytes.Buffer
	if err := jsonl.Encode(&data, v); err != nil {
		return err
	}
	data.Truncate(data.Len() - 1) // the line end
	if e.form == ndjson {
		b.WriteString(`{"event":"` + name + `","data":`)
		b.Write(data.Bytes())
		b.WriteString("}\n")
	} else {
		b.WriteString("event: " + name + "\ndata: ")
		b.Write(data.Bytes())
		b.WriteString("\n\n")
	}
	_ = e.c.SetWriteDeadline(time.Now().Add(writeTime))
	_, err := e.w.Write(b.Bytes())
	if err == nil {
		err = e.c.Flush()
	}
	if err != nil {
		return errGone
	}
	return nil
}
