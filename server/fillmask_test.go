package server

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"infill/infill/energies"
	"infill/infill/text"
	"infill/mlm"
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

// The answers agree with the fill-mask pipeline of Hugging Face's library, see
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

// Joint fillings are the same as from /v1/fill, in one flat list. With one blank the score of a
// filling is the probability that the pipeline gives it.
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

// Further parts of the energy choose the fillings. The score stays the probability that the model
// gives the words, also with weights whose energies are too large for an exponential.
func TestFillMaskEnergy(t *testing.T) {
	t.Parallel()
	s, h := start(t, Options{})
	file := filepath.Join(t.TempDir(), "words.txt")
	if err := os.WriteFile(file, []byte("dog 2\ncat -1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	parts, err := energies.Open(t.Context(), []string{"words:" + file + "=1"}, energies.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = parts.Close() }()
	s.Steer(parts)
	if err := s.Add("steered", tiny(t)); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"the [MASK] sleeps .", "the [MASK] sleeps in the [MASK] ."} {
		scores := func(more string) map[string]float64 {
			a := ask(t, "POST", h.URL+"/models/steered", `{"inputs": "`+text+`",
				"parameters": {"joint": true, "top_k": 100, "seed": 1`+more+`}}`)
			var list []maskItem
			if err := json.Unmarshal(a.body, &list); err != nil || len(list) == 0 {
				t.Errorf("%s%s: %d %s: %v", text, more, a.code, a.body, err)
			}
			out := map[string]float64{}
			for _, item := range list {
				out[item.Sequence] = item.Score
			}
			return out
		}
		alone := scores("")
		for _, weight := range []string{"1", "-3", "1000"} {
			both := 0
			for filled, score := range scores(`, "energy": ["words:` + file + "=" + weight + `"]`) {
				want, ok := alone[filled]
				if ok {
					both++
				}
				if score < 0 || score > 1 || ok && math.Abs(score-want) > 1e-5 {
					t.Errorf("weight %s: %q has %v, by the model %v", weight, filled, score, want)
				}
			}
			if both == 0 {
				t.Errorf("weight %s, %s: no filling in common", weight, text)
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

// An answer that would be too large is refused before any text is worked on. What counts is the sum
// over the texts, of as many answers as there are at most.
func TestMaskTooLarge(t *testing.T) {
	t.Parallel()
	s, h := start(t, Options{})
	s.maxAnswer = 6000
	for _, c := range []struct {
		body   string
		status int
	}{
		{`{"inputs": "the [MASK] sleeps .", "parameters": {"top_k": 10}}`, http.StatusOK},
		{`{"inputs": "the [MASK] sleeps .", "parameters": {"top_k": 10000}}`,
			http.StatusUnprocessableEntity},
		{`{"inputs": "the [MASK] sleeps .", "parameters": {"top_k": 10000, "targets": ["dog"]}}`,
			http.StatusOK},
		{`{"inputs": ["the [MASK] sleeps .", "a [MASK] [MASK] [MASK] .", "the [MASK] sleeps ."],
			"parameters": {"top_k": 10}}`, http.StatusUnprocessableEntity},
	} {
		before := s.counts.texts.Load()
		a := ask(t, "POST", h.URL+"/", c.body)
		if a.code != c.status {
			t.Errorf("%s: %d %s", c.body, a.code, a.body)
		}
		if a.code == http.StatusOK {
			continue
		}
		if f := a.failure(t); f.Type != "too_much_work" || !strings.Contains(f.Error, "at most 6000") ||
			!strings.Contains(f.Error, `a smaller "top_k"`) || s.counts.texts.Load() != before {
			t.Errorf("%s: %s", c.body, a.body)
		}
	}
}

// The making of answers ends with the request.
func TestMaskListEnds(t *testing.T) {
	t.Parallel()
	m := tiny(t)
	tp, err := text.Parse(m.Tokenizer(), "the [MASK] sleeps .")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancelCause(t.Context())
	end(errGone)
	_, err = listed(ctx, m.Tokenizer(), tp, [][]float32{make([]float32, m.VocabSize())}, nil, 5)
	if !errors.Is(err, errGone) {
		t.Errorf("%v", err)
	}
}

// The field "model" names the one that answers.
func TestMaskModel(t *testing.T) {
	t.Parallel()
	s, h := start(t, Options{})
	other := tiny(t)
	if err := s.Add("other", other); err != nil {
		t.Fatal(err)
	}
	calls := func() [3]mlm.Work {
		energies, conditionals, gradients := other.Work()
		return [3]mlm.Work{energies, conditionals, gradients}
	}
	for _, path := range []string{"/", "/models/other"} {
		before := calls()
		a := ask(t, "POST", h.URL+path, `{"inputs": "the [MASK] .", "model": "other"}`)
		if a.code != http.StatusOK || calls() == before {
			t.Errorf("%s: %d %s, by another model", path, a.code, a.body)
		}
	}
}

// <mask> is a blank for clients of that task with every model, and a record has the doubts about its
// text.
func TestSpellings(t *testing.T) {
	t.Parallel()
	_, h := start(t, Options{})
	a := ask(t, "POST", h.URL+"/", `{"inputs":"the <mask> sees \\<mask> ."}`)
	b := ask(t, "POST", h.URL+"/", `{"inputs":"the [MASK] sees \\<mask> ."}`)
	if a.code != 200 || string(a.body) != string(b.body) {
		t.Errorf("%d: %s\n%s", a.code, a.body, b.body)
	}
	a = ask(t, "POST", h.URL+"/v1/fill", `{"text":"the <mask> sees {mask} ."}`)
	if a.code != 200 || !strings.Contains(string(a.body), `"doubts":[{"code":"near_blank","message":`+
		`"{mask} is not a blank and stays as it is; write [MASK]"}]`) {
		t.Errorf("%d: %s", a.code, a.body)
	}
}
