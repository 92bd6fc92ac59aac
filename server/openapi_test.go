package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"infill/infill/settings"
	"infill/server/api"
)

// valid says what is wrong with a value by a schema; members that the schema does not have are.
func valid(doc map[string]any, s map[string]any, v any, at string) []string {
	if name, ok := s["$ref"].(string); ok {
		name = strings.TrimPrefix(name, "#/components/schemas/")
		all := doc["components"].(map[string]any)["schemas"].(map[string]any)
		inner, ok := all[name].(map[string]any)
		if !ok {
			return []string{at + ": no schema " + name}
		}
		return valid(doc, inner, v, at)
	}
	if list, ok := s["oneOf"].([]any); ok {
		var fits, wrong []string
		for i, one := range list {
			if w := valid(doc, one.(map[string]any), v, at); w == nil {
				fits = append(fits, fmt.Sprint(i))
			} else {
				wrong = append(wrong, w...)
			}
		}
		if len(fits) != 1 {
			return append(wrong, fmt.Sprintf("%s: it fits %q", at, fits))
		}
		return nil
	}
	if want, ok := s["const"]; ok && v != want {
		return []string{fmt.Sprintf("%s: %v, want %v", at, v, want)}
	}
	var kinds []string
	switch t := s["type"].(type) {
	case nil:
		return nil
	case string:
		kinds = []string{t}
	case []any:
		for _, k := range t {
			kinds = append(kinds, k.(string))
		}
	}
	kind := map[bool]string{true: "integer", false: "number"}
	is := "null"
	switch v := v.(type) {
	case bool:
		is = "boolean"
	case float64:
		is = kind[v == float64(int64(v))]
	case string:
		is = "string"
	case []any:
		is = "array"
	case map[string]any:
		is = "object"
	}
	if !slices.Contains(kinds, is) && (is != "integer" || !slices.Contains(kinds, "number")) {
		return []string{fmt.Sprintf("%s: %s, want %v", at, is, kinds)}
	}
	var out []string
	switch v := v.(type) {
	case []any:
		items, _ := s["items"].(map[string]any)
		for i := range v {
			if items != nil {
				out = append(out, valid(doc, items, v[i], fmt.Sprintf("%s[%d]", at, i))...)
			}
		}
	case map[string]any:
		properties, _ := s["properties"].(map[string]any)
		more, _ := s["additionalProperties"].(map[string]any)
		for name := range v {
			p, ok := properties[name].(map[string]any)
			if !ok {
				p = more
			}
			if p == nil {
				out = append(out, at+": no property "+name)
				continue
			}
			out = append(out, valid(doc, p, v[name], at+"."+name)...)
		}
		required, _ := s["required"].([]any)
		for _, name := range required {
			if _, ok := v[name.(string)]; !ok {
				out = append(out, fmt.Sprintf("%s: %v is missing", at, name))
			}
		}
	}
	return out
}

