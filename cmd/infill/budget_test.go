package main

import (
	"encoding/json"
	"strings"
	"testing"

	"infill/infill"
	"infill/infill/jsonl"
	"infill/infill/text"
	"infill/mlm"
	"infill/samplers"
)

// A budget of evaluations is the engine's, as a flag and as a field of a line, and the record has
// the steps that it came to.
func TestBudget(t *testing.T) {
	t.Parallel()
	const sentence = "the [MASK] sleeps in the [MASK] ."
	model, err := mlm.OpenDir(t.Context(), tinyModel, mlm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = model.Close() }()
	template, err := text.Parse(model.Tokenizer(), sentence)
	if err != nil {
		t.Fatal(err)
	}
	gibbs, err := samplers.New("gibbs", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, budget := range map[string]infill.Budget{
		"steps": infill.BudgetSteps, "evaluations": infill.BudgetEvaluations, "rows": infill.BudgetRows,
	} {
		want, err := infill.New(model).Fill(t.Context(), template,
			infill.Options{Sampling: infill.SamplingOptions{Sampler: gibbs, Steps: 20, Budget: budget},
				Seed: 3, ID: "1"})
		if err != nil {
			t.Fatal(err)
		}
		if (want.Steps == 20) != (name == "steps") {
			t.Errorf("%s: %d steps, which shows nothing", name, want.Steps)
		}
		flag := infillRun("", withTiny("fill", "--json", "--quiet", "--seed", "3", "--steps", "20",
			"--sampler", "gibbs", "--budget", name, sentence)...)
		line := infillRun(`{"text":"`+sentence+`","sampler":"gibbs","steps":20,"budget":"`+name+`"}`,
			withTiny("batch", "--quiet", "--seed", "3", "-")...)
		for how, r := range map[string]outcome{"flag": flag, "line": line} {
			var rec jsonl.Filled
			if err := json.Unmarshal([]byte(r.out), &rec); err != nil {
				t.Fatalf("%s, %s: %v: %s", name, how, err, r.err)
			}
			if rec.Steps != want.Steps || len(rec.Fillings) != len(want.Fillings) {
				t.Fatalf("%s, %s: %d steps and %d fillings, want %d and %d", name, how, rec.Steps,
					len(rec.Fillings), want.Steps, len(want.Fillings))
			}
			for i, f := range want.Fillings {
				if f.Text != rec.Fillings[i].Text {
					t.Errorf("%s, %s: filling %d is %q, want %q", name, how, i, rec.Fillings[i].Text, f.Text)
				}
			}
		}
	}
	r := infillRun("", withTiny("fill", "--budget", "minutes", sentence)...)
	if r.code != 2 || !strings.Contains(r.err, "steps|evaluations|rows") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}
