package records

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"infill/infill"
	"infill/infill/jsonl"
	"infill/infill/text"
	"infill/samplers"
)

// The zero options stand for the defaults, in the record too.
func TestFilledZeroOptions(t *testing.T) {
	t.Parallel()
	rec := ofResult("a [MASK]", &infill.Options{},
		&infill.Result{Method: infill.MethodSample, Acceptance: math.NaN()})
	if rec.Sampler != "rows" || rec.Steps != infill.DefaultSteps ||
		rec.Chains != infill.DefaultChains || rec.Seed == nil || *rec.Seed != 0 {
		t.Errorf("%+v", rec)
	}
	rec = ofResult("a [MASK]", &infill.Options{Sampling: infill.SamplingOptions{NoSteps: true}},
		&infill.Result{Method: infill.MethodSample})
	if rec.Steps != 0 {
		t.Errorf("%d steps, and NoSteps", rec.Steps)
	}
}

// A record of a run that was stopped, or that a budget ended, has the steps that were made.
func TestFilledSteps(t *testing.T) {
	t.Parallel()
	for _, opt := range []infill.Options{
		{Sampling: infill.SamplingOptions{Steps: 9},
			Watch: infill.WatchOptions{Stop: make(chan struct{})}},
		{Sampling: infill.SamplingOptions{Steps: 9, Budget: infill.BudgetRows}},
	} {
		if rec := ofResult("a [MASK]", &opt, &infill.Result{Method: infill.MethodSample,
			Steps: 4}); rec.Steps != 4 {
			t.Errorf("%+v: %d steps", opt, rec.Steps)
		}
	}
	if rec := ofResult("a [MASK]", &infill.Options{Sampling: infill.SamplingOptions{Steps: 9}},
		&infill.Result{Method: infill.MethodSample}); rec.Steps != 9 {
		t.Errorf("%d steps", rec.Steps)
	}
}

// A record of computed fillings has their probabilities, and of the settings only what had a part.
func TestFilledExact(t *testing.T) {
	t.Parallel()
	res := &infill.Result{Method: infill.MethodExact, Exact: true, Distinct: 9, MoveShare: math.NaN(),
		Acceptance: math.NaN(),
		Fillings: []infill.Filling{{Text: "a dog", Score: -1, ScorePerToken: -1,
			Parts: infill.Parts{PLL: -0.5, Left: -1, Right: -2}, Probability: 0.25, Recut: true},
			{Text: "a cat", Score: -900, ScorePerToken: -900}}}
	rec := ofResult("a [MASK]", &infill.Options{Seed: 7}, res)
	b, err := jsonl.Append(nil, rec)
	want := `{"line":0,"text":"a [MASK]","filled":"a dog","fillings":[{"text":"a dog","tokens":null,"spans":null,` +
		`"score":-1,"score_per_token":-1,"parts":{"pll":-0.5,"left":-1,"right":-2},"recut":true,` +
		`"probability":0.25,"chain":0,"step":0,"count":0},` +
		`{"text":"a cat","tokens":null,"spans":null,"score":-900,"score_per_token":-900,` +
		`"parts":{"pll":0,"left":0,"right":0},"probability":0,"chain":0,"step":0,"count":0}],` +
		`"scoring":"blended","method":"exact","exact":true,"distinct":9}`
	if err != nil || string(b) != want {
		t.Fatalf("%v\n%s\nwant\n%s", err, b, want)
	}
	again, err := jsonl.Decoder{}.Record(1, b)
	if err != nil || !reflect.DeepEqual(again, jsonl.Record(rec)) {
		t.Errorf("%v: %+v, want %+v", err, again, rec)
	}
	for _, p := range []string{"-0.1", "1.5", `"x"`} {
		bad := strings.Replace(string(b), "0.25", p, 1)
		if _, err := (jsonl.Decoder{}).Record(1, []byte(bad)); err == nil ||
			!strings.Contains(err.Error(), "fillings[0].probability") {
			t.Errorf("probability %s: %v", p, err)
		}
	}
	// The seed chose the words that were masked.
	rec = ofResult("a [MASK]",
		&infill.Options{Seed: 7, Words: infill.WordOptions{Original: []string{"dog"}}}, res)
	if rec.Seed == nil || *rec.Seed != 7 {
		t.Errorf("%+v", rec)
	}
	// What was sampled has no probabilities.
	res.Method, res.Exact = infill.MethodSample, false
	if rec := ofResult("a [MASK]", &infill.Options{}, res); rec.Fillings[0].Probability != nil {
		t.Errorf("%+v", rec.Fillings[0])
	}
}

