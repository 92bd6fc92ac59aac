package server

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"infill/infill/jsonl"
	"infill/server/page"
)

// A route is a method and a path, with what answers it.
type route struct {
	method, path string
	handle       func(http.ResponseWriter, *http.Request) error
	open         bool // it needs no key
	costly       bool // a page of another origin must not ask for it, whatever its method
	doc          doc
}

// A doc describes a route for /openapi.json. Bodies and answers are names of schemas there.
type doc struct {
	summary      string
	body, answer string
	lines        bool     // the body has many such objects, one a line
	query        bool     // the address may have settings
	kinds        []string // media types of the answer
	example      any      // of the body
}

func (r *route) name() string { return r.method + " " + r.path }

// jsonKind is the media type of most answers.
var jsonKind = []string{"application/json"}

// routes are all there are.
func (s *Server) routes() []route {
	events := []string{"application/json", eventStream, ndjson}
	mask := doc{summary: "the fill-mask task of Hugging Face", body: "mask", answer: "masks",
		kinds: jsonKind, example: schema{"inputs": "The [MASK] sat.", "parameters": schema{"top_k": 3}}}
	sat := schema{"text": "A cat sat."}
	return []route{
		{method: "POST", path: "/v1/fill", handle: s.fill, costly: true,
			doc: doc{summary: "fill the blanks of a text", body: "fill", answer: "record", kinds: events,
				example: schema{"text": exampleText, "seed": 1}}},
		{method: "GET", path: "/v1/fill", handle: s.fill, costly: true,
			doc: doc{summary: "the same by the address", query: true, answer: "record", kinds: events}},
		{method: "POST", path: "/v1/batch", handle: s.batch, costly: true,
			doc: doc{summary: "fill many texts, one a line", body: "fill", answer: "record", lines: true,
				query: true, kinds: []string{ndjson}, example: schema{"text": exampleText, "id": 7}}},
		{method: "POST", path: "/v1/score", handle: s.score, costly: true,
			doc: doc{summary: "score a text, or rank candidates for its blank", body: "score",
				answer: "record", kinds: jsonKind, example: sat}},
		{method: "POST", path: "/v1/tokenize", handle: s.tokenize, costly: true,
			doc: doc{summary: "the tokens of a text", body: "text", answer: "tokens", kinds: jsonKind,
				example: sat}},
		{method: "GET", path: "/v1/models", handle: s.listModels,
			doc: doc{summary: "the models", answer: "models", kinds: jsonKind}},
		{method: "POST", path: "/", handle: s.fillMask, costly: true, doc: mask},
		{method: "POST", path: "/models/{id...}", handle: s.fillMask, costly: true, doc: mask},
		{method: "GET", path: "/health", handle: s.health, open: true,
			doc: doc{summary: "the server is alive", answer: "status", kinds: jsonKind}},
		{method: "GET", path: "/ready", handle: s.isReady, open: true,
			doc: doc{summary: "the server takes requests", answer: "status", kinds: jsonKind}},
		{method: "GET", path: "/metrics", handle: s.metrics, open: true,
			doc: doc{summary: "counts for Prometheus", kinds: []string{"text/plain"}}},
		{method: "GET", path: "/openapi.json", handle: s.openapi, open: true,
			doc: doc{summary: "this description", kinds: jsonKind}},
		{method: "GET", path: "/docs", handle: page.Serve, open: true,
			doc: doc{summary: "this description, as a page", kinds: []string{"text/html"}}},
		{method: "GET", path: "/settings.json", handle: s.form, open: true,
			doc: doc{summary: "the settings, for the page", kinds: jsonKind}},
		{method: "GET", path: "/", handle: page.Serve, open: true,
			doc: doc{summary: "the page for browsers", kinds: []string{"text/html"}}},
	}
}

// mux hands requests to their routes.
func (s *Server) mux() *http.ServeMux {
	mux := http.NewServeMux()
	methods := map[string][]string{}
	handle := func(pattern string, r route) {
		mux.Handle(r.method+" "+pattern, s.answering(r))
		methods[pattern] = append(methods[pattern], r.method)
	}
	for _, r := range s.routes() {
		switch {
		case r.path != "/":
			handle(r.path, r)
		case r.method == http.MethodGet:
			for _, file := range page.Names() {
				handle("/"+file, r)
			}
			fallthrough
		default:
			handle("/{$}", r)
		}
	}
	for pattern, list := range methods {
		if slices.Contains(list, http.MethodGet) {
			list = append(list, http.MethodHead)
		}
		slices.Sort(list)
		allowed := strings.Join(list, ", ")
		mux.Handle(pattern, s.answering(route{open: true,
			handle: func(w http.ResponseWriter, r *http.Request) error {
				w.Header().Set("Allow", allowed)
				return fail(codeMethod, "%s answers %s, not %s", r.URL.Path, allowed, r.Method)
			}}))
	}
	mux.Handle("GET /docs/{$}", s.answering(route{open: true,
		handle: func(w http.ResponseWriter, _ *http.Request) error {
			w.Header().Set("Location", "../docs") // also where a proxy adds a prefix
			w.WriteHeader(http.StatusPermanentRedirect)
			return nil
		}}))
	mux.Handle("/", s.answering(route{open: true,
		handle: func(_ http.ResponseWriter, r *http.Request) error {
			return fail(codeNotFound, "there is nothing at %s; /docs and /openapi.json say what there is",
				r.URL.Path)
		}}))
	return mux
}

// health says that the server is alive.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, []byte("{\"status\":\"ok\"}\n"))
}

// isReady says that the server takes requests.
func (s *Server) isReady(w http.ResponseWriter, _ *http.Request) error {
	if _, err := s.find(""); err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, []byte("{\"status\":\"ready\"}\n"))
}

// A modelAnswer is what GET /v1/models says of a model.
type modelAnswer struct {
	Name         string   `json:"name"`
	Default      bool     `json:"default"`
	SHA256       string   `json:"sha256"`
	Architecture string   `json:"architecture"`
	Parameters   int64    `json:"parameters"`
	Vocab        int      `json:"vocab"`
	MaxLength    int      `json:"max_length"`
	Mask         string   `json:"mask"`
	Gradients    bool     `json:"gradients"`
	Warnings     []string `json:"warnings,omitempty"`
}

// listModels answers GET /v1/models.
func (s *Server) listModels(w http.ResponseWriter, _ *http.Request) error {
	if _, err := s.find(""); err != nil {
		return err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	var list []modelAnswer
	for i, m := range s.models {
		info := m.model.Info()
		list = append(list, modelAnswer{
			Name: m.name, Default: i == 0, SHA256: info.SHA256, Architecture: info.Architecture,
			Parameters: info.Parameters, Vocab: info.Vocab, MaxLength: info.MaxLength, Mask: info.Mask,
			Gradients: info.Gradients, Warnings: info.Warnings,
		})
	}
	return writeValue(w, map[string]any{"models": list})
}

// writeValue answers with any value as JSON.
func writeValue(w http.ResponseWriter, v any) error {
	b, err := encode(v)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, b)
}

// encode is a line of JSON.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	err := jsonl.Encode(&b, v)
	return b.Bytes(), err
}
