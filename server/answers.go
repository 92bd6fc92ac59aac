package server

import (
	"bytes"
	"errors"
	"net/http"
	"strings"

	"infill/infill"
	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/infill/text"
	"infill/server/api"
)

// score answers POST /v1/score.
func (s *Server) score(w http.ResponseWriter, r *http.Request) error {
	return s.simply(w, r, true, func(t *timed, m *model, q *request) error {
		rec, err := m.scorer.Item(t.waits, &q.item) // nothing is known before its end
		if err != nil {
			return err
		}
		identify(rec, &q.item, settings.RankTable().Has)
		return writeRecord(w, rec)
	})
}

// tokenize answers POST /v1/tokenize.
func (s *Server) tokenize(w http.ResponseWriter, r *http.Request) error {
	return s.simply(w, r, false, func(_ *timed, m *model, q *request) error {
		enc, err := m.model.Tokenizer().Encode(q.item.Text)
		if err != nil {
			return err
		}
		return writeValue(w, &jsonl.Tokens{Line: q.item.Line, Text: q.item.Text, IDs: enc.IDs,
			Tokens: enc.Tokens, Offsets: enc.Spans})
	})
}

// simply reads a request and does something with a place.
func (s *Server) simply(w http.ResponseWriter, r *http.Request, lists bool,
	do func(*timed, *model, *request) error) error {
	q, err := s.request(w, r, lists)
	if err != nil {
		return err
	}
	return s.placed(r, q.model, func(t *timed, m *model) error {
		s.counts.texts.Add(1)
		return t.cause(do(t, m, q))
	})
}

// placed does something with a model when there is a place for it.
func (s *Server) placed(r *http.Request, name string, do func(*timed, *model) error) error {
	m, err := s.find(name)
	if err != nil {
		return err
	}
	t := s.begin(r.Context())
	defer t.end()
	leave, err := s.queue.enter(t.waits)
	if err != nil {
		return t.cause(err)
	}
	defer leave()
	return do(t, m)
}

// fill answers POST /v1/fill.
func (s *Server) fill(w http.ResponseWriter, r *http.Request) error {
	q, err := s.request(w, r, false)
	if err != nil {
		return err
	}
	form := streamForm(r, q.stream)
	q.seeded()
	return s.placed(r, q.model, func(t *timed, m *model) error {
		if form != "" {
			return s.stream(w, t, m, q, form)
		}
		rec, err := s.filled(t, m, &q.item, nil)
		if err != nil {
			return err
		}
		return writeRecord(w, rec)
	})
}

// streamForm is the media type of the events that a client wants, "" for a single answer.
func streamForm(r *http.Request, asked bool) string {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	switch {
	case strings.Contains(accept, api.JSONLines):
		return api.JSONLines
	case asked, strings.Contains(accept, api.EventStream):
		return api.EventStream
	}
	return ""
}

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
		o.Alike = ""                 // the work is to be seen
		o.Watch.TraceEnergies = true // of all samplers, so that they can be compared
		o.Watch.Trace = func(st infill.Step) error {
			e.frame(stepOf(tp, ran.Results.AsModel, st))
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

// writeRecord answers with a record.
func writeRecord(w http.ResponseWriter, rec jsonl.Record) error {
	b, err := jsonl.Append(nil, rec)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, append(b, '\n'))
}

// writeValue answers with any value as JSON.
func writeValue(w http.ResponseWriter, v any) error {
	b, err := encode(v)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, b)
}

// writeJSON answers with JSON. A client that does not take it is gone.
func writeJSON(w http.ResponseWriter, status int, b []byte) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if _, err := w.Write(b); err != nil {
		return errGone
	}
	return nil
}

// encode is a line of JSON.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	err := jsonl.Encode(&b, v)
	return b.Bytes(), err
}
