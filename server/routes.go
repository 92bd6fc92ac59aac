package server

import (
	"net/http"
	"reflect"
	"slices"
	"strings"

	"infill/infill/jsonl"
	"infill/server/api"
	"infill/server/page"
)

// handlers answer the routes, by their names.
func (s *Server) handlers() map[string]handler {
	return map[string]handler{
		"POST /v1/fill": s.fill, "POST /v1/batch": s.batch,
		"POST /v1/score": s.score, "POST /v1/tokenize": s.tokenize, "GET /v1/models": s.listModels,
		"POST /": s.fillMask, "POST /models/{id...}": s.fillMask,
		"GET /health": s.health, "GET /ready": s.isReady, "GET /metrics": s.metrics,
		"GET /openapi.json": s.openapi, "GET /settings.json": s.form,
		"GET /docs": page.Serve, "GET /": page.Serve,
	}
}

// mux hands requests to their routes.
func (s *Server) mux() *http.ServeMux {
	mux, handlers, methods := http.NewServeMux(), s.handlers(), map[string][]string{}
	handle := func(pattern string, r api.Route) {
		mux.Handle(r.Method+" "+pattern, s.answering(r, handlers[r.Name()]))
		methods[pattern] = append(methods[pattern], r.Method)
	}
	for _, r := range api.Routes {
		switch {
		case r.Path != "/":
			handle(r.Path, r)
		case r.Method == http.MethodGet:
			for _, file := range page.Names() {
				handle("/"+file, r)
			}
			fallthrough
		default:
			handle("/{$}", r)
		}
	}
	other := func(pattern string, h handler) {
		mux.Handle(pattern, s.answering(api.Route{Open: true}, h))
	}
	for pattern, list := range methods {
		if slices.Contains(list, http.MethodGet) {
			list = append(list, http.MethodHead)
		}
		slices.Sort(list)
		allowed := strings.Join(list, ", ")
		other(pattern, func(w http.ResponseWriter, r *http.Request) error {
			w.Header().Set("Allow", allowed)
			return fail(codeMethod, "%s answers %s, not %s", r.URL.Path, allowed, r.Method)
		})
	}
	other("GET /docs/{$}", func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Location", "../docs") // also where a proxy adds a prefix
		w.WriteHeader(http.StatusPermanentRedirect)
		return nil
	})
	other("/", func(_ http.ResponseWriter, r *http.Request) error {
		return fail(codeNotFound, "there is nothing at %s; /docs and /openapi.json say what there is",
			r.URL.Path)
	})
	return mux
}

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
