package main

import (
	"testing"
)

// An acceptance rate is that of an acceptance test: hb, which draws from a ball
// and accepts every draw, has none, and lb1, which tests its draws, has one.
func TestCompareAcceptanceOfSamplersWithoutTest(t *testing.T) {
	in := write(t, "in.txt", "the [MASK] sleeps in the [MASK] .\n")
	res, _ := comparison(t, 0, "--steps", "4", "--chains", "3", "--samplers", "hb,block-gibbs,lb1,dmala", in)
	want := map[string]bool{"hb": false, "block-gibbs": false, "lb1": true, "dmala": true}
	if len(res.Rows) != len(want) {
		t.Fatalf("%d rows", len(res.Rows))
	}
	for _, row := range res.Rows {
		if m, _ := row.Get("acceptance"); m.OK() != want[row.Name] {
			t.Errorf("%s: acceptance %v, given %v, want %v", row.Name, m.Value, m.OK(), want[row.Name])
		}
	}
}
