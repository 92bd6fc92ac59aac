package infill

import (
	"context"
	"testing"

	"infill/infill/text"
	"infill/mlm"
	"infill/models"
)

// BenchmarkFill is a sentence of three blanks with the model small: ten
// chains of ten steps, one thread.
func BenchmarkFill(b *testing.B) {
	m, err := mlm.Open(context.Background(), models.Small(), mlm.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	e := New(m)
	t, err := text.Parse(m.Tokenizer(), "The [MASK] walked down the [MASK] and saw a [MASK].")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Fill(context.Background(), t,
			Options{Sampling: SamplingOptions{Chains: 10, Steps: 10}, Seed: 1}); err != nil {
			b.Fatal(err)
		}
	}
}
