package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"infill/bench/internal/runlog"
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
