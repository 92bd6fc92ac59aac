package bleu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"infill/metrics/corpus"
	"infill/metrics/ngram"
)

// markovLines makes n lines of 37 tokens whose n-grams repeat about as much as
// those of generated text: token k+1 is drawn from a few successors of token k.
func markovLines(n int) []string {
	rng := rand.New(rand.NewPCG(1, 2))
	const words = 10000
	zipf := func() int {
		// Inverse of the continuous 1/x law on [1, words].
		return int(math.Exp(rng.Float64()*math.Log(words))) - 1
	}
	lines := make([]string, n)
	var b strings.Builder
	for i := range lines {
		b.Reset()
		w := zipf()
		for k := range 37 {
			if k > 0 {
				b.WriteByte(' ')
			}
			fmt.Fprintf(&b, "w%d", w)
			if rng.IntN(3) == 0 {
				w = zipf()
			} else {
				w = (w*31 + zipf()%40) % words
			}
		}
		lines[i] = b.String()
	}
	return lines
}

func load(b *testing.B, lines []string) *corpus.Corpus {
	c := corpus.New(nil, nil)
	for _, l := range lines {
		if err := c.Add(l); err != nil {
			b.Fatal(err)
		}
	}
	return c
}

// BenchmarkSelfBLEU scores interned sentences; "text" includes tokenising them.
// Run the large one with -bench=SelfBLEU/1000000 -benchtime=1x -cpu=1.
func BenchmarkSelfBLEU(b *testing.B) {
	for _, n := range []int{1000, 10_000, 1_000_000} {
		if n > 10_000 && testing.Short() {
			continue
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			lines := markovLines(n)
			c := load(b, lines)
			b.Run("interned", func(b *testing.B) {
				for b.Loop() {
					if _, err := Self(c, SelfOptions{}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(c.Tokens())),
					"ns/token")
			})
			c = nil
			b.Run("text", func(b *testing.B) {
				for b.Loop() {
					if _, err := Self(load(b, lines), SelfOptions{}); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}

func BenchmarkCorpusBLEU(b *testing.B) {
	lines := markovLines(20_000)
	v := &corpus.Vocab{}
	hyps, refs := corpus.New(v, nil), corpus.New(v, nil)
	for i, l := range lines {
		c := hyps
		if i%2 == 0 {
			c = refs
		}
		if err := c.Add(l); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("index-10000", func(b *testing.B) {
		for b.Loop() {
			x, _ := ngram.NewIndex(4, v)
			if err := addCorpus(x, refs, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	x, _ := ngram.NewIndex(4, v)
	if err := addCorpus(x, refs, nil); err != nil {
		b.Fatal(err)
	}
	b.Run("score-10000", func(b *testing.B) {
		for b.Loop() {
			if _, err := Corpus(hyps, x, Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
