package server

import (
	"bytes"
	"cmp"
	_ "embed" // of the page
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

//go:embed docs.html
var docsSource string

var docsPage = template.Must(template.New("docs").Parse(docsSource))

// The types below are of /openapi.json what the page /docs shows.
type (
	apiDocument struct {
		Info struct {
			Title, Version, Description string
		}
		Paths      map[string]map[string]apiOperation
		Components struct {
			Schemas   map[string]*apiSchema
			Responses map[string]struct{ Description string }
		}
	}
	apiOperation struct {
		Summary     string
		RequestBody struct{ Content map[string]apiMedia }
		Parameters  []apiParameter
		Responses   map[string]struct{ Content map[string]apiMedia }
		Security    []any
	}
	apiParameter struct {
		Name, In, Description, Example string
		Required                       bool
		Schema                         *apiSchema
	}
	apiMedia struct {
		Schema  *apiSchema
		Example json.RawMessage
	}
	apiSchema struct {
		Ref                  string `json:"$ref"`
		Type                 any    // a name or a list of them
		Description          string
		Properties           map[string]*apiSchema
		Required             []string
		Items                *apiSchema
		AdditionalProperties *apiSchema
		Enum                 []string
		Const                string
		Default              any
		OneOf                []*apiSchema
	}
)

// A docsRoute is a route as the page shows it.
type docsRoute struct {
	Method, Path, Summary, Command string
	Key                            bool // it needs one
	Body                           []docsKind
	Parameters                     docsTable
	Answers                        []docsKind
}

// A docsKind is a media type, and the object that it has.
type docsKind struct{ Kind, Object string }

// A docsField is a member of an object, or a parameter.
type docsField struct {
	Name, Type, Doc string
	Required        bool
}

// A docsTable is a list of fields. Needed is what it says of those that have to be there.
type docsTable struct {
	Fields []docsField
	Needed string
}

// Docs reports whether any of the fields has an explanation.
func (t docsTable) Docs() bool {
	return slices.ContainsFunc(t.Fields, func(f docsField) bool { return f.Doc != "" })
}

// A docsObject is an object with its members, those within them too.
type docsObject struct {
	Name, Doc string
	docsTable
}

// A docsError is an error that clients may get.
type docsError struct{ Status, Code, Means string }

// docs answers GET /docs: the description of /openapi.json as a page, without a script.
func (s *Server) docs(w http.ResponseWriter, r *http.Request) error {
	b, err := encode(s.document())
	if err != nil {
		return err
	}
	var doc apiDocument
	if err := json.Unmarshal(b, &doc); err != nil {
		return err
	}
	at := "http://" + r.Host
	if r.TLS != nil {
		at = "https://" + r.Host
	}
	name := "NAME"
	if m, err := s.find(""); err == nil {
		// In a command nothing of a name is to be the shell's.
		name = strings.ReplaceAll(url.QueryEscape(m.name), "+", "%20")
	}
	var routes []docsRoute
	for _, rt := range s.routes() {
		path := strings.Replace(rt.path, "...", "", 1)
		sample := docsOf(rt.method, path, at, doc.Paths[path][strings.ToLower(rt.method)])
		sample.Command = strings.Replace(sample.Command, "{id}", name, 1)
		routes = append(routes, sample)
	}
	var page bytes.Buffer
	if err := docsPage.Execute(&page, map[string]any{"Info": doc.Info, "Routes": routes,
		"Objects": doc.objects(), "Errors": doc.errors()}); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	_, err = w.Write(page.Bytes())
	return err
}

// docsOf is a route by its operation.
func docsOf(method, path, at string, op apiOperation) docsRoute {
	out := docsRoute{Method: method, Path: path, Summary: op.Summary, Key: len(op.Security) > 0,
		Body: docsKinds(op.RequestBody.Content), Answers: docsKinds(op.Responses["200"].Content),
		Parameters: docsTable{Needed: "needed"}}
	ask := []string{"curl"}
	if out.Key {
		ask = append(ask, "-H 'Authorization: Bearer KEY'")
	}
	address, data := at+path, ""
	for _, p := range op.Parameters {
		out.Parameters.Fields = append(out.Parameters.Fields, docsField{p.Name, p.Schema.kind(),
			cmp.Or(p.Description, p.Schema.Description), p.Required})
		if p.Example != "" {
			address = fmt.Sprintf("'%s?%s=%s'", address, p.Name, url.QueryEscape(p.Example))
		}
	}
	for _, c := range op.RequestBody.Content {
		data = " -d '" + string(c.Example) + "'"
	}
	out.Command = strings.Join(append(ask, address), " ") + data
	return out
}

// docsKinds are media types in their order.
func docsKinds(content map[string]apiMedia) []docsKind {
	var out []docsKind
	for kind, c := range content {
		object := ""
		if c.Schema != nil {
			object = c.Schema.name()
		}
		out = append(out, docsKind{kind, object})
	}
	slices.SortFunc(out, func(a, b docsKind) int { return strings.Compare(a.Kind, b.Kind) })
	return out
}

// objects are those of the description, by their names.
func (d *apiDocument) objects() []docsObject {
	needed := map[string]string{}
	for _, methods := range d.Paths {
		for _, op := range methods {
			for _, c := range op.RequestBody.Content {
				needed[c.Schema.name()] = "needed"
			}
		}
	}
	var out []docsObject
	for name, s := range d.Components.Schemas {
		out = append(out, docsObject{name, s.Description,
			docsTable{s.fields("", nil), cmp.Or(needed[name], "always")}})
	}
	slices.SortFunc(out, func(a, b docsObject) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// errors are those of the description, by their status.
func (d *apiDocument) errors() []docsError {
	var out []docsError
	for status, r := range d.Components.Responses {
		for line := range strings.SplitSeq(r.Description, "\n") {
			code, means, _ := strings.Cut(line, ": ")
			out = append(out, docsError{status, code, means})
		}
	}
	slices.SortStableFunc(out, func(a, b docsError) int { return strings.Compare(a.Status, b.Status) })
	return out
}

// name is that of the object a schema refers to, "" for none.
func (s *apiSchema) name() string { return strings.TrimPrefix(s.Ref, "#/components/schemas/") }

// kind is the type of a schema in words.
func (s *apiSchema) kind() string {
	if s.Ref != "" {
		return s.name()
	}
	if len(s.Enum) > 0 {
		return strings.Join(s.Enum, " or ")
	}
	if s.Const != "" {
		return s.Const
	}
	types, _ := s.Type.([]any)
	if types == nil && s.Type != nil {
		types = []any{s.Type}
	}
	var out []string
	for _, t := range types {
		text := fmt.Sprint(t)
		if of := s.Items; text == "array" && of != nil {
			if inner := of.kind(); inner != "" {
				text = "list of " + inner
			}
		}
		if of := s.AdditionalProperties; text == "object" && of != nil {
			text = "object of " + cmp.Or(of.kind(), "any")
		}
		if text != "null" {
			out = append(out, text)
		}
	}
	return strings.Join(out, " or ")
}

// fields adds the members of a schema, whose names begin with at, in the order of the required ones
// first, then by name.
func (s *apiSchema) fields(at string, out []docsField) []docsField {
	for _, one := range s.OneOf {
		event := one.Properties["event"].Const
		out = one.Properties["data"].fields(event+" · ", append(out, docsField{Name: event,
			Type: "event " + one.Properties["data"].name()}))
	}
	var names []string
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		x, y := slices.Contains(s.Required, a), slices.Contains(s.Required, b)
		if x != y {
			return map[bool]int{true: -1, false: 1}[x]
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		p := s.Properties[name]
		doc := p.Description
		if p.Default != nil {
			doc = strings.TrimSpace(fmt.Sprintf("%s (default: %v)", doc, p.Default))
		}
		out = append(out, docsField{at + name, p.kind(), doc, slices.Contains(s.Required, name)})
		inner, in := p, at+name
		for inner.Items != nil {
			inner, in = inner.Items, in+"[]"
		}
		out = inner.fields(in+".", out)
	}
	return out
}
