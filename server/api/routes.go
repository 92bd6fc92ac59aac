// Package api is the description of the service: its routes, what they take and answer as OpenAPI
// has it, and the form of its settings.
package api

// Media types of answers that have many objects.
const (
	EventStream = "text/event-stream"
	JSONLines   = "application/x-ndjson"
)

// MaxTexts is the greatest number of texts of one request of the fill-mask task, and DefaultTopK
// the number of its answers when nobody asks for another.
const (
	MaxTexts    = 32
	DefaultTopK = 5
)

// A Route is a method and a path, and what the description says of them.
type Route struct {
	Method, Path string
	Open         bool // it needs no key

	summary      string
	body, answer string   // names of schemas
	lines        bool     // the body has many such objects, one a line
	query        bool     // the address may have settings
	kinds        []string // media types of the answer
	example      any      // of the body
}

// Name is how metrics call a route.
func (r *Route) Name() string { return r.Method + " " + r.Path }

// exampleText is what examples fill.
const exampleText = "The [MASK] sat on the [MASK]."

type fields = map[string]any // of an example

var (
	jsonKind = []string{"application/json"}
	htmlKind = []string{"text/html"}
	events   = []string{"application/json", EventStream, JSONLines}
	sat      = fields{"text": "A cat sat."}
	sequence = fields{"inputs": "The [MASK] sat.", "parameters": fields{"top_k": 3}}
)

// Routes are all there are.
var Routes = []Route{
	{Method: "POST", Path: "/v1/fill", summary: "fill the blanks of a text",
		body: "fill", answer: "record", kinds: events, example: fields{"text": exampleText, "seed": 1}},
	{Method: "POST", Path: "/v1/batch", summary: "fill many texts, one a line",
		body: "fill", answer: "record", lines: true, query: true, kinds: []string{JSONLines},
		example: fields{"text": exampleText, "id": 7}},
	{Method: "POST", Path: "/v1/score",
		summary: "score a text, or rank candidates for its blank", body: "score", answer: "record",
		kinds: jsonKind, example: sat},
	{Method: "POST", Path: "/v1/tokenize", summary: "the tokens of a text", body: "text",
		answer: "tokens", kinds: jsonKind, example: sat},
	{Method: "GET", Path: "/v1/models", summary: "the models", answer: "models", kinds: jsonKind},
	{Method: "POST", Path: "/", summary: "the fill-mask task of Hugging Face",
		body: "mask", answer: "masks", kinds: jsonKind, example: sequence},
	{Method: "POST", Path: "/models/{id...}",
		summary: "the fill-mask task of Hugging Face, of a model", body: "mask", answer: "masks",
		kinds: jsonKind, example: sequence},
	{Method: "GET", Path: "/health", Open: true, summary: "the server is alive", answer: "status",
		kinds: jsonKind},
	{Method: "GET", Path: "/ready", Open: true, summary: "the server takes requests",
		answer: "status", kinds: jsonKind},
	{Method: "GET", Path: "/metrics", Open: true, summary: "counts for Prometheus",
		kinds: []string{"text/plain"}},
	{Method: "GET", Path: "/openapi.json", Open: true, summary: "this description", kinds: jsonKind},
	{Method: "GET", Path: "/docs", Open: true, summary: "this description, as a page",
		kinds: htmlKind},
	{Method: "GET", Path: "/settings.json", Open: true, summary: "the settings, for the page",
		kinds: jsonKind},
	{Method: "GET", Path: "/", Open: true, summary: "the page for browsers", kinds: htmlKind},
}