// The description has every route, and what the handlers take and answer is as it says.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	s, h := start(t, Options{})
	var doc map[string]any
	if err := json.Unmarshal(ask(t, "GET", h.URL+"/openapi.json", "").body, &doc); err != nil {
		t.Fatal(err)
	}
	const text = `"text": "the [MASK] sleeps in the [MASK] ."`
	bodies := map[string][]string{
		"POST /v1/fill": {"{" + text + `, "id": 7, "seed": 1, "steps": 3}`,
			`{"text": "the dog sleeps .", "mask_words": 1, "steps": 2, "temperature": 0.5, "no_repeat": "text"}`},
		"POST /v1/batch":    {"{" + text + "}"},
		"POST /v1/score":    {`{"text": "the dog sleeps ."}`, `{"text": "the [MASK] .", "candidates": ["dog", "cat"]}`},
		"POST /v1/tokenize": {`{"text": "the dog sleeps ."}`},
		"POST /": {"{" + strings.Replace(text, "text", "inputs", 1) + "}",
			"{" + strings.Replace(text, "text", "inputs", 1) + `, "parameters": {"joint": true, "top_k": 2}}`},
		"POST /models/{id...}": {`{"inputs": "the [MASK] ."}`},
	}
	bad := map[string]string{"POST /v1/batch": "/v1/batch?x=1"}
	if n := len(s.handlers()); n != len(api.Routes) {
		t.Errorf("%d handlers of %d routes", n, len(api.Routes))
	}
	for _, r := range api.Routes {
		path := strings.ReplaceAll(r.Path, "...", "")
		op, ok := doc["paths"].(map[string]any)[path].(map[string]any)[strings.ToLower(r.Method)].(map[string]any)
		if !ok || op["summary"] == "" {
			t.Errorf("%s is not described", r.Name())
			continue
		}
		list := bodies[r.Name()]
		if _, takes := op["requestBody"]; takes != (list != nil) {
			t.Errorf("%s: a body is described: %v", r.Name(), takes)
		}
		if list == nil {
			list = []string{""}
		}
		url := h.URL + strings.ReplaceAll(path, "{id}", "tiny")
		answers := op["responses"].(map[string]any)
		content := answers["200"].(map[string]any)["content"].(map[string]any)
		for _, body := range list {
			if body != "" {
				for _, c := range op["requestBody"].(map[string]any)["content"].(map[string]any) {
					var v any
					if err := json.Unmarshal([]byte(body), &v); err != nil {
						t.Fatal(err)
					}
					if wrong := valid(doc, c.(map[string]any)["schema"].(map[string]any), v, "body"); wrong != nil {
						t.Errorf("%s %s: %q", r.Name(), body, wrong)
					}
				}
			}
			a := ask(t, r.Method, url, body)
			kind, _, _ := strings.Cut(a.header.Get("Content-Type"), ";")
			c, ok := content[kind].(map[string]any)
			if a.code != http.StatusOK || !ok {
				t.Errorf("%s: %d %s: %s", r.Name(), a.code, kind, a.body)
				continue
			}
			if schema, ok := c["schema"].(map[string]any); ok {
				var v any
				if err := json.Unmarshal(a.body, &v); err != nil {
					t.Fatal(err)
				}
				if wrong := valid(doc, schema, v, "answer"); wrong != nil {
					t.Errorf("%s %s: %q", r.Name(), a.body, wrong)
				}
			}
		}
		if r.Method == "POST" {
			at := url
			if p, ok := bad[r.Name()]; ok {
				at = h.URL + p
			}
			var v any
			a := ask(t, r.Method, at, "x")
			if err := json.Unmarshal(a.body, &v); err != nil || a.code == http.StatusOK ||
				valid(doc, map[string]any{"$ref": "#/components/schemas/error"}, v, "error") != nil {
				t.Errorf("%s: %d %s: %v", r.Name(), a.code, a.body, err)
			}
		}
	}
	fields := doc["components"].(map[string]any)["schemas"].(map[string]any)["fill"].(map[string]any)["properties"].(map[string]any)
	for _, s := range settings.FillTable() {
		if _, ok := fields[s.Field()]; ok != s.Line {
			t.Errorf("%s: described %v, of lines %v", s.Field(), ok, s.Line)
		}
	}
}

// Lines of a stream are the events that the description has, those of failures too, and the
// description knows all parameters of an address.
func TestOpenAPIEvents(t *testing.T) {
	t.Parallel()
	_, h := start(t, Options{Work: 1 << 40, Limit: 500 * time.Millisecond})
	var doc map[string]any
	if err := json.Unmarshal(ask(t, "GET", h.URL+"/openapi.json", "").body, &doc); err != nil {
		t.Fatal(err)
	}
	operation := func(path string) map[string]any {
		return doc["paths"].(map[string]any)[path].(map[string]any)["post"].(map[string]any)
	}
	fill := operation("/v1/fill")
	seen := map[string]bool{}
	content := fill["responses"].(map[string]any)["200"].(map[string]any)["content"].(map[string]any)
	line := content[api.JSONLines].(map[string]any)["schema"].(map[string]any)
	// The time of the second is over before its end.
	for _, body := range []string{sentence + `, "steps": 3}`, endless + "}", sentence + "}"} {
		a := ask(t, "POST", h.URL+"/v1/fill", body, "Accept: "+api.JSONLines)
		for text := range strings.Lines(string(a.body)) {
			var v map[string]any
			if err := json.Unmarshal([]byte(text), &v); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if wrong := valid(doc, line, v, "event"); wrong != nil {
				t.Errorf("%s: %q", text, wrong)
			}
			seen[fmt.Sprint(v["event"])] = true
		}
	}
	if len(seen) != 5 {
		t.Errorf("events %v", seen)
	}
	names := map[string]bool{}
	for _, p := range operation("/v1/batch")["parameters"].([]any) {
		names[p.(map[string]any)["name"].(string)] = true
	}
	for _, name := range []string{"model", "steps", "seed"} {
		if !names[name] {
			t.Errorf("POST /v1/batch: %q is not described", name)
		}
	}
}

