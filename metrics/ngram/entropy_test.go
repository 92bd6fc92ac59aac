package ngram

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"infill/metrics/corpus"
)

// The entropy is −Σ p·log p over a plain count of the n-grams.
func TestEntropy(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		c := corpus.New(nil, nil)
		counts := make([]map[string]float64, 4)
		for range r.IntN(9) {
			words := make([]string, r.IntN(12))
			for i := range words {
				words[i] = string('a' + rune(r.IntN(3)))
			}
			if err := c.Add(strings.Join(words, " ")); err != nil {
				t.Fatal(err)
			}
			for n := range counts {
				if counts[n] == nil {
					counts[n] = map[string]float64{}
				}
				for p := 0; p+n < len(words); p++ {
					counts[n][strings.Join(words[p:p+n+1], " ")]++
				}
			}
		}
		got, err := Count(c, len(counts))
		if err != nil {
			t.Fatal(err)
		}
		for n, all := range counts {
			total, want := 0.0, 0.0
			for _, k := range all {
				total += k
			}
			for _, k := range all {
				want -= k / total * math.Log(k/total)
			}
			if math.Abs(got[n].Entropy-want) > 1e-12 {
				t.Errorf("%d-grams %v: %v, want %v", n+1, all, got[n].Entropy, want)
			}
		}
	}
}
