package torch

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"infill/infill/jsonl"
	"infill/internal/ort/orttest"
	"infill/lab/internal/chains"
	"infill/lab/internal/runlog"
)

// Runs of the program's model small, under its name. A second time nothing is left to do, and what
// a sampler without energies says of its states is computed besides.
func TestRealRuns(t *testing.T) {
	orttest.Load(t)
	file := filepath.Join(t.TempDir(), "runs.jsonl")
	args := []string{"-runs", file, "-programs", "rows gibbs", "-only", "own 1", "-chains", "3",
		"-steps", "8"}
	for range 2 {
		if err := realCommand(t.Context(), args, io.Discard); err != nil {
			t.Fatal(err)
		}
	}
	all, _, err := runlog.Read[realRun](file)
	if err != nil || len(all) != 2 {
		t.Fatalf("%d runs, %v", len(all), err)
	}
	for _, r := range all {
		if r.RealStates == nil || !(r.Last.Mean < 0) || r.Made != 24 || r.CPU <= 0 || r.Blanks != 4 ||
			r.Model != "small" || !(r.MeanProb > 0 && r.MeanProb <= 1) ||
			len(r.Path) != 8 || r.Path[7].Last != r.Last ||
			r.Path[2].Step != 2 || !(r.Path[7].CPU > r.Path[0].CPU) {
			t.Errorf("%+v", r)
		}
	}
	// gibbs, the second, has no acceptance test.
	if r := all[1]; r.MoveShare != nil || r.Acceptance != nil || r.MeanProb != 1 {
		t.Errorf("%+v", r)
	}
	if r := all[0]; r.MoveShare == nil ||
		math.Abs(1-*r.MoveShare*(1-*r.Acceptance)-r.MeanProb) > 1e-12 {
		t.Errorf("%+v", r)
	}
	for _, bad := range [][]string{{"-chains", "1"}, {"x"}, {"-texts", file + "x"},
		{"-runs", file, "-only", "own 1", "-programs", "torch:steps=0"},
		{"-runs", file, "-only", "own 1", "-programs", "torch"},
		{"-runs", file, "-only", "own 1", "-programs", "before"},
		{"-runs", file, "-only", "own 1", "-programs", "nobody"}} {
		if err := realCommand(t.Context(), bad, io.Discard); err == nil {
			t.Errorf("%v passes", bad)
		}
	}
}

// A section of the page by hand: a part of PyTorch's work is scaled, ratios compare runs on the
// same sentence, and targets say what is reached.
func TestRealSection(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "performance"), 0o755); err != nil {
		t.Fatal(err)
	}
	log, err := runlog.Append(filepath.Join(dir, "performance", realFile), 0)
	if err != nil {
		t.Fatal(err)
	}
	count := 2
	run := func(program, sentence string, cpu float64, made int, best float64) {
		r := realRun{realKey: realKey{Model: "m", Program: program, Sentence: sentence, Seed: 1, Chains: 10,
			Steps: 20, Threads: count}, Made: made, CPU: cpu, Wall: 2 * cpu, Version: "v"}
		if program == realBefore {
			r.Wall = cpu / 2
		}
		if made == 200 {
			r.RealStates = &RealStates{Last: chains.Quality{Mean: -5, Best: best, Distinct: 7}, EnergyESS: 30,
				TokenESS: 15}
		}
		q := chains.Quality{Mean: -4, Best: -1, Distinct: 6}
		switch program + sentence {
		case "rows1":
			r.Path = []realPoint{{Step: 5, CPU: 0.5, Last: q, Visited: q}, {Step: 20, CPU: 2, Last: q}}
			share, accepted := 0.8, 0.5
			r.MeanProb, r.MoveShare, r.Acceptance = 0.6, &share, &accepted
		case "gibbs-mh1":
			r.Path = []realPoint{{Step: 10, CPU: 0.5, Last: q}, {Step: 20, CPU: 1, Last: q}}
		}
		if err := log.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	run("rows", "1", 2, 200, -2)
	run("rows", "2", 4, 200, -3)
	run("gibbs-mh", "1", 1, 200, -2)
	run("rows", "3", 100, 200, -9) // nobody else has this one
	run("torch:chains=2:steps=5", "1", 6, 10, 0)
	run("before", "1", 30, 200, -2.5)
	run("before", "2", 20, 200, -3.5)
	run("dmala", "1", 10, 200, -2.5)
	run("dmala", "2", 10, 200, -2.5)
	count = 1
	run("rows", "1", 2, 200, -2)
	run("before", "1", 30, 200, -2.5)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	var w strings.Builder
	b := &book{dir: dir}
	err = b.realSection(func(format string, args ...any) { fmt.Fprintf(&w, format+"\n", args...) })
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		// 6 s for 10 of 200 chain-steps are 120 s, 60 times rows.
		"| PyTorch, straightforward, float32, 2 of the chains, 5 of the steps | 1 | 120 | 240 | 60 | 60 | – |",
		// 30/2 and 20/4, and a mean over both sentences.
		"| DMALA, infill before | 2 | 25 | 12.5 | 10 (5–15) | 2.5 (1.25–3.75) | 0.00 | – | 0.0 | -5.00 | " +
			"-3.00 | 7.0 | 75 |",
		// One of three runs of rows says what share of moves was accepted.
		"| mean probability | acceptance | moves a chain |", "| 1 (1–1) | 1 (1–1) | 0.20 | 0.50 (1) | 0.0 | -5.00 |",
		// rows and gibbs-mh of 20 steps, gibbs-mh of 10, and both of all.
		"| times as fast as straightforward PyTorch in float32 | ≥ 20 | 60 (1) | 120 (1) | " +
			"240 (1) | 60 (1) | 120 (1) | yes |",
		"| times as fast as infill before | ≥ 8 | 15 (1) | 30 (1) | 60 (1) | 10 (2) | 30 (1) | yes |",
		"| mean U of the five best, less that before | ≥ 0 | +1.50 (1) | +1.50 (1) | +1.50 (1) | " +
			"+0.50 (2) | +0.50 (1) | yes |",
		"| effective draws of U a CPU second, times those before | ≥ 8 | – | – | – | 10 (2) | " +
			"30 (1) | yes |",
		// After 5 steps, 0.5 s, beside 10 s of DMALA.
		"| `rows` | 5 | 1 | 20 | +1.00 (+1.0 to +1.0) | +1.50 (+1.5 to +1.5) | -1.00 (-1.0 to -1.0) | -1.00 (",
		// Two threads first, with targets and with ratios of the clock: 15 s against 4 s. gibbs-mh
		// takes 1 s of the processor for 20 steps and .5 s for 10, and as much of the clock twice.
		"### m\n\n10 chains, 20 steps, 2 threads, ", "### m, one thread\n\n10 chains, 20 steps, one thread, ",
		"| DMALA, infill before | 1 | 30 | 15 | 15 | 0.00 |",
		"| the same, seconds of the clock | ≥ 8 | 3.75 (1) | 7.5 (1) | 15 (1) | 2.5 (2) | 7.5 (1) | yes |",
	} {
		if !strings.Contains(w.String(), want) {
			t.Errorf("no line %q in\n%s", want, w.String())
		}
	}
	if strings.Count(w.String(), "infill before | ≥") != 1 {
		t.Error("a model has targets for several numbers of threads")
	}
	if strings.Contains(w.String(), "autocast | ≥") {
		t.Error("a target without a run has a line")
	}
}

