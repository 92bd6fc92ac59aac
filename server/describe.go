package server

import (
	"net/http"
	"reflect"

	"infill/infill/jsonl"
	"infill/server/api"
)

// openapi answers GET /openapi.json.
func (s *Server) openapi(w http.ResponseWriter, _ *http.Request) error {
	d := api.Server{
		Version: s.opt.Version, Keys: len(s.opt.Keys) > 0,
		Answers: map[string]reflect.Type{
			"filled": reflect.TypeFor[jsonl.Filled](), "scored": reflect.TypeFor[jsonl.Scored](),
			"ranked": reflect.TypeFor[jsonl.Ranked](), "failed": reflect.TypeFor[jsonl.Failed](),
			"error":  reflect.TypeFor[answer](),
			"tokens": reflect.TypeFor[jsonl.Tokens](), "models": reflect.TypeFor[modelAnswer](),
		},
		Events: map[string]reflect.Type{
			"start": reflect.TypeFor[startEvent](), "found": reflect.TypeFor[foundEvent](),
			"step": reflect.TypeFor[stepEvent](), "done": reflect.TypeFor[doneEvent](),
			"error": reflect.TypeFor[answer](),
		},
	}
	for _, m := range meanings {
		d.Failures = append(d.Failures, api.Failure(m))
	}
	return writeValue(w, d.Document())
}

// form answers GET /settings.json with the settings that a request may have.
func (s *Server) form(w http.ResponseWriter, _ *http.Request) error {
	s.mu.RLock()
	parts := append([]string{"edit"}, s.parts.Names()...)
	s.mu.RUnlock()
	w.Header().Set("Cache-Control", "no-cache")
	return writeValue(w, api.Form(parts))
}
