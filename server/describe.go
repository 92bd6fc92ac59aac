package server

import (
	"fmt"
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
			"record": reflect.TypeFor[jsonl.Record](), "error": reflect.TypeFor[answer](),
			"tokens": reflect.TypeFor[jsonl.Tokens](), "models": reflect.TypeFor[modelAnswer](),
		},
		Events: map[string]reflect.Type{
			"start": reflect.TypeFor[startEvent](), "found": reflect.TypeFor[foundEvent](),
			"step": reflect.TypeFor[stepEvent](), "done": reflect.TypeFor[doneEvent](),
			"error": reflect.TypeFor[answer](),
		},
	}
	for _, m := range meanings {
		f := &failure{code: m.code, large: m.code == tooLong}
		d.Failures = append(d.Failures, api.Failure{Status: f.status(), Code: m.code, Means: m.means})
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

// meanings say for clients what errors mean, in the order of their statuses. too_long has two: of a
// body, and of a text, which is one of the codes of [jsonl.Code].
var meanings = []struct{ code, means string }{
	{"bad_json", "the body is not the object it has to be"},
	{codeUnauthorized, "a key is needed, in the header Authorization: Bearer KEY"},
	{codeOrigin, "a page of another site asks"},
	{codeHost, "the server is asked by a name that is not its own"},
	{codeNotFound, "there is no such path"},
	{codeUnknownModel, "there is no such model"},
	{codeMethod, "the path takes another method; Allow names those that it takes"},
	{codeSlow, fmt.Sprintf("the body, or the next piece of that of a batch, took more than %v",
		bodyTime)},
	{tooLong, fmt.Sprintf("the body has more than %d bytes", maxBody)},
	{codeTooMuchWork, "chains × (steps + 1) × tokens in the blanks are above the server's limit " +
		"([MASK*1-3] counts three), chains × these tokens × the vocabulary above 268,435,456, which is " +
		"not asked of a search, or the answers to inputs would be too large"},
	{codeTooManyTexts, fmt.Sprintf("there are more than %d inputs", api.MaxTexts)},
	{"no_blank, bad_option, …", "the text or a setting is at fault, as the codes of records say"},
	{codeOverloaded, "the queue is full; Retry-After says when to ask again"},
	{codeInternal, "the server failed; the line of its log with the trace of this answer says more"},
	{codeLoading, "the model is not there yet"},
	{codeDraining, "the server is about to end"},
	{codeTimeout, "the time was over; record has the best up to then, with ended: stopped"},
}
