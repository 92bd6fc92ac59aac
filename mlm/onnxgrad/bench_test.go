package onnxgrad

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"infill/internal/ort"
	"infill/internal/ort/orttest"
)

// benchCall makes rows of random pieces: chains of m blanks, every row of the given length.
func benchCall(chains, m, length, vocabulary int) map[string]array {
	r := rand.New(rand.NewPCG(1, 1))
	rows := chains * m
	c := map[string]array{"positions": {Shape: []int{rows}}, "targets": {Shape: []int{rows}},
		"blanks": {Shape: []int{chains, m}}}
	ids, ones := array{Shape: []int{rows, length}}, array{Shape: []int{rows, length}}
	for range chains {
		sentence := make([]float64, length)
		for i := range sentence {
			sentence[i] = float64(100 + r.IntN(vocabulary-100))
		}
		where := r.Perm(length - 2)[:m]
		for _, b := range where {
			row := append([]float64{}, sentence...)
			row[b+1] = 4
			ids.Data = append(ids.Data, row...)
			for _, name := range []string{"positions", "blanks"} {
				a := c[name]
				a.Data = append(a.Data, float64(b+1))
				c[name] = a
			}
			t := c["targets"]
			t.Data = append(t.Data, sentence[b+1])
			c["targets"] = t
		}
	}
	for range ids.Data {
		ones.Data = append(ones.Data, 1)
	}
	c["input_ids"], c["attention_mask"] = ids, ones
	c["token_type_ids"] = array{Shape: ids.Shape, Data: make([]float64, len(ids.Data))}
	return c
}

// BenchmarkSharing measures a call of a fill by the model small, 9 states of 4 blanks in one
// sentence of 23 pieces, with what comes before the first attention computed once for positions
// that are alike, and without.
func BenchmarkSharing(b *testing.B) {
	m := loadModel(b, "../../models/small/model.onnx")
	const states, blanks, length = 9, 4, 23
	c := benchCall(states, blanks, length, 16384)
	ids, where, r := c["input_ids"].Data, c["positions"].Data, rand.New(rand.NewPCG(2, 1))
	for row := range states * blanks { // the first state's sentence and blanks for all
		copy(ids[row*length:], ids[row%blanks*length:][:length])
		at := where[row%blanks]
		where[row], c["blanks"].Data[row] = at, at
	}
	for state := range states {
		for k := range blanks {
			piece := float64(100 + r.IntN(16284))
			c["targets"].Data[state*blanks+k] = piece
			for other := range blanks {
				if other != k {
					ids[(state*blanks+other)*length+int(where[k])] = piece
				}
			}
		}
	}
	for _, v := range []struct {
		name string
		d    *Derived
	}{{"shared", derive(b, m)}, {"unshared", unshared(b, m)}} {
		s := open(b, v.d, ort.Config{Threads: 1})
		for name, gradient := range map[string]bool{"energy": false, "gradient": true} {
			b.Run(name+"/"+v.name, func(b *testing.B) {
				run(b, s.Session,
					s.feed(b, c, false, gradient), 3)
			})
		}
	}
}

// BenchmarkSharedModel measures calls of 32 rows × 32 tokens (8 chains of 4 blanks) on weights of
// the size of the model to build on: 4 layers of width 256, 16,384 pieces. "original" is the export
// as it is, logits at every position.
func BenchmarkSharedModel(b *testing.B) {
	file := filepath.Join(shared(b), "model-v0", "model.onnx")
	d := derive(b, loadModel(b, file))
	c := benchCall(8, 4, 32, d.Vocabulary)
	for _, threads := range []int{1, 2} {
		s := open(b, d, ort.Config{Threads: threads})
		for _, k := range []struct {
			name                  string
			conditional, gradient bool
		}{{"energy", false, false}, {"conditional", true, false}, {"gradient", true, true}} {
			b.Run(fmt.Sprintf("%s/threads=%d", k.name, threads), func(b *testing.B) {
				in := s.feed(b, c, k.conditional, k.gradient)
				run(b, s.Session, in, 3)
				b.ReportMetric(float64(32*b.N)/b.Elapsed().Seconds(), "rows/s")
			})
		}
		b.Run(fmt.Sprintf("original/threads=%d", threads), func(b *testing.B) {
			orttest.Load(b)
			data, err := os.ReadFile(file)
			if err != nil {
				b.Fatal(err)
			}
			names := []string{"input_ids", "attention_mask", "token_type_ids"}
			o, err := ort.OpenBytes("original", data, names, []string{"logits"},
				ort.Config{Threads: threads})
			if err != nil {
				b.Fatal(err)
			}
			defer o.Close() //nolint:errcheck // end of the benchmark
			run(b, o, (&session{o, names, nil}).feed(b, c, false, false), 1)
		})
	}
}

func run(b *testing.B, s *ort.Session, in []*ort.Tensor, outputs int) {
	b.Helper()
	defer func() {
		for _, x := range in {
			x.Close()
		}
	}()
	for b.Loop() {
		out := make([]*ort.Tensor, outputs)
		if err := s.Run(context.Background(), in, out); err != nil {
			b.Fatal(err)
		}
		for _, o := range out {
			o.Close()
		}
	}
}

// BenchmarkDerive measures the derivation itself, reading included, weights left where they are.
func BenchmarkDerive(b *testing.B) {
	file := filepath.Join(shared(b), "model-v0", "model.onnx")
	for b.Loop() {
		derive(b, loadModel(b, file))
	}
}