// Lines and records of earlier programs have the mean probability under another name.
func TestEarlierNames(t *testing.T) {
	for _, line := range []string{
		`{"program":"rows","pieces":9,"acceptance":0.75,"moves":3,"last":{"mean":-5}}`,
		`{"program":"rows","pieces":9,"mean_probability":0.75,"moves":3,"last":{"mean":-5}}`,
	} {
		var r realRun
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.MeanProb != 0.75 ||
			r.Acceptance != nil || r.Pieces != 9 ||
			r.Program != "rows" || r.RealStates == nil || r.Moves != 3 || r.Last.Mean != -5 {
			t.Errorf("%s: %+v, %v", line, r, err)
		}
	}
	var r realRun
	line := `{"mean_probability":0.75,"move_share":0.5,"acceptance":0.5}`
	if err := json.Unmarshal([]byte(line), &r); err != nil || r.MeanProb != 0.75 ||
		*r.MoveShare != 0.5 || *r.Acceptance != 0.5 {
		t.Errorf("%s: %+v, %v", line, r, err)
	}
	if again, err := json.Marshal(r); err != nil || !strings.Contains(string(again), line[1:len(line)-1]) {
		t.Errorf("%s is written as %s, %v", line, again, err)
	}
	for _, name := range []string{"acceptance", "mean_probability"} {
		var s Sampler
		record := `{"memory":7,"` + name + `":{"value":0.5,"error":0.1},"energy":{"value":-2}}`
		if err := json.Unmarshal([]byte(record), &s); err != nil || s.Prob != (Mean{0.5, 0.1}) ||
			s.Memory != 7 || s.Energy.Value != -2 {
			t.Errorf("%s: %+v, %v", record, s, err)
		}
	}
}

// States of an earlier build are pieces, not numbers.
func TestTraceOf(t *testing.T) {
	u := func(v float64) *float64 { return &v }
	tr, err := traceOf([]jsonl.Step{
		{Step: 0, Energy: []*float64{u(-3), u(-1)}, States: [][]string{{"a", "b"}, {"b", "b"}}},
		{Step: 1, Energy: []*float64{u(-1), u(-1)}, States: [][]string{{"b", "b"}, {"b", "b"}}},
	})
	if err != nil || tr.Moves(0) != 0.5 || tr.At(1) != (chains.Quality{Mean: -1, Best: -1, Distinct: 1}) {
		t.Errorf("%+v, %v", tr, err)
	}
	if _, err := traceOf(nil); err == nil {
		t.Error("an empty trace passes")
	}
	if _, err := traceOf([]jsonl.Step{{Energy: []*float64{nil}}}); err == nil {
		t.Error("a trace without energies passes")
	}
}
