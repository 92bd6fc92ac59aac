package api

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"infill/infill/settings"
)

// A Failure is an error that clients may get.
type Failure struct {
	Status      int
	Code, Means string
}

// A Server is what a description says of a server beside its routes.
type Server struct {
	Version string
	Keys    bool // requests need one
	// Answers are the types of answers by the names of their schemas, and Events those of the data of
	// events. A slice in them that has a JSON of its own is a record.
	Answers, Events map[string]reflect.Type
	Failures        []Failure
}

// Document is the description of all routes as OpenAPI 3.1 has it. Schemas come from the settings
// and from the types of answers.
func (s *Server) Document() map[string]any {
	paths := map[string]schema{}
	for _, r := range Routes {
		path := strings.Replace(r.Path, "...", "", 1)
		if paths[path] == nil {
			paths[path] = schema{}
		}
		paths[path][strings.ToLower(r.Method)] = s.operation(&r)
	}
	schemas := schema{
		"fill": fillSchema(), "score": scoreSchema(), "text": textSchema(), "mask": maskSchema(),
		"event": s.eventSchema(),
		"masks": schema{"description": "one list for one blank or with joint, a list for each of " +
			"several blanks, a list of these for several texts", "type": "array"},
		"status": object(schema{"status": schema{"type": "string"}}, "status"),
	}
	for name, t := range s.Answers {
		schemas[name] = schemaOf(t)
	}
	schemas["record"] = described("what a file of records has of the text, with the other fields of "+
		"the request", schema{"anyOf": []schema{ref("filled"), ref("scored"), ref("ranked"),
		ref("failed")}})
	schemas["models"] = object(schema{"models": listOf(schemas["models"].(schema))}, "models")
	components := schema{"schemas": schemas, "responses": s.failures()}
	if s.Keys {
		components["securitySchemes"] = schema{"key": schema{"type": "http", "scheme": "bearer"}}
	}
	return schema{
		"openapi": "3.1.0",
		"info": schema{"title": "infill", "version": s.Version,
			"description": "Fills the blanks of sentences jointly. An answer continues the trace of the " +
				"header traceparent, or begins one."}, "paths": paths, "components": components,
	}
}

// operation describes a route.
func (s *Server) operation(r *Route) schema {
	out := schema{"summary": r.summary}
	if r.body != "" {
		kind := "application/json"
		if r.lines {
			kind = JSONLines
		}
		content := schema{"schema": ref(r.body)}
		if r.example != nil {
			content["examples"] = schema{"short": schema{"value": r.example}}
		}
		out["requestBody"] = schema{"required": true, "content": schema{kind: content}}
	}
	var parameters []schema
	if strings.Contains(r.Path, "{id...}") {
		parameters = append(parameters, schema{"name": "id", "in": "path", "required": true,
			"schema": schema{"type": "string"}})
	}
	if r.query {
		for _, p := range settings.FillTable() {
			if p.Line {
				parameters = append(parameters, parameterOf(p))
			}
		}
		parameters = append(parameters, schema{"name": "model", "in": "query", "schema": modelType})
	}
	if parameters != nil {
		out["parameters"] = parameters
	}
	content := schema{}
	for _, kind := range r.kinds {
		content[kind] = schema{}
		switch {
		case kind == EventStream:
			content[kind] = schema{"schema": schema{"type": "string", "description": "server-sent events " +
				"with the names and data of the schema event"}}
		case kind == JSONLines && !r.lines: // a line is an event
			content[kind] = schema{"schema": ref("event")}
		case r.answer != "":
			content[kind] = schema{"schema": ref(r.answer)}
		}
	}
	responses := schema{
		"200":     schema{"description": "the answer", "content": content},
		"default": schema{"description": "an error", "content": typed("application/json", "error")},
	}
	if r.body != "" { // the others cost nothing
		for status := range s.failures() {
			responses[status] = schema{"$ref": "#/components/responses/" + status}
		}
	}
	out["responses"] = responses
	if s.Keys && !r.Open {
		out["security"] = []schema{{"key": []string{}}}
	}
	return out
}

// failures are the errors by status.
func (s *Server) failures() schema {
	out := schema{}
	for _, f := range s.Failures {
		status, text := fmt.Sprint(f.Status), f.Code+": "+f.Means
		if before, ok := out[status].(schema); ok {
			text = before["description"].(string) + "\n" + text
		}
		out[status] = schema{"description": text, "content": typed("application/json", "error")}
	}
	return out
}

// eventSchema is a line of a stream.
func (s *Server) eventSchema() schema {
	var kinds []schema
	for _, name := range slices.Sorted(maps.Keys(s.Events)) {
		kinds = append(kinds, object(schema{"event": schema{"const": name},
			"data": schemaOf(s.Events[name])}, "event", "data"))
	}
	return schema{"oneOf": kinds}
}
