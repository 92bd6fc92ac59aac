package rbm

import (
	"testing"

	"infill/lab/experiments/images"
	"infill/samplers"
)

// Without the penalty a proposal changes pixels of its own accord everywhere, and is accepted more
// rarely than one of a small step.
func TestStepless(t *testing.T) {
	t.Parallel()
	p, set := plans(true), images.Digits(2)
	r, err := p.train(t.Context(), set, p.hidden, p.fit, 1)
	if err != nil {
		t.Fatal(err)
	}
	without, err := p.stepless(t.Context(), r, set, 100, 1)
	if err != nil {
		t.Fatal(err)
	}
	run, err := samplers.Start(t.Context(), &samplers.DMALA{StepSize: 0.2}, r, set.Train[:p.chains],
		samplers.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Steps(t.Context(), 100, nil); err != nil {
		t.Fatal(err)
	}
	var with samplers.Stats
	for _, s := range run.Stats {
		with.Add(s)
	}
	if !(without > 0 && without < with.MeanProb()/2) {
		t.Errorf("accepts %v without the penalty, %v with it", without, with.MeanProb())
	}
}
