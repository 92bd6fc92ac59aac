// Package speed holds the benchmarks of what users wait for: the start of the
// command, a fill, and the throughput of batch and score, on the program's model small,
// and the commands on its model default too.
//
//	go test -run '^$' -bench . ./lab/speed
//
// lab/notebook/performance.md has what they measured. The command bin/lab torch -latency
// records it.
package speed

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"infill/infill"
	"infill/infill/text"
	"infill/internal/ort/orttest"
	"infill/mlm"
	"infill/models"
	"infill/samplers"
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

// processor is the time of the processor that this program has used, or the programs that it
// started and that have ended.
func processor(b *testing.B, who int) time.Duration {
	b.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(who, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// The seconds of the processor are what to compare where other programs run beside.
func reportCPU(b *testing.B, who int, before time.Duration) {
	b.Helper()
	b.ReportMetric((processor(b, who)-before).Seconds()/float64(b.N), "cpu-s/op")
}

// BenchmarkCommand is a new process for every operation, by model: with one chain and no
// step, one blank that is sampled, and four blanks of 20 words that are sampled.
func BenchmarkCommand(b *testing.B) {
	bin := command(b)
	short := "She opened the [MASK] and walked in."
	for _, c := range []struct {
		name string
		args []string
	}{
		{"start", []string{"--chains", "1", "--steps", "0", short}},
		{"start-and-one-blank", []string{"--method", "sample", short}},
		{"start-and-four-blanks", []string{"--method", "sample", twentyWords}},
	} {
		for _, m := range models.All() {
			b.Run(m.Name+"/"+c.name, func(b *testing.B) {
				before := processor(b, syscall.RUSAGE_CHILDREN)
				for b.Loop() {
					run(b, bin, append([]string{"fill", "--model", m.Name, "--seed", "1", "--score", "pll"},
						c.args...)...)
				}
				reportCPU(b, syscall.RUSAGE_CHILDREN, before)
			})
		}
	}
}

func open(b *testing.B, threads int) *mlm.Model {
	b.Helper()
	orttest.Load(b)
	m, err := mlm.Open(context.Background(), models.Small(), mlm.Options{Threads: threads})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = m.Close() })
	return m
}

// BenchmarkFill is the fill without the start: 4 blanks of 20 words, 25 chains of 50 steps.
func BenchmarkFill(b *testing.B) {
	for _, sampler := range []samplers.Sampler{&samplers.Rows{}, &samplers.DMALA{}} {
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/threads=%d", sampler.Info().Name, threads), func(b *testing.B) {
				m := open(b, threads)
				e := infill.New(m)
				t, err := text.Parse(m.Tokenizer(), twentyWords)
				if err != nil {
					b.Fatal(err)
				}
				opt := infill.Options{Seed: 1,
					Sampling: infill.SamplingOptions{Sampler: sampler, Steps: infill.PublishedSteps},
					Results:  infill.ResultOptions{Score: infill.ScorePLL}}
				before := processor(b, syscall.RUSAGE_SELF)
				for b.Loop() {
					e.Forget()
					if _, err := e.Fill(context.Background(), t, opt); err != nil {
						b.Fatal(err)
					}
				}
				reportCPU(b, syscall.RUSAGE_SELF, before)
				b.ReportMetric(float64(infill.DefaultChains*opt.Sampling.Steps*b.N)/
					b.Elapsed().Seconds(), "chain-steps/s")
			})
		}
	}
}

// BenchmarkScore is the pseudo-log-likelihood of 50 sentences of 17 words.
func BenchmarkScore(b *testing.B) {
	const sentences = 50
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			e := infill.New(open(b, threads))
			before := processor(b, syscall.RUSAGE_SELF)
			for b.Loop() {
				for i := range sentences {
					text := fmt.Sprintf("In the year %d the old man took his dog and went down to the river "+
						"again.", 1900+i)
					if _, err := e.Score(context.Background(), text, infill.ScoreOptions{By: infill.ScorePLL}); err != nil {
						b.Fatal(err)
					}
				}
			}
			reportCPU(b, syscall.RUSAGE_SELF, before)
			b.ReportMetric(float64(sentences*b.N)/b.Elapsed().Seconds(), "sentences/s")
		})
	}
}

// BenchmarkBatch is the command on files of sentences of 12 words with two blanks each,
// 10 chains of 10 steps, start and writing included: on small, and the shorter file on
// default, which takes twenty times the processor's time.
func BenchmarkBatch(b *testing.B) {
	bin := command(b)
	dir := b.TempDir()
	in := filepath.Join(dir, "in.txt")
	for _, c := range []struct {
		model, prefix string
		sentences     int
	}{{"small", "", 12}, {"small", "", 300}, {"default", "default/", 12}} {
		lines := strings.Join(twelveWords(c.sentences), "\n") + "\n"
		if err := os.WriteFile(in, []byte(lines), 0o600); err != nil {
			b.Fatal(err)
		}
		for _, threads := range []int{1, 2} {
			name := fmt.Sprintf("%ssentences=%d/threads=%d", c.prefix, c.sentences, threads)
			b.Run(name, func(b *testing.B) {
				n := 0
				before := processor(b, syscall.RUSAGE_CHILDREN)
				for b.Loop() {
					n++
					out := filepath.Join(dir, fmt.Sprintf("%s-%d-%d-%d-%d.jsonl", c.model, c.sentences,
						threads, b.N, n))
					run(b, bin, "batch", in, "-o", out, "--model", c.model, "--seed", "1", "--chains", "10",
						"--steps", "10", "--score", "pll", "--threads", fmt.Sprint(threads), "--quiet", "--progress",
						"none")
					if err := os.Remove(out); err != nil {
						b.Fatal(err)
					}
				}
				reportCPU(b, syscall.RUSAGE_CHILDREN, before)
				b.ReportMetric(float64(c.sentences*b.N)/b.Elapsed().Seconds(), "sentences/s")
			})
		}
	}
}

// parts are the words that twelveWords chooses from, in their order. A single word is in every
// sentence.
var parts = [12][]string{
	{"The"}, {"old", "young", "tall", "tired", "quiet", "happy", "poor", "rich", "small", "strange"},
	{"man", "woman", "boy", "girl", "teacher", "doctor", "farmer", "soldier", "captain", "king",
		"queen", "child", "lady", "priest", "nurse", "writer", "painter", "driver"},
	{"opened", "closed", "left", "found", "lost", "saw", "carried", "washed", "sold", "bought"},
	{"the"}, {"door", "window", "box", "letter", "book", "table", "horse", "boat", "house", "lamp"},
	{"near", "behind", "beside", "under", "above", "before"}, {"the"},
	{"river", "station", "church", "market", "bridge", "school", "village", "forest", "castle"},
	{"during"}, {"the"},
	{"morning", "evening", "night", "spring", "summer", "winter", "storm", "war"},
}

// twelveWords makes sentences of 12 words. Two of them are blanks.
func twelveWords(n int) []string {
	rng := rand.New(rand.NewPCG(1, 12))
	out := make([]string, n)
	for i := range out {
		words := make([]string, len(parts))
		for j, from := range parts {
			words[j] = from[rng.IntN(len(from))]
		}
		for _, j := range rng.Perm(len(words) - 1)[:2] {
			words[j+1] = "[MASK]"
		}
		out[i] = strings.Join(words, " ") + "."
	}
	return out
}
