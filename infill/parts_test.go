package infill

import (
	"context"
	"errors"
	"slices"
	"testing"

	"infill/infill/text"
	"infill/internal/ort/orttest"
)

// The parts of a run go ahead of each other, but Trace sees every step once, in
// order, with all chains in it; and its failure ends the run.
func TestTraceOfParts(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	m := openSmall(t)
	e := New(m)
	tp, err := text.Parse(
		e.model.Tokenizer(),
		"The old [MASK] walked slowly down the long [MASK] and sat under the [MASK] tree.",
	)
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{Sampling: SamplingOptions{Chains: 10, Steps: 4}, Seed: 3,
		Results: ResultOptions{Score: ScorePLL}}
	if err := opt.Prepare(); err != nil {
		t.Fatal(err)
	}
	var last Step
	opt.Watch.Trace = func(s Step) error {
		if want := last.Step + 1; s.Step != want && s.Step != 0 || len(s.Energy) != 10 ||
			s.Evals <= last.Evals && s.Step > 0 && !slices.Contains(s.Accepted, true) {
			t.Errorf("step %d after %d, %d evaluations after %d", s.Step, last.Step, s.Evals, last.Evals)
		}
		for k := range 10 {
			if len(s.Tokens(k)) != 3 || !(s.Energy[k] < 0) {
				t.Errorf("step %d, chain %d: %v with energy %v", s.Step, k, s.Tokens(k), s.Energy[k])
			}
		}
		last = s
		return nil
	}
	opt.Results.Top, opt.Results.All, opt.Results.Collect = 0, true, CollectLast
	r, err := e.Fill(context.Background(), tp, opt)
	if err != nil {
		t.Fatal(err)
	}
	if last.Step != 4 {
		t.Errorf("the last step is %d", last.Step)
	}
	for _, f := range r.Fillings {
		if last.Energy[f.Chain] != f.Score {
			t.Errorf("chain %d ends at %v, its trace at %v", f.Chain, f.Score, last.Energy[f.Chain])
		}
	}

	broken := errors.New("broken")
	calls := 0
	opt.Watch.Trace = func(s Step) error {
		if calls++; s.Step == 2 {
			return broken
		}
		return nil
	}
	if _, err := e.Fill(context.Background(), tp, opt); !errors.Is(err, broken) || calls != 3 {
		t.Errorf("got %v after %d calls", err, calls)
	}
}
