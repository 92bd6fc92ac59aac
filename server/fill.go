package server

import (
	"net/http"
	"strings"

	"infill/server/api"
)

// fill answers POST /v1/fill.
func (s *Server) fill(w http.ResponseWriter, r *http.Request) error {
	q, err := s.request(w, r)
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
