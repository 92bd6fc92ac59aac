package main

import (
	"encoding/json"
	"testing"
)

// An acceptance rate needs an acceptance test: gibbs and dula, which accept
// every draw, have none, and gibbs-mh, which tests its draws, has one.
func TestCompareAcceptanceOfSamplersWithoutTest(t *testing.T) {
	t.Parallel()
	in := write(t, "in.txt", "the [MASK] sleeps in the [MASK] .\n")
	_, out := comparison(
		t, 0, "--steps", "4", "--chains", "3", "--samplers", "gibbs,dula,gibbs-mh,dmala", in,
	)
	var res struct {
		Rows []struct {
			Name    string
			Metrics []struct {
				Key   string
				Value *float64
			}
		}
	}
	if err := json.Unmarshal([]byte(out.out), &res); err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"gibbs": false, "dula": false, "gibbs-mh": true, "dmala": true}
	found := 0
	for _, row := range res.Rows {
		for _, m := range row.Metrics {
			if m.Key == "acceptance" {
				found++
				if (m.Value != nil) != want[row.Name] {
					t.Errorf("%s: acceptance given %v, want %v", row.Name, m.Value != nil, want[row.Name])
				}
			}
		}
	}
	if found != len(want) {
		t.Errorf("%d acceptances for %d samplers", found, len(want))
	}
}
