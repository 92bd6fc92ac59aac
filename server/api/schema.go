package api

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"infill/infill/settings"
)

// A schema is one of JSON Schema, as OpenAPI 3.1 has them.
type schema map[string]any

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
	out["properties"].(schema)["text"] = schema{"type": []string{"string", "array"},
		"items": schema{"type": "string"}, "description": "a text, or the words of one"}
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
			"maxItems": MaxTexts, "description": fmt.Sprintf("a text, or a list of at most %d", MaxTexts)},
		"model": schema{"type": "string",
			"description": "the name of one of several models; /models/NAME takes no other"},
		"parameters": schema{"type": "object", "properties": schema{
			"top_k": schema{"type": "integer", "minimum": 1, "default": DefaultTopK,
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
	switch {
	case v.Kind == reflect.Bool:
		out["type"], out["description"] = "boolean", doc
	case v.Kind == reflect.Int:
		out["type"], out["minimum"], out["maximum"] = "integer", v.Min, v.Max
	case v.Kind == reflect.Float64:
		out["type"], out["minimum"] = "number", v.Min
	case v.Choices != nil:
		out["enum"], out["description"] = slices.Clone(v.Choices), doc
	}
	return out
}

// schemaOf is the schema of a type of answers.
func schemaOf(t reflect.Type) schema {
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return schema{}
	case t.Kind() == reflect.Slice && t.Implements(reflect.TypeFor[json.Marshaler]()): // is encoded
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
