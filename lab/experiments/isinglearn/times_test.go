package isinglearn

import (
	"context"
	"slices"
	"strings"
	"testing"

	"infill/lab/experiments/lab"
	"infill/lab/experiments/lab/labtest"
	"infill/samplers"
)

// TestTimes: with a stopwatch that goes on by a millisecond at every reading, an iteration takes
// three, two of them for the chains, and the measurements none.
func TestTimes(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	task := task{side: 3, coupling: 0.1, rows: 10, sweeps: 1, buffer: 3, steps: 1, iters: 5, rate: 0.01,
		every: 2}
	data, err := task.data(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	l, err := task.learn(ctx, &samplers.GWG{}, data,
		lab.Options{Seed: 1, Stopwatch: labtest.Stopwatch})
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{.006, .012, .015}; !slices.Equal(l.Seconds, want) || l.Chains != .01 {
		t.Errorf("times %v, chains %v, want %v and .01", l.Seconds, l.Chains, want)
	}
	l.LogRMSE = []float64{-1, -3, -2}
	for bound, want := range map[float64]float64{-1: .006, -1.5: .012, -3: .012} {
		if got := l.until(bound); got != want {
			t.Errorf("%v s to %v, want %v", got, bound, want)
		}
	}
	p := plan{goals: []float64{-2.5, -4}}
	if got, want := p.times([]*learned{l}), "| Gibbs-1 | 3.00 | 2.00 | 0.0 | – |"; !strings.HasSuffix(
		got, want) {
		t.Errorf("table\n%s\nwant the row %s", got, want)
	}
}
