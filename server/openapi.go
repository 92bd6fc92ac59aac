package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"infill/infill/jsonl"
	"infill/infill/settings"
)

// A schema is one of JSON Schema, as OpenAPI 3.1 has them.
type schema map[string]any

// openapi answers GET /openapi.json.
func (s *Server) openapi(w http.ResponseWriter, _ *http.Request) error {
	return writeValue(w, s.document())
}

// document describes all routes. Schemas come from the settings and from the types of answers.
func (s *Server) document() schema {
	paths := map[string]schema{}
	for _, r := range s.routes() {
		path := strings.Replace(r.path, "...", "", 1)
		if paths[path] == nil {
			paths[path] = schema{}
		}
		paths[path][strings.ToLower(r.method)] = s.operation(&r)
	}
	doc := schema{
		"openapi": "3.1.0",
		"info": schema{"title": "infill", "version": s.opt.Version,
			"description": "Fills the blanks of sentences jointly. An answer continues the trace of the " +
				"header traceparent, or begins one."},
		"paths": paths,
		"components": schema{"schemas": schema{
			"fill": fillSchema(), "score": scoreSchema(), "text": textSchema(),
			"record": described("what a file of records has of the text, with the other fields of the "+
				"request", schemaOf(reflect.TypeFor[jsonl.Record]())),
			"error":  schemaOf(reflect.TypeFor[answer]()),
			"tokens": schemaOf(reflect.TypeFor[jsonl.Tokens]()),
			"models": object(schema{"models": listOf(schemaOf(reflect.TypeFor[modelAnswer]()))}, "models"),
			"mask":   maskSchema(),
			"event":  eventSchema(),
			"masks": schema{"description": "one list for one blank or with joint, a list for each of " +
				"several blanks, a list of these for several texts", "type": "array"},
			"status": object(schema{"status": schema{"type": "string"}}, "status"),
		}, "responses": failures()},
	}
	if len(s.opt.Keys) > 0 {
		doc["components"].(schema)["securitySchemes"] = schema{
			"key": schema{"type": "http", "scheme": "bearer"},
		}
	}
	return doc
}

// operation describes a route.
func (s *Server) operation(r *route) schema {
	out := schema{"summary": r.doc.summary}
	if r.doc.body != "" {
		kind := "application/json"
		if r.doc.lines {
			kind = ndjson
		}
		content := schema{"schema": ref(r.doc.body)}
		if r.doc.example != nil {
			content["examples"] = schema{"short": schema{"value": r.doc.example}}
		}
		out["requestBody"] = schema{"required": true, "content": schema{kind: content}}
	}
	var parameters []schema
	if strings.Contains(r.path, "{id...}") {
		parameters = append(parameters, schema{"name": "id", "in": "path", "required": true,
			"schema": schema{"type": "string"}})
	}
	if r.doc.query {
		for _, p := range settings.FillTable() {
			if p.Line {
				parameters = append(parameters, parameterOf(p))
			}
		}
		parameters = append(parameters, schema{"name": "model", "in": "query", "schema": modelType})
		if r.method == http.MethodGet {
			parameters = append(parameters, schema{"name": "text", "in": "query", "required": true,
				"schema": textType, "example": exampleText},
				schema{"name": "id", "in": "query", "schema": schema{"type": "string"},
					"description": idType["description"]},
				schema{"name": "stream", "in": "query", "schema": streamType})
		}
	}
	if parameters != nil {
		out["parameters"] = parameters
	}
	content := schema{}
	for _, kind := range r.doc.kinds {
		content[kind] = schema{}
		switch {
		case kind == eventStream:
			content[kind] = schema{"schema": schema{"type": "string", "description": "server-sent events " +
				"with the names and data of the schema event"}}
		case kind == ndjson && !r.doc.lines: // a line is an event
			content[kind] = schema{"schema": ref("event")}
		case r.doc.answer != "":
			content[kind] = schema{"schema": ref(r.doc.answer)}
		}
	}
	responses := schema{
		"200":     schema{"description": "the answer", "content": content},
		"default": schema{"description": "an error", "content": typed("application/json", "error")},
	}
	if r.costly {
		for status := range failures() {
			responses[status] = schema{"$ref": "#/components/responses/" + status}
		}
	}
	out["responses"] = responses
	if len(s.opt.Keys) > 0 && !r.open {
		out["security"] = []schema{{"key": []string{}}}
	}
	return out
}

// typed is content of one media type with a schema.
func typed(kind, name string) schema { return schema{kind: schema{"schema": ref(name)}} }

func ref(name string) schema { return schema{"$ref": "#/components/schemas/" + name} }

func object(properties schema, required ...string) schema {
	return schema{"type": "object", "properties": properties, "required": required}
}

func described(text string, s schema) schema {
	s["description"] = text
	return s
}

func listOf(items schema) schema { return schema{"type": "array", "items": items} }

var textType = schema{"type": "string",
	"description": "a sentence; [MASK], <mask> and ___ are blanks"}

var idType = schema{
	"type":        []string{"string", "number", "null"},
	"description": "the record repeats it, and as in a batch file the random numbers depend on it",
}

var streamType = schema{
	"type":        "boolean",
	"description": "answer with events, as the header Accept: text/event-stream asks",
}

