//go:build unix

package main

import (
	"os"
	"path/filepath"
	"testing"
)

// References may come by a pipe, which is read once.
func TestCompareReferencePipe(t *testing.T) {
	t.Parallel()
	const text = "the dog sleeps in the house .\na cat runs .\n"
	in := write(t, "in.txt", "the [MASK] sleeps .\n")
	few := []string{"--steps", "2", "--chains", "2", "--samplers", "gibbs", in, "--reference"}
	pipe := fifo(t, filepath.Join(t.TempDir(), "ref.txt"))
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(pipe, []byte(text), 0) }()
	piped, _ := comparison(t, 0, append(few, pipe)...)
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	file, _ := comparison(t, 0, append(few, write(t, "ref.txt", text))...)
	if n := piped.References[0].Sentences; n != 2 {
		t.Errorf("%d references", n)
	}
	if a, b := value(t, piped.Rows[0], "bleu"), value(t, file.Rows[0], "bleu"); a != b {
		t.Errorf("BLEU %v by a pipe, %v by a file", a, b)
	}
}
