package protocols

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"infill/infill"
	"infill/internal/testmode"
	"infill/lab/internal/runlog"
)

// A run of the program's model small, recorded under its name: the three protocols on a sentence,
// each with the states that it counts, and a second time nothing is left to do.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	data, out := filepath.Join(dir, "in.txt"), filepath.Join(dir, "runs.jsonl")
	if err := os.WriteFile(data, []byte("The [MASK] sat on the [MASK].\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-data", data, "-o", out, "-samplers", "rows", "-protocols", "A B C", "-seeds", "1",
		"-steps", "8", "-chains", "3"}
	for range 2 {
		if err := runCommand(context.Background(), args); err != nil {
			t.Fatal(err)
		}
	}
	all, _, err := runlog.Read[record](out)
	if err != nil || len(all) != 3 {
		t.Fatalf("%d runs, %v", len(all), err)
	}
	for i, want := range []int{3, 3, 4} { // chains, chains, and half of the steps
		n := 0
		for _, s := range all[i].States {
			n += s.Count
		}
		if n != want || all[i].Model != "small" {
			t.Errorf("protocol %s of %s counts %d states, want %d of small", all[i].Protocol, all[i].Model,
				n, want)
		}
	}
	args[7] = "D"
	if err := runCommand(context.Background(), args); err == nil {
		t.Error("protocol D was accepted")
	}
}

// A run of equal steps stands for one of equal evaluations where it made these, and then only. Both
// count the same states when they are run.
func TestAsSteps(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "in.txt")
	if err := os.WriteFile(data, []byte("The [MASK] sat on the [MASK].\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	runs := func(file, budgets string) []record {
		t.Helper()
		out := filepath.Join(dir, file)
		err := runCommand(context.Background(), []string{"-data", data, "-o", out, "-samplers", "gwg gibbs dula dmala",
			"-protocols", "A C", "-seeds", "1", "-steps", "6", "-chains", "3", "-budget", budgets})
		if err != nil {
			t.Fatal(err)
		}
		all, _, err := runlog.Read[record](out)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	alone := map[key]record{}
	for _, r := range runs("alone.jsonl", "evaluations") {
		alone[r.key] = r
	}
	steps := map[key]record{}
	for _, r := range runs("both.jsonl", "steps evaluations") {
		if r.Budget == "steps" {
			steps[r.key] = r
			continue
		}
		want := alone[r.key]
		if !reflect.DeepEqual(r.States, want.States) || r.Made != want.Made || r.Evals != want.Evals ||
			r.Rows != want.Rows || r.Moves != want.Moves {
			t.Errorf("%s, %s: %+v\nalone %+v", r.Protocol, r.Sampler, r, want)
		}
		if stood, ok := asSteps(steps, r.key); ok != (r.Sampler == "gwg") ||
			ok && stood.Seconds != r.Seconds {
			t.Errorf("%s, %s: the run of equal steps stands for it: %v", r.Protocol, r.Sampler, ok)
		}
	}
	if len(alone) != 8 || len(steps) != 8 {
		t.Errorf("%d and %d runs, want 8", len(alone), len(steps))
	}
}

// The seconds of a run are what it took, and its share of what an earlier one has saved it.
func TestSecondsOfAChain(t *testing.T) {
	var c chain
	for _, r := range []struct{ evals, took, want float64 }{
		{100, 8, 8},    // nothing was there
		{160, 5, 13},   // all of the first
		{40, 1, 4.2},   // of the first, too, 40 %
		{200, 2, 15},   // all of the second, and none of the third
		{100, .5, 8.5}, // all of the first
	} {
		rec := &record{Evals: int(r.evals), Seconds: r.took}
		c.add(rec)
		if rec.Seconds != r.want {
			t.Errorf("%v: %v seconds", r, rec.Seconds)
		}
	}
}

// The defaults have the paper's numbers, read from it where it is at hand.
func TestPaperSays(t *testing.T) {
	text, err := os.ReadFile(testmode.Shared(t, "papers", "000_afe358fca1da7133.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, says := range []string{"mask 25% of the words", "sample 25 sentences",
		"run all samplers for 50 steps", "select the top-5 sentences", "N=30,522"} {
		if !strings.Contains(string(text), says) {
			t.Errorf("the paper does not say %q", says)
		}
	}
	if infill.PublishedSteps != 50 || infill.DefaultChains != 25 {
		t.Error("the defaults are others")
	}
}
