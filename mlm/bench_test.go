package mlm

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"testing"

	"infill/internal/ort/orttest"
	"infill/models"
)

// benchModel opens the folder that INFILL_BENCH_MODEL names, else the model small.
func benchModel(b *testing.B, o Options) *Model {
	b.Helper()
	orttest.Load(b)
	var m *Model
	var err error
	if dir := os.Getenv("INFILL_BENCH_MODEL"); dir != "" {
		m, err = OpenDir(context.Background(), dir, o)
	} else {
		m, err = Open(context.Background(), models.Small(), o)
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = m.Close() })
	return m
}

// One sampler step of the standard job: 25 chains of a 22-piece sentence with
// four blanks, all states different.
func BenchmarkStep(b *testing.B) {
	for _, threads := range []int{1, runtime.NumCPU()} {
		m := benchModel(b, Options{Threads: threads})
		s, _ := randomStates(m, 1, 22, 4, 1)
		states := make([][]int32, 25)
		for c := range states {
			_, st := randomStates(m, uint64(c+2), 22, 4, 1)
			states[c] = st[0]
		}
		v := m.VocabSize()
		lp, grad, forward := table(25, 4), table(25, 4*v), table(25, 4*v)
		for name, f := range map[string]func() error{
			"energy":   func() error { return m.LogProb(context.Background(), s, states, lp) },
			"gradient": func() error { return m.Gradient(context.Background(), s, states, Full, lp, grad) },
			"forward": func() error {
				return m.Gradient(context.Background(), s, states, Forward, lp,
					forward)
			},
		} {
			b.Run(fmt.Sprintf("%s/threads=%d", name, threads), func(b *testing.B) {
				for b.Loop() {
					if err := f(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(25*4*b.N)/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}

// Opening is what a user waits for before the first result.
func BenchmarkOpen(b *testing.B) {
	orttest.Load(b)
	for b.Loop() {
		m, err := Open(context.Background(), models.Small(), Options{Threads: 2})
		if err != nil {
			b.Fatal(err)
		}
		_ = m.Close()
	}
}
