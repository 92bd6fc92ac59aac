package server

import (
	"encoding/json"
	"net/url"
	"testing"

	"infill/server/api"
)

// Whatever comes as a body or an address is a request or an error with a code of its own, and what
// was understood of an address is JSON.
func FuzzRequest(f *testing.F) {
	for _, s := range []string{
		`{"text": "the [MASK] .", "seed": 1, "stream": true, "model": "a"}`,
		`{"inputs": ["a [MASK] .", "b"], "parameters": {"top_k": 2, "joint": true, "seed": 3}}`,
		`{"inputs": "a", "parameters": {"targets": "x"}, "options": {}}`,
		`{"text": "\ud800", "id": null}`, `{"text": 1, "text": 2}`, `[`, "{\"\xff\": 1}",
		`top=a&steps=3&ban=a,b&params={"x":1}`, `ban=%ff`, `top=1&top=2`, `stream=true&text=`,
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
		q, err := decode([]byte(s), true)
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
		fields, err := queryFields(values)
		known(err)
		for _, field := range fields {
			if !json.Valid(field.Value) || len(values[field.Name]) != 1 {
				t.Errorf("%q: %s is %q", s, field.Name, field.Value)
			}
		}
	})
}
