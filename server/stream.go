package server

import (
	"errors"
	"net/http"

	"infill/infill"
	"infill/infill/jsonl"
	"infill/infill/text"
)

// stream fills and tells of it by events. Before the first event an error is returned, after it the
// error is an event.
func (s *Server) stream(w http.ResponseWriter, t *timed, m *model, q *request, form string) error {
	e := newEvents(w, form)
	defer e.finish() // after a panic, too
	rec, err := s.filled(t, m, &q.item, func(tp *text.Template, o *infill.Options) error {
		ran := o.Complete()
		alone, err := alone(t.works, m.model, tp)
		if err != nil {
			return err
		}
		o.Watch.TraceEnergies = true // of all samplers, so that they can be compared
		o.Watch.Trace = func(st infill.Step) error {
			e.frame(stepOf(m.model.Tokenizer(), st))
			return e.failed()
		}
		o.Watch.Progress = func(p infill.Progress) error {
			e.frame(foundBy(p))
			return e.failed()
		}
		o.Watch.Chosen = func(method infill.Method) error {
			first := &startEvent{Blanks: len(tp.Blanks), Method: method.String(), Model: m.name,
				Alone: alone}
			if method == infill.MethodSample {
				steps := ran.Sampling.Steps
				first.Chains, first.Steps = ran.Sampling.Chains, &steps
			}
			return e.begin(first, t.end) // a client that goes away ends the work
		}
		return nil
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
		return e.send("done", doneEvent{b})
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
