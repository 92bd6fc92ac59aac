package verify

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
)

// cellsOf are the rows of the first table of a page, without its head.
func cellsOf(t *testing.T, page string) (rows [][]string) {
	t.Helper()
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			if len(rows) > 0 {
				break
			}
			continue
		}
		var row []string
		for _, cell := range strings.Split(strings.Trim(line, "|"), "|") {
			row = append(row, strings.TrimSpace(cell))
		}
		rows = append(rows, row)
	}
	if len(rows) < 3 {
		t.Fatalf("no table in\n%s", page)
	}
	return rows[2:]
}

// number is the first of a cell.
func number(t *testing.T, cell string) (v float64) {
	t.Helper()
	if _, err := fmt.Sscanf(cell, "%g", &v); err != nil {
		t.Fatalf("%q: %v", cell, err)
	}
	return v
}

// TestCategorical is section 5 with 200 coordinates. Where they are independent DLMC gives
// independent draws: its ESS is near 1 a step, and a jump has as many coordinates as two draws
// differ in, Σ_i (1 − Σ_v p_iv²). The others are tuned to .574 and have far less, and GWG changes
// one coordinate a step.
func TestCategorical(t *testing.T) {
	t.Parallel()
	const d = 200
	var page bytes.Buffer
	if err := writeCategorical(t.Context(), &page, &env{seed: 1}, d, 4); err != nil {
		t.Fatal(err)
	}
	differ := 0.0
	for _, row := range categoricalWeights(1, d) {
		z, same := 0.0, 0.0
		for _, v := range row {
			z += math.Exp(v)
			same += math.Exp(2 * v)
		}
		differ += 1 - same/(z*z)
	}
	rows := cellsOf(t, page.String())
	ess := map[string]float64{}
	for _, r := range rows {
		name, acc, jump := r[0], number(t, r[4]), number(t, r[5])
		ess[name] = number(t, r[2])
		switch name {
		case "DLMC √":
			if math.Abs(jump/differ-1) > .06 || acc < .99 {
				t.Errorf("%s: a jump of %g with probability %g, want %.1f with 1", name, jump, acc, differ)
			}
		case "GWG √":
			if math.Abs(jump-1) > .1 || acc < .95 {
				t.Errorf("%s: a jump of %g with probability %g, want 1 with nearly 1", name, jump, acc)
			}
		default:
			if math.Abs(acc-.574) > .08 || jump < 3 || jump > differ {
				t.Errorf("%s: a jump of %g with probability %g, want one with .574", name, jump, acc)
			}
		}
	}
	best := ess["DLMC √"]
	if len(rows) != 10 || len(ess) != 10 || best < .8 || best > 1.15 {
		t.Errorf("%d rows, and an ESS of DLMC of %g a step, want 10 and nearly 1\n%s", len(rows), best, &page)
	}
	for name, v := range ess {
		if name != "DLMC √" && !(v < .8*best) || name != "GWG √" && !(v > ess["GWG √"]) {
			t.Errorf("%s has an ESS of %g a step, DLMC %g, GWG %g", name, v, best, ess["GWG √"])
		}
	}
}
