package server

import (
	"bytes"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"infill/infill"
	"infill/infill/jsonl"
	"infill/infill/text"
	"infill/server/api"
	"infill/tokenize"
)

// frameTime is the least time between two frames that a client is sent.
const frameTime = 50 * time.Millisecond

// events writes a stream. Frames, which are steps or what a search found, are written by a
// goroutine of its own, so that a client that reads slowly holds nothing up: what it has no time
// for is left out.
type events struct {
	out   *steadily
	form  string
	begun bool
	mu    sync.Mutex    // of those who have frames
	next  chan any      // the frame that is to be written, a *stepEvent or a *foundEvent
	ended chan struct{} // no frame follows
	done  chan struct{} // all are written
	gone  atomic.Bool   // the client takes nothing any more
}

func newEvents(w http.ResponseWriter, form string) *events {
	return &events{out: &steadily{w: w, c: http.NewResponseController(w)}, form: form,
		next: make(chan any, 1), ended: make(chan struct{}), done: make(chan struct{})}
}

// begin writes the header and the first event. gone is called if the client goes away later.
func (e *events) begin(v *startEvent, gone func()) error {
	h := e.out.w.Header()
	h.Set("Content-Type", e.form)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // a proxy would hold events back
	e.begun = true
	err := e.send("start", v)
	go func() {
		defer close(e.done)
		for f := range e.next {
			name := "found"
			if _, ok := f.(*stepEvent); ok {
				name = "step"
			}
			if e.send(name, f) != nil {
				e.gone.Store(true)
				gone()
				return
			}
			select {
			case <-time.After(frameTime):
			case <-e.ended:
			}
		}
	}()
	return err
}

// frame hands over a frame to be written. One that was not written yet is left out, but what was
// accepted in a step is not.
func (e *events) frame(f any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var old any
	select {
	case old = <-e.next:
	default:
	}
	if f, ok := f.(*stepEvent); ok {
		old, _ := old.(*stepEvent)
		f.join(old)
	}
	e.next <- f
}

// finish waits until the last frame is written. More calls do nothing.
func (e *events) finish() {
	if !e.begun {
		return
	}
	e.begun = false
	close(e.ended)
	close(e.next)
	<-e.done
}

// failed is errGone once the client takes nothing any more.
func (e *events) failed() error {
	if e.gone.Load() {
		return errGone
	}
	return nil
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
	_, err := e.out.Write(b.Bytes())
	return err
}

// aloneWords bounds the words that a stream has of a blank, foundFillings the fillings of a frame.
const (
	aloneWords    = 20
	foundFillings = 100
)

// A startEvent is the first event of a stream.
type startEvent struct {
	Blanks int `json:"blanks"`
	// Method is search, exact or sample. Chains and Steps are for sampling only.
	Method string `json:"method"`
	Chains int    `json:"chains,omitempty"`
	Steps  *int   `json:"steps,omitempty"`
	Model  string `json:"model"`
	// Alone has, for every blank, the likeliest words when all blanks are masked.
	Alone [][]aloneWord `json:"alone"`
}

type aloneWord struct {
	Token string  `json:"token"`
	P     float64 `json:"p"`
}

// A foundEvent is how far a search is.
type foundEvent struct {
	Rows     int            `json:"rows"`     // of the model, up to now
	Fillings []foundFilling `json:"fillings"` // the best up to now, best first
	// Filled of all Blanks are filled, of a long text that is filled in groups, which has no Fillings.
	Filled int `json:"filled_blanks,omitempty"`
	Blanks int `json:"blanks,omitempty"`
}

type foundFilling struct {
	Text   string   `json:"text"`
	Tokens []string `json:"tokens"`
	Spans  [][2]int `json:"spans"`
	Score  float64  `json:"score"`
}

func foundBy(p infill.Progress) *foundEvent {
	e := &foundEvent{Rows: p.Rows, Fillings: []foundFilling{}, Filled: p.Filled,
		Blanks: p.Blanks}
	for _, f := range p.Best[:min(len(p.Best), foundFillings)] {
		e.Fillings = append(e.Fillings, foundFilling{f.Text, f.Tokens, f.Spans, f.Score})
	}
	return e
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

// stepOf makes an event of a step. asModel leaves words without the capitals of fillings.
func stepOf(tp *text.Template, asModel bool, st infill.Step) *stepEvent {
	f := &stepEvent{Step: st.Step, Moved: make([]bool, len(st.Energy))}
	copy(f.Moved, st.Accepted)
	for k, proposed := range st.Proposed {
		if proposed {
			f.proposed++
		}
		if st.Accepted[k] {
			f.accepted++
		}
	}
	for k, u := range st.Energy {
		f.Energy = append(f.Energy, jsonl.Finite(u))
		words := spelt(tp.Tok, st.Tokens(k), st.Starts(k))
		if !asModel {
			whole, spans := tp.Splice(words)
			for b, s := range spans {
				words[b] = whole[s[0]:s[1]]
			}
		}
		f.Tokens = append(f.Tokens, words)
	}
	return f
}

// spelt are the words of every blank.
func spelt(tok *tokenize.Tokenizer, ids []int32, starts []int) []string {
	out := make([]string, len(starts))
	for b, from := range starts {
		to := len(ids)
		if b+1 < len(starts) {
			to = starts[b+1]
		}
		out[b] = text.Word(tok, ids[from:to])
	}
	return out
}

// join takes in what happened in an event that is left out, nil for none.
func (f *stepEvent) join(old *stepEvent) {
	if old != nil {
		for k, moved := range old.Moved {
			f.Moved[k] = f.Moved[k] || moved
		}
		f.accepted, f.proposed = f.accepted+old.accepted, f.proposed+old.proposed
	}
	if f.proposed > 0 {
		f.Accepted = float64(f.accepted) / float64(f.proposed)
	}
}

// A doneEvent is the last event of a stream.
type doneEvent struct {
	Record rawRecord `json:"record"`
}
