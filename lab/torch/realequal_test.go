package torch

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"infill/lab/internal/chains"
)

// At equal time a run is between two points of its path in proportion, as it began before the first
// and as it ended after the last. The interval comes from paired differences.
func TestEqual(t *testing.T) {
	run := func(program, sentence string, path ...realPoint) *realRun {
		return &realRun{realKey: realKey{Program: program, Sentence: sentence, Chains: 25, Steps: 50},
			RealStates: &RealStates{EnergyESS: 30, TokenESS: 20}, CPU: 10, Made: 1250, Path: path}
	}
	point := func(step int, cpu, u float64) realPoint {
		return realPoint{step, cpu, chains.Quality{Mean: u, Best: u + 1}, chains.Quality{Best: u + 2}}
	}
	g := run(equalProgram, "1", point(0, 1, -20), point(10, 3, -10), point(50, 5, -4))
	mean := func(q *RealStates) float64 { return q.Last.Mean }
	for seconds, want := range map[float64]float64{.5: -20, 1: -20, 2: -15, 3: -10, 4.5: -5.5, 9: -4} {
		if u := g.within(seconds, mean); math.Abs(u-want) > 1e-12 {
			t.Errorf("after %v s %v, want %v", seconds, u, want)
		}
	}
	if u := run("x", "1").within(1, mean); !math.IsNaN(u) {
		t.Errorf("without a path %v", u)
	}
	// After 2 and 4 seconds gibbs-mh has −15 and −7 on one sentence, −15 and −7 on the other.
	table := &realTable{}
	for s, less := range map[string]float64{"1": 3, "2": 5} {
		r := run(equalProgram, s, g.Path...)
		table.runs = append(table.runs, *r)
		var path []realPoint
		for _, step := range pathShown {
			path = append(path, point(step, 2, -15-less))
		}
		path[len(path)-1] = point(50, 4, -7+less)
		table.runs = append(table.runs, *run(realDefault, s, path...))
		table.runs[len(table.runs)-1].CPU = 10 * less // 3 and 5 times as long
	}
	var b strings.Builder
	table.equal(func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) })
	for _, want := range []string{ // ± 1.96 √2/√2
		"| 3 | 2 | +4.00 ± 1.96 | +4.00 ± 1.96 | +4.00 ± 1.96 |",
		"| 50 | 2 | -4.00 ± 1.96 |", "4 (3–5) of U, and 4 (3–5) of the tokens"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	b.Reset()
	table.runs = table.runs[:2]
	table.equal(func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) })
	if b.String() != "" {
		t.Errorf("one sentence: %s", b.String())
	}
}
