package jsonl

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"

	"infill/infill"
)

// The zero options are those of the defaults, in the record too.
func TestFilledZeroOptions(t *testing.T) {
	t.Parallel()
	rec := Filled("a [MASK]", &infill.Options{},
		&infill.Result{Method: infill.MethodSample, Acceptance: math.NaN()})
	if rec.Sampler != "rows" || rec.Steps != infill.DefaultSteps ||
		rec.Chains != infill.DefaultChains || rec.Seed == nil || *rec.Seed != 0 {
		t.Errorf("%+v", rec)
	}
	rec = Filled("a [MASK]", &infill.Options{Sampling: infill.SamplingOptions{NoSteps: true}},
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
		if rec := Filled("a [MASK]", &opt, &infill.Result{Method: infill.MethodSample,
			Steps: 4}); rec.Steps != 4 {
			t.Errorf("%+v: %d steps", opt, rec.Steps)
		}
	}
	if rec := Filled("a [MASK]", &infill.Options{Sampling: infill.SamplingOptions{Steps: 9}},
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
	rec := Filled("a [MASK]", &infill.Options{Seed: 7}, res)
	b, err := Append(nil, rec)
	want := `{"line":0,"text":"a [MASK]","fillings":[{"text":"a dog","tokens":null,"spans":null,` +
		`"score":-1,"score_per_token":-1,"parts":{"pll":-0.5,"left":-1,"right":-2},"recut":true,` +
		`"probability":0.25,"chain":0,"step":0,"count":0},` +
		`{"text":"a cat","tokens":null,"spans":null,"score":-900,"score_per_token":-900,` +
		`"parts":{"pll":0,"left":0,"right":0},"probability":0,"chain":0,"step":0,"count":0}],` +
		`"scoring":"blended","method":"exact","exact":true,"distinct":9}`
	if err != nil || string(b) != want {
		t.Fatalf("%v\n%s\nwant\n%s", err, b, want)
	}
	again, err := Decoder{}.Record(1, b)
	if err != nil || !reflect.DeepEqual(again, rec) {
		t.Errorf("%v: %+v, want %+v", err, again, rec)
	}
	for _, p := range []string{"-0.1", "1.5", `"x"`} {
		bad := strings.Replace(string(b), "0.25", p, 1)
		if _, err := (Decoder{}).Record(1, []byte(bad)); err == nil ||
			!strings.Contains(err.Error(), "fillings[0].probability") {
			t.Errorf("probability %s: %v", p, err)
		}
	}
	// The seed chose the words that were masked.
	rec = Filled("a [MASK]",
		&infill.Options{Seed: 7, Words: infill.WordOptions{Original: []string{"dog"}}}, res)
	if rec.Seed == nil || *rec.Seed != 7 {
		t.Errorf("%+v", rec)
	}
	// What was sampled has no probabilities.
	res.Method, res.Exact = infill.MethodSample, false
	if rec := Filled("a [MASK]", &infill.Options{}, res); rec.Fillings[0].Probability != nil {
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
	records := []*Record{Filled("the [MASK]", &opt, &res), Scored(&score), Ranked("a [MASK]", list)}
	step := Step{}
	accepted := []bool{true}
	step.Fill(nil, infill.Step{Accepted: accepted})
	written := func() string {
		var b bytes.Buffer
		for _, r := range records {
			if err := Write(&b, r); err != nil {
				t.Fatal(err)
			}
		}
		if err := WriteStep(&b, &step); err != nil {
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