// A record stays as it is when what it was made of changes.
func TestRecordOwnsItsMemory(t *testing.T) {
	t.Parallel()
	opt := infill.Options{Seed: 7, Words: infill.WordOptions{Original: []string{"cat"}}}
	res := infill.Result{
		Fillings: []infill.Filling{{
			Text: "the dog", Tokens: []string{"dog"}, Spans: [][2]int{{4, 7}}, Score: -1,
			ScorePerToken: -1,
		}},
		Window: &[2]int{0, 7}, Tuned: map[string]float64{"step-size": 0.5}, Acceptance: 0.5,
	}
	score := infill.Score{
		Text: "a", Score: -1, ScorePerToken: -1,
		Pieces: []infill.PieceScore{{Piece: "a", Span: [2]int{0, 1}}},
	}
	list := []infill.Candidate{{Candidate: "b", Text: "a b", Tokens: []string{"b"}}}
	records := []jsonl.Record{ofResult("the [MASK]", &opt, &res), ofScore(&score), ofCandidates("a [MASK]", list)}
	step := jsonl.Step{}
	accepted := []bool{true}
	step.Fill(nil, infill.Step{Accepted: accepted})
	written := func() string {
		var b bytes.Buffer
		for _, r := range records {
			if err := jsonl.Write(&b, r); err != nil {
				t.Fatal(err)
			}
		}
		if err := jsonl.Encode(&b, &step); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	before := written()
	opt.Seed, opt.Words.Original[0] = 8, "changed"
	f := &res.Fillings[0]
	f.Tokens[0], f.Spans[0][0], f.Score, f.ScorePerToken = "changed", 5, -2, -2
	res.Window[0], res.Tuned["step-size"], res.Acceptance = 1, 0.25, 0.25
	score.Score, score.ScorePerToken, score.Pieces[0].Span[1] = -2, -2, 0
	list[0].Tokens[0] = "changed"
	accepted[0] = false
	if after := written(); after != before {
		t.Errorf("%s\nbecame\n%s", before, after)
	}
}

// The bytes of every kind of record are written down: programs read them.
func TestAppend(t *testing.T) {
	t.Parallel()
	dmala, err := samplers.New("dmala", nil)
	if err != nil {
		t.Fatal(err)
	}
	opt := infill.Options{Sampling: infill.SamplingOptions{Sampler: dmala, NoSteps: true,
		Chains: 2}, Seed: 7, Words: infill.WordOptions{Original: []string{"cat"}}}
	filled := ofResult("the [MASK] <b>", &opt, &infill.Result{
		Method: infill.MethodSample,
		Fillings: []infill.Filling{{
			Text: "the dog <b>", Tokens: []string{"dog"}, Spans: [][2]int{{4, 7}},
			Score: -0.5, ScorePerToken: -0.25, Step: 3, Count: 2,
			Parts: infill.Parts{PLL: -0.25, Left: -1, Right: -0.5},
		}},
		Distinct: 1, MoveShare: 0.75, Acceptance: math.NaN(), Window: &[2]int{0, 9}, Shortlist: 4,
		Tuned: map[string]float64{"step-size": 0.5, "a": 1},
		Stats: samplers.Stats{Zero: 3, NonFinite: 5}, Rows: 9, Repeated: 6,
	})
	filled.ID, filled.Line, filled.Gold = json.RawMessage(`"x"`), 4, "the cat <b>"
	filled.Model, filled.Version = "sha256:0", "v1"
	filled.Fields = []jsonl.Field{
		{Name: "R&D <x>", Value: json.RawMessage("1.50")}, {Name: "note", Value: json.RawMessage(`{"a": "\u00e9"}`)},
		{Name: "score", Value: json.RawMessage("5")}, {Name: "gold", Value: json.RawMessage(`"mine"`)},
	}
	scored := ofScore(&infill.Score{
		Text: "a", Score: 0, ScorePerToken: 0,
		Pieces: []infill.PieceScore{{Piece: "a", ID: 5, Span: [2]int{0, 1}}},
	})
	scored.Line = 1
	ranked := ofCandidates("a [MASK]", []infill.Candidate{{
		Candidate: "b", Text: "a b", Tokens: []string{"b"}, Score: -1, ScorePerToken: -1, Share: 1,
	}})
	failed := Failed("a\xff b", fmt.Errorf("oh: %w", text.ErrNoBlank))
	failed.Line = 2
	failed.Fields = []jsonl.Field{{Name: "gold", Value: json.RawMessage(`"mine"`)}}
	for _, c := range []struct {
		rec  jsonl.Record
		want string
	}{
		{filled, `{"id":"x","line":4,"text":"the [MASK] <b>","gold":"the cat <b>","masked":["cat"],` +
			`"window":[0,9],"filled":"the dog <b>","fillings":[{"text":"the dog <b>","tokens":["dog"],"spans":[[4,7]],` +
			`"score":-0.5,"score_per_token":-0.25,"parts":{"pll":-0.25,"left":-1,"right":-0.5},` +
			`"edits":0,"masked_places":1,"changed_places":0,"chain":0,"step":3,"count":2}],"scoring":"blended","method":"sample","sampler":"dmala",` +
			`"seed":7,"chains":2,"distinct":1,"collect":"visited","move_share":0.75,"step_size":0.5,"tuned":{"a":1,"step-size":0.5},` +
			`"shortlist":4,"zero_states":3,"non_finite_states":5,` +
			`"model_rows":9,"repeated_rows":6,"model":"sha256:0","version":"v1",` +
			`"R&D <x>":1.50,"note":{"a":"\u00e9"},"input_fields":{"score":5,"gold":"mine"}}`},
		{scored, `{"line":1,"text":"a","score":0,"score_per_token":0,` +
			`"pieces":[{"piece":"a","id":5,"span":[0,1],"log_prob":0}]}`},
		{ranked, `{"line":0,"text":"a [MASK]","candidates":[{"candidate":"b","text":"a b",` +
			`"tokens":["b"],"score":-1,"score_per_token":-1,"share":1}]}`},
		{failed, `{"line":2,"text":"a` + "\ufffd" + ` b","error":{"code":"no_blank",` +
			`"message":"oh: ` + text.ErrNoBlank.Error() + `"},"gold":"mine"}`},
	} {
		got, err := jsonl.Append([]byte("> "), c.rec)
		if err != nil || string(got) != "> "+c.want {
			t.Errorf("%v\n%s\nwant\n%s", err, got, c.want)
		}
		var b bytes.Buffer
		if err := jsonl.Write(&b, c.rec); err != nil || b.String() != c.want+"\n" {
			t.Errorf("Write: %v, %s", err, &b)
		}
	}
	nan := math.NaN()
	if _, err := jsonl.Append(nil, &jsonl.Scored{Score: &nan}); err == nil {
		t.Error("NaN was written")
	}
	if err := jsonl.Encode(&bytes.Buffer{}, &jsonl.Step{Energy: []*float64{&nan}}); err == nil {
		t.Error("NaN was written")
	}
}
