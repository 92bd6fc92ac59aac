package server

import (
	"encoding/json"
	"net/url"
	"testing"

	"infill/server/api"
)

// Whatever comes as a body or an address is a request or an error with a code of its own, and what
// was understood of an address is understood in the same way as a body.
func FuzzRequest(f *testing.F) {
	for _, s := range []string{
		`{"text": "the [MASK] .", "seed": 1, "stream": true, "model": "a"}`,
		`{"inputs": ["a [MASK] .", "b"], "parameters": {"top_k": 2, "joint": true, "seed": 3}}`,
		`{"inputs": "a", "parameters": {"targets": "x"}, "options": {}}`,
		`{"text": "\ud800", "id": null}`, `{"text": 1, "text": 2}`, `[`, "{\"\xff\": 1}",
		`text=a&steps=3&ban=a,b&params={"x":1}`, `text=%ff`, `text=a&text=b`, `stream=true&text=`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		known := func(err error) {
			if err == nil {
				return
			}
			if f := asFailure(err); f.code == codeInternal || f.message == "" || f.status() < 400 {
				t.Errorf("%q: %v", s, err)
			}
		}
		q, err := decode([]byte(s))
		known(err)
		if err == nil {
			q.seeded()
		}
		m, err := decodeMask([]byte(s))
		known(err)
		if err == nil && (len(m.texts) == 0 || len(m.texts) > api.MaxTexts || m.topK < 1) {
			t.Errorf("%q: %+v", s, m)
		}
		values, err := url.ParseQuery(s)
		if err != nil {
			return
		}
		in, err := fromQuery(values)
		known(err)
		if err != nil {
			return
		}
		body := map[string]json.RawMessage{"text": quoted(in.Text)}
		if in.ID != nil {
			body["id"] = in.ID
		}
		for _, field := range in.Fields {
			if !json.Valid(field.Value) {
				t.Fatalf("%q: %s is %q", s, field.Name, field.Value)
			}
			body[field.Name] = field.Value
		}
		b, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		byQuery, err1 := newRequest(in)
		byBody, err2 := decode(b)
		if (err1 == nil) != (err2 == nil) {
			t.Fatalf("%q: %v by the address, %v by the body", s, err1, err2)
		}
		if err1 == nil && (byQuery.item.Text != byBody.item.Text || byQuery.model != byBody.model ||
			byQuery.stream != byBody.stream || len(byQuery.item.Fields) != len(byBody.item.Fields)) {
			t.Errorf("%q: %+v by the address, %+v by the body", s, byQuery, byBody)
		}
	})
}
