package server

import (
	"net/http"

	"infill/infill/jsonl"
	"infill/infill/settings"
)

// score answers POST /v1/score.
func (s *Server) score(w http.ResponseWriter, r *http.Request) error {
	return s.simply(w, r, func(t *timed, m *model, q *request) error {
		rec, err := m.scorer.Item(t.waits, &q.item) // nothing is known before its end
		if err != nil {
			return err
		}
		rec.Of().ID, rec.Of().Line = q.item.ID, q.item.Line
		jsonl.Keep(rec, kept(&q.item, settings.RankTable().Has).Fields, settings.RankTable().Has)
		return writeRecord(w, rec)
	})
}

// tokenize answers POST /v1/tokenize.
func (s *Server) tokenize(w http.ResponseWriter, r *http.Request) error {
	return s.simply(w, r, func(_ *timed, m *model, q *request) error {
		enc, err := m.model.Tokenizer().Encode(q.item.Text)
		if err != nil {
			return err
		}
		return writeValue(w, &jsonl.Tokens{Line: q.item.Line, Text: q.item.Text, IDs: enc.IDs,
			Tokens: enc.Tokens, Offsets: enc.Spans})
	})
}

// simply reads a request and does something with a place.
func (s *Server) simply(w http.ResponseWriter, r *http.Request,
	do func(*timed, *model, *request) error) error {
	q, err := s.request(w, r)
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
