package infill

import (
	"context"
	"math"
	"reflect"
	"testing"

	"infill/infill/request"
	"infill/infill/text"
	"infill/mlm"
	"infill/samplers"
)

func named(t *testing.T, name string, params map[string]string) samplers.Sampler {
	t.Helper()
	s, err := samplers.New(name, params)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// With a budget every sampler makes the same number of evaluations, or puts the
// same number of rows through the model, to within half a step's worth: all
// chains together, starts included.
func TestBudget(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	const chains, steps = 12, 30
	for _, line := range []string{
		"the [MASK] [MASK] sleeps in the [MASK] .",
		"the [MASK*1-2] saw a [MASK:a] and a [MASK:a] .", // chains of two lengths
	} {
		tm, err := text.Parse(e.model.Tokenizer(), line)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"gibbs", "gwg", "dula", "dmala", "dlmc", "gibbs-mh", "rows", "acs"} {
			for _, budget := range []Budget{BudgetEvaluations, BudgetRows} {
				var evals []int
				r, err := e.Fill(context.Background(), tm, Options{
					Sampling: SamplingOptions{Sampler: named(t, name, nil), Chains: chains, Steps: steps,
						Budget: budget}, Seed: 3,
					Results: ResultOptions{Score: ScorePLL},
					Watch: WatchOptions{Trace: func(s Step) error {
						evals = append(evals, s.Evals)
						return nil
					}},
				})
				if err != nil {
					t.Fatal(err)
				}
				if len(evals) != r.Steps+1 || evals[r.Steps] != r.Stats.Evals ||
					r.Stats.Steps != chains*r.Steps {
					t.Errorf(
						"%s: %d steps, %d counted, trace %v, %d evaluations", name, r.Steps, r.Stats.Steps, evals,
						r.Stats.Evals,
					)
				}
				if budget == BudgetRows {
					continue // the rows are checked below
				}
				want, step := chains*(steps+1), evals[r.Steps]-evals[r.Steps-1]
				if d := math.Abs(float64(r.Stats.Evals - want)); d > float64(step)/2+chains/3 {
					t.Errorf(
						"%q, %s: %d evaluations in %d steps, budget %d, the last step took %d", line, name,
						r.Stats.Evals, r.Steps, want, step,
					)
				}
			}
		}
	}
	// Three blanks: a state takes three rows, a conditional one.
	tm, err := text.Parse(e.model.Tokenizer(), "the [MASK] [MASK] sleeps in the [MASK] .")
	if err != nil {
		t.Fatal(err)
	}
	for name, wantSteps := range map[string]int{"gwg": steps, "gibbs": 3 * (steps + 1)} {
		r, err := e.Fill(
			context.Background(), tm,
			Options{Sampling: SamplingOptions{Sampler: named(t, name, nil), Chains: chains, Steps: steps,
				Budget: BudgetRows},
				Results: ResultOptions{Score: ScorePLL}},
		)
		if err != nil || r.Rows != 3*chains*(steps+1) || r.Steps != wantSteps {
			t.Errorf(
				"%s: %d rows in %d steps, %v; want %d in %d", name, r.Rows, r.Steps, err, 3*chains*(steps+1),
				wantSteps,
			)
		}
	}
	// A step of many evaluations: one step is made, and what it took is told.
	r, err := e.Fill(
		context.Background(), tm,
		Options{Sampling: SamplingOptions{Sampler: curious{40}, Chains: 2, Steps: 5,
			Budget: BudgetEvaluations},
			Results: ResultOptions{Score: ScorePLL}},
	)
	if err != nil || r.Steps != 1 || r.Stats.Evals < 2*40 {
		t.Errorf("curious: %d steps, %d evaluations, %v", r.Steps, r.Stats.Evals, err)
	}
}

// Where evaluations do not add up, a run ends all the same.
func TestBudgetEnds(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	for _, c := range []struct {
		text    string
		sampler samplers.Sampler
	}{
		{"the [MASK|dog] sleeps .", &samplers.DMALA{}},                              // one state
		{"the [MASK] sleeps in the [MASK] .", &samplers.DMALA{StepSize: 1.0 / 200}}, // no proposal ever moves
	} {
		tm, err := text.Parse(e.model.Tokenizer(), c.text)
		if err != nil {
			t.Fatal(err)
		}
		r, err := e.Fill(
			context.Background(), tm,
			Options{Sampling: SamplingOptions{Sampler: c.sampler, Chains: 3, Steps: 7,
				Budget: BudgetEvaluations},
				Results: ResultOptions{Score: ScorePLL}},
		)
		if err != nil || r.Steps != request.MaxStretch*7 || r.Stats.Evals != 3 {
			t.Errorf("%q: %d steps, %d evaluations, %v", c.text, r.Steps, r.Stats.Evals, err)
		}
	}
	tm, err := text.Parse(e.model.Tokenizer(), "the [MASK] sleeps .")
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Fill(
		context.Background(), tm,
		Options{Sampling: SamplingOptions{Chains: 3, NoSteps: true, Budget: BudgetEvaluations},
			Results: ResultOptions{Score: ScorePLL}},
	)
	if err != nil || r.Steps != 0 {
		t.Errorf("no steps: %d, %v", r.Steps, err)
	}
	if _, err := e.Fill(context.Background(), tm,
		Options{Sampling: SamplingOptions{Budget: 7}}); err == nil {
		t.Error("budget 7 was taken")
	}
}

// Where a budget ends a run depends on neither threads nor batches.
func TestBudgetDeterministic(t *testing.T) {
	t.Parallel()
	var first *Result
	for _, o := range []mlm.Options{{Threads: 1, BatchTokens: 16}, {Threads: 1}, {Threads: 3, BatchTokens: 64}} {
		m, err := mlm.OpenDir(context.Background(), tinyFolder, o)
		if err != nil {
			t.Fatal(err)
		}
		e := New(m)
		tm, err := text.Parse(m.Tokenizer(), "the [MASK] [MASK] sleeps in the [MASK*1-2] .")
		if err != nil {
			t.Fatal(err)
		}
		r, err := e.Fill(
			context.Background(), tm,
			Options{Sampling: SamplingOptions{Chains: 9, Steps: 20, Budget: BudgetEvaluations}, Seed: 5,
				Results: ResultOptions{Score: ScorePLL}},
		)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = r
		} else if !reflect.DeepEqual(r, first) {
			t.Errorf("%+v: %d steps, %d evaluations; first %d and %d, or other fillings", o, r.Steps, r.Stats.Evals, first.Steps, first.Stats.Evals)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