// An error that has the answers to the texts before is as described.
func TestOpenAPIAnswersBefore(t *testing.T) {
	t.Parallel()
	_, h := start(t, Options{})
	var doc map[string]any
	if err := json.Unmarshal(ask(t, "GET", h.URL+"/openapi.json", "").body, &doc); err != nil {
		t.Fatal(err)
	}
	a := ask(t, "POST", h.URL+"/", `{"inputs": ["the [MASK] .", "a [MASK] [MASK] .", "no blank"]}`)
	if n := len(a.failure(t).Answers); n != 2 {
		t.Errorf("%d answers: %s", n, a.body)
	}
	var v any
	if err := json.Unmarshal(a.body, &v); err != nil {
		t.Fatal(err)
	}
	if wrong := valid(doc, map[string]any{"$ref": "#/components/schemas/error"}, v, "error"); wrong != nil {
		t.Errorf("%s: %q", a.body, wrong)
	}
}

// The page /docs shows the description to anybody, its examples are answered, and parameters of an
// address have the types that their settings have.
func TestOpenAPIDocs(t *testing.T) {
	t.Parallel()
	_, h := start(t, Options{Keys: []string{"sixteen-characters"}})
	docs := ask(t, "GET", h.URL+"/docs", "")
	if slash := ask(t, "GET", h.URL+"/docs/", ""); docs.code != http.StatusOK ||
		!strings.Contains(string(docs.body), `spec-url="openapi.json"`) || string(slash.body) != string(docs.body) {
		t.Errorf("%d %s", docs.code, docs.body)
	}
	var doc struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name   string
				Schema struct {
					Type any
					Enum []any
				}
			}
			RequestBody struct {
				Content map[string]struct {
					Examples map[string]struct{ Value json.RawMessage }
				}
			}
		}
	}
	text := ask(t, "GET", h.URL+"/openapi.json", "").body
	if err := json.Unmarshal(text, &doc); err != nil || len(doc.Paths) < 10 {
		t.Fatalf("%d paths: %v", len(doc.Paths), err)
	}
	kinds := map[string]string{}
	for _, p := range doc.Paths["/v1/batch"]["post"].Parameters {
		kinds[p.Name] = fmt.Sprintf("%v %v", p.Schema.Type, len(p.Schema.Enum) > 0)
	}
	for name, want := range map[string]string{"top": "integer false", "temperature": "number false",
		"no_repeat": "<nil> true", "marginals": "boolean false", "method": "<nil> true", "sampler": "string false",
		"params": "string false", "energy": "array false"} {
		if kinds[name] != want {
			t.Errorf("%s in an address: %s, want %s", name, kinds[name], want)
		}
	}
	for _, no := range []string{"of a FILE", "such distance", "that encoder", "(true or false)",
		"(auto or exact"} {
		if strings.Contains(string(text), no) {
			t.Errorf("it says %q", no)
		}
	}
	examples := 0
	for path, methods := range doc.Paths {
		for _, c := range methods["post"].RequestBody.Content {
			for _, e := range c.Examples {
				examples++
				if a := ask(t, "POST", h.URL+strings.Replace(path, "{id}", "tiny", 1), string(e.Value),
					"Authorization: Bearer sixteen-characters"); a.code != http.StatusOK {
					t.Errorf("%s %s: %d %s", path, e.Value, a.code, a.body)
				}
			}
		}
	}
	if examples < 5 {
		t.Errorf("%d examples", examples)
	}
}