var modelType = schema{
	"type": "string", "description": "the name of one of several models; the first without it",
}

// exampleText is what examples fill.
const exampleText = "The [MASK] sat on the [MASK]."

// eventSchema is a line of a stream.
func eventSchema() schema {
	var kinds []schema
	for _, e := range []struct {
		name string
		data reflect.Type
	}{
		{"start", reflect.TypeFor[startEvent]()}, {"found", reflect.TypeFor[foundEvent]()},
		{"step", reflect.TypeFor[stepEvent]()},
		{"done", reflect.TypeFor[doneEvent]()}, {"error", reflect.TypeFor[answer]()},
	} {
		kinds = append(kinds, object(schema{"event": schema{"const": e.name}, "data": schemaOf(e.data)},
			"event", "data"))
	}
	return schema{"oneOf": kinds}
}

// textSchema is the body of a request with nothing but a text.
func textSchema() schema {
	return object(schema{"text": textType, "id": idType, "model": modelType}, "text")
}

// fillSchema is the body of POST /v1/fill.
func fillSchema() schema {
	out := textSchema()
	properties := out["properties"].(schema)
	properties["stream"] = streamType
	for _, s := range settings.FillTable() {
		if s.Line {
			properties[s.Field()] = valueSchema(s.Value(settings.Defaults()), s.Doc)
		}
	}
	return out
}

// scoreSchema is the body of POST /v1/score.
func scoreSchema() schema {
	out := textSchema()
	for _, s := range settings.RankTable() {
		if s.Line {
			out["properties"].(schema)[s.Field()] = valueSchema(s.Value(&settings.Ranking{}), s.Doc)
		}
	}
	return out
}

// maskSchema is the body of the fill-mask task.
func maskSchema() schema {
	return object(schema{
		"inputs": schema{"type": []string{"string", "array"}, "items": schema{"type": "string"},
			"maxItems": maxTexts, "description": fmt.Sprintf("a text, or a list of at most %d", maxTexts)},
		"model": schema{"type": "string",
			"description": "the name of one of several models; /models/NAME takes no other"},
		"parameters": schema{"type": "object", "properties": schema{
			"top_k": schema{"type": "integer", "minimum": 1, "default": defaultTopK,
				"description": "the number of answers"},
			"targets": schema{"type": []string{"string", "array"}, "items": schema{"type": "string"},
				"description": "the only words that count, each one token of the model"},
			"joint": schema{"type": "boolean", "description": "fill all blanks together; settings such as " +
				"steps and seed may stand beside it"},
		}},
	}, "inputs")
}

// parameterOf is a setting in an address: a list has commas between, and an object is JSON.
func parameterOf(s *settings.Setting[settings.Fill]) schema {
	out := schema{"name": s.Field(), "in": "query", "description": s.Doc}
	value := valueSchema(s.Value(settings.Defaults()), s.Doc)
	delete(value, "description")
	switch kind := jsonType(s); {
	case value["enum"] != nil || value["type"] != nil:
	case kind == "array":
		value["type"], value["items"] = kind, schema{"type": "string"}
		out["style"], out["explode"] = "form", false
	case kind == "object":
		value["type"], value["contentMediaType"] = "string", "application/json"
	default:
		value["type"] = kind
	}
	out["schema"] = value
	return out
}

// valueSchema is the schema of a setting. What its own decoder checks further stands in words.
func valueSchema(v *settings.Value, doc string) schema {
	out := schema{"description": doc + " (" + v.WantJSON() + ")"}
	switch v.Kind {
	case settings.Bool:
		out["type"], out["description"] = "boolean", doc
	case settings.Whole:
		out["type"], out["minimum"], out["maximum"] = "integer", v.Min, v.Max
	case settings.Number:
		out["type"], out["minimum"] = "number", v.Min
	case settings.Choice:
		out["enum"], out["description"] = slices.Clone(v.Choices), doc
	}
	return out
}

// schemaOf is the schema of a type of answers.
func schemaOf(t reflect.Type) schema {
	switch t {
	case reflect.TypeFor[json.RawMessage]():
		return schema{}
	case reflect.TypeFor[rawRecord]():
		return ref("record")
	}
	switch t.Kind() {
	case reflect.Pointer:
		out := schemaOf(t.Elem())
		if kind, ok := out["type"].(string); ok {
			out["type"] = []string{kind, "null"}
		}
		return out
	case reflect.Struct:
		properties, required := schema{}, []string{}
		for _, f := range reflect.VisibleFields(t) {
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "-" || name == "" {
				continue
			}
			properties[name] = schemaOf(f.Type)
			if options != "omitempty" {
				required = append(required, name)
			}
		}
		return object(properties, required...)
	case reflect.Slice, reflect.Array:
		return listOf(schemaOf(t.Elem()))
	case reflect.Map:
		return schema{"type": "object", "additionalProperties": schemaOf(t.Elem())}
	case reflect.Bool:
		return schema{"type": "boolean"}
	case reflect.String:
		return schema{"type": "string"}
	case reflect.Float64:
		return schema{"type": "number"}
	case reflect.Interface:
		return schema{} // any value
	}
	return schema{"type": "integer"}
}
