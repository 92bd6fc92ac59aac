package server

import (
	"bytes"
	"net/http"
	"sync"
	"time"

	"infill/infill/jsonl"
	"infill/server/api"
)

// frameTime is the least time between two frames that a client is sent.
const frameTime = 50 * time.Millisecond

// events writes a stream. Frames, which are steps or what a search found, are written by a
// goroutine of its own, so that a client that reads slowly holds nothing up: what it has no time
// for is left out.
type events struct {
	w     http.ResponseWriter
	c     *http.ResponseController
	form  string
	begun bool
	done  chan struct{}
	once  sync.Once

	mu    sync.Mutex
	next  any // the frame that is to be written: a *stepEvent, a *foundEvent or nil
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

// write writes frames until finish.
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
		name := "found"
		if _, ok := f.(*stepEvent); ok {
			name = "step"
		}
		if err := e.send(name, f); err != nil {
			e.mu.Lock()
			e.err = err
			e.mu.Unlock()
			return err
		}
	}
	return nil
}

// frame hands over a frame to be written. One that was not written yet is left out, but what was
// accepted in a step is not.
func (e *events) frame(f any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if f, ok := f.(*stepEvent); ok {
		old, _ := e.next.(*stepEvent)
		f.join(old)
	}
	e.next = f
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// finish waits until the last frame is written. More calls do nothing.
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
	if e.form == api.JSONLines {
		b.WriteString(`{"event":"` + name + `","data":`)
		b.Write(data.Bytes())
		b.WriteString("}\n")
	} else {
		b.WriteString("event: " + name + "\ndata: ")
		b.Write(data.Bytes())
		b.WriteString("\n\n")
	}
	_, err := e.w.Write(b.Bytes())
	if err == nil {
		err = e.c.Flush()
	}
	if err != nil {
		return errGone
	}
	return nil
}
