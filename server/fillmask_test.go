package server

import (
	"encoding/json"
	"math"
	"net/http"
	"os"
	"strings"
	"testing"
)

// same compares JSON, numbers within a tolerance.
func same(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k := range a {
			if !same(a[k], b[k]) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !same(a[i], b[i]) {
				return false
			}
		}
		return true
	case float64:
		b, ok := b.(float64)
		return ok && math.Abs(a-b) <= 1e-5
	}
	return a == b
}

// The answers are those of the fill-mask pipeline of Hugging Face's library, see
// testdata/make_fillmask.py.
func TestFillMaskPipeline(t *testing.T) {
	t.Parallel()
	_, h := start(t, Options{})
	b, err := os.ReadFile("testdata/fillmask.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Request json.RawMessage
		Answer  any
	}
	if err := json.Unmarshal(b, &cases); err != nil || len(cases) < 6 {
		t.Fatalf("%d cases: %v", len(cases), err)
	}
	for i, c := range cases {
		for _, path := range []string{"/", "/models/tiny"} {
			a := ask(t, "POST", h.URL+path, string(c.Request))
			var got any
			if err := json.Unmarshal(a.body, &got); err != nil || a.code != http.StatusOK ||
				!same(got, c.Answer) {
				want, _ := json.Marshal(c.Answer)
				t.Errorf("case %d, %s: %d %swant\n%s", i, path, a.code, a.body, want)
			}
		}
	}
}

// Joint fillings are those of /v1/fill, in one flat list. With one blank the score of a filling is
// the probability that the pipeline gives it.
func TestFillMaskJoint(t *testing.T) {
	t.Parallel()
	_, h := start(t, Options{})
	a := ask(t, "POST", h.URL+"/", `{"inputs": "the [MASK] sleeps in the [MASK] .",
		"parameters": {"joint": true, "top_k": 3, "seed": 4, "steps": 12}}`)
	var list []maskItem
	if err := json.Unmarshal(a.body, &list); err != nil || len(list) == 0 || len(list) > 3 {
		t.Fatalf("%d %s: %v", a.code, a.body, err)
	}
	var rec struct {
		Fillings []struct {
			Text   string
			Score  float64
			Tokens []string
		}
	}
	fill := ask(t, "POST", h.URL+"/v1/fill", `{"text": "the [MASK] sleeps in the [MASK] .", "top": 3,
		"seed": 4, "steps": 12}`)
	if err := json.Unmarshal(fill.body, &rec); err != nil || len(rec.Fillings) != len(list) {
		t.Fatalf("%s: %v", fill.body, err)
	}
	for i, f := range rec.Fillings {
		got := list[i]
		if got.Sequence != f.Text || math.Abs(got.Score-math.Exp(f.Score)) > 1e-12 ||
			got.TokenStr != strings.ToLower(strings.Join(f.Tokens, " ")) || len(got.Tokens) != 2 ||
			got.Tokens[0] != got.Token {
			t.Errorf("filling %d: %+v of %+v", i, got, f)
		}
	}
	scores := map[string]float64{}
	for i, joint := range []string{"false", "true"} {
		a := ask(t, "POST", h.URL+"/", `{"inputs": "the [MASK] sleeps in the house .",
			"parameters": {"joint": `+joint+`, "targets": ["dog", "cat"]}}`)
		list = nil
		if err := json.Unmarshal(a.body, &list); err != nil || len(list) != 2 {
			t.Fatalf("%s: %v", a.body, err)
		}
		for _, item := range list {
			if old, ok := scores[item.TokenStr]; i == 0 {
				scores[item.TokenStr] = item.Score
			} else if !ok || math.Abs(old-item.Score) > 1e-5 {
				t.Errorf("%s: %v alone, %v by a filling", item.TokenStr, old, item.Score)
			}
		}
	}
}

// The answers of the texts before one that fails are not lost.
func TestMaskAnswersBefore(t *testing.T) {
	t.Parallel()
	_, h := start(t, Options{})
	whole := ask(t, "POST", h.URL+"/", `{"inputs": ["the [MASK] sleeps .", "a [MASK] ."]}`)
	a := ask(t, "POST", h.URL+"/", `{"inputs": ["the [MASK] sleeps .", "a [MASK] .", "no blank"]}`)
	var got struct {
		Type    string          `json:"error_type"`
		Answers json.RawMessage `json:"answers"`
	}
	if err := json.Unmarshal(a.body, &got); err != nil || a.code != http.StatusUnprocessableEntity ||
		got.Type != "no_blank" || string(got.Answers) != strings.TrimSpace(string(whole.body)) {
		t.Errorf("%v: %d %s", err, a.code, a.body)
	}
}
