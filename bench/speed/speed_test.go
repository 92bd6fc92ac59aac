// Package speed holds the benchmarks of what users wait for: the start of the
// command, a fill, and the throughput of batch and score, on the default model.
//
//	go test -run '^$' -bench . ./bench/speed
//
// docs/notebook/performance.md has what they measured. The command go run ./bench/torch -latency
// records it.
package speed

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"infill/infill"
	"infill/internal/ort/orttest"
	"infill/mlm"
	"infill/models"
)

// twentyWords is the sentence of the fill that is timed. It has 4 blanks.
const twentyWords = "The old [MASK] went down to the [MASK] every morning and sat there with a " +
	"[MASK] until the [MASK] came."

// command builds infill and checks that it runs.
func command(b *testing.B) string {
	b.Helper()
	orttest.Load(b)
	bin := filepath.Join(b.TempDir(), "infill")
	if out, err := exec.Command("go", "build", "-o", bin,
		"../../cmd/infill").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return bin
}

func run(b *testing.B, bin string, args ...string) {
	b.Helper()
	if out, err := exec.Command(bin, args...).CombinedOutput(); err != nil {
		b.Fatalf("%v: %v\n%s", args, err, out)
	}
}

// BenchmarkCommand is a new process for every operation: with one chain and no
// step, one blank with 25 chains of 50 steps, and four blanks of 20 words.
func BenchmarkCommand(b *testing.B) {
	bin := command(b)
	short := "She opened the [MASK] and walked in."
	for _, c := range []struct {
		name string
		args []string
	}{
		{"start", []string{"fill", "--seed", "1", "--chains", "1", "--steps", "0", short}},
		{"start-and-one-blank", []string{"fill", "--seed", "1", short}},
		{"start-and-four-blanks", []string{"fill", "--seed", "1", twentyWords}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				run(b, bin, c.args...)
			}
		})
	}
}

func open(b *testing.B, threads int) *mlm.Model {
	b.Helper()
	orttest.Load(b)
	m, err := mlm.Open(context.Background(), models.Default(), mlm.Options{Threads: threads})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = m.Close() })
	return m
}

// BenchmarkFill is the fill without the start: 4 blanks of 20 words, 25 chains
// of 50 steps.
func BenchmarkFill(b *testing.B) {
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			m := open(b, threads)
			e := infill.New(m)
			t, err := infill.Parse(m.Tokenizer(), twentyWords)
			if err != nil {
				b.Fatal(err)
			}
			opt := infill.Options{Seed: 1, Vocab: infill.VocabAll}
			for b.Loop() {
				if _, err := e.Fill(context.Background(), t, opt); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(infill.DefaultChains*infill.DefaultSteps*b.N)/b.Elapsed().Seconds(),
				"chain-steps/s")
		})
	}
}

// BenchmarkScore is the pseudo-log-likelihood of 50 sentences of 17 words.
func BenchmarkScore(b *testing.B) {
	const sentences = 50
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			e := infill.New(open(b, threads))
			for b.Loop() {
				for i := range sentences {
					text := fmt.Sprintf("In the year %d the old man took his dog and went down to the river "+
						"again.", 1900+i)
					if _, err := e.Score(context.Background(), text); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(sentences*b.N)/b.Elapsed().Seconds(), "sentences/s")
		})
	}
}

// BenchmarkBatch is the command on a file of 12 sentences with two blanks each,
// 10 chains of 10 steps, start and writing included.
func BenchmarkBatch(b *testing.B) {
	const sentences = 12
	bin := command(b)
	dir := b.TempDir()
	in := filepath.Join(dir, "in.txt")
	var lines bytes.Buffer
	for i := range sentences {
		fmt.Fprintf(&lines, "In the year %d the old [MASK] took his dog and went down to the [MASK].\n",
			1900+i)
	}
	if err := os.WriteFile(in, lines.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			n := 0
			for b.Loop() {
				n++
				out := filepath.Join(dir, fmt.Sprintf("out-%d-%d-%d.jsonl", threads, b.N, n))
				run(b, bin, "batch", in, "-o", out, "--seed", "1", "--chains", "10", "--steps", "10",
					"--threads", fmt.Sprint(threads), "--quiet", "--progress", "none")
				if err := os.Remove(out); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(sentences*b.N)/b.Elapsed().Seconds(), "sentences/s")
		})
	}
}
