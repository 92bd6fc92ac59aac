package ngram

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"infill/internal/testmode"
	"infill/metrics/corpus"
)

func randomSentences(rng *rand.Rand, n, words, longest int) [][]string {
	out := make([][]string, n)
	for i := range out {
		out[i] = make([]string, rng.IntN(longest+1))
		for k := range out[i] {
			out[i][k] = fmt.Sprint(rng.IntN(words))
		}
	}
	return out
}

// grams counts the n-grams of the sentences by name.
func grams(sentences [][]string, n int) map[string]int {
	out := map[string]int{}
	for _, s := range sentences {
		for p := 0; p+n <= len(s); p++ {
			out[strings.Join(s[p:p+n], " ")]++
		}
	}
	return out
}

func index(t *testing.T, v *corpus.Vocab, order int, sentences [][]string) *Index {
	t.Helper()
	x, err := NewIndex(order, v)
	if err != nil {
		t.Fatal(err)
	}
	if err := addCorpus(x, fromTokens(v, sentences), nil); err != nil {
		t.Fatal(err)
	}
	return x
}

func TestCountAgainstNaming(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	for trial := range 200 {
		v := &corpus.Vocab{}
		words := 1 + rng.IntN(12)
		set := randomSentences(rng, 1+rng.IntN(20), words, 12)
		refs := [][][]string{randomSentences(rng, rng.IntN(15), words, 9),
			randomSentences(rng, 3, words+3, 9)}
		const order = 5
		xs := []*Index{index(t, v, order, refs[0]), index(t, v, order+1, refs[1])}
		counts, err := Count(fromTokens(v, set), order, xs...)
		if err != nil {
			t.Fatal(err)
		}
		for n := 1; n <= order; n++ {
			want := Counts{N: n, Absent: make([]int64, 2)}
			known := []map[string]int{grams(refs[0], n), grams(refs[1], n)}
			for g, k := range grams(set, n) {
				want.Total += int64(k)
				want.Distinct++
				if k == 1 {
					want.Once++
				}
				for r := range known {
					if known[r][g] == 0 {
						want.Absent[r]++
					}
				}
			}
			want.Entropy = counts[n-1].Entropy // TestEntropy has its truth
			if fmt.Sprint(counts[n-1]) != fmt.Sprint(want) {
				t.Fatalf("trial %d order %d: %v, want %v\nset %q\nrefs %q", trial, n, counts[n-1], want, set,
					refs)
			}
			for r, x := range xs {
				if x.distinct(n) != len(known[r]) {
					t.Fatalf("trial %d: index has %d %d-grams, want %d", trial, x.distinct(n), n, len(known[r]))
				}
			}
		}
	}
}

func TestMatchAgainstNaming(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 9))
	for trial := range 200 {
		v := &corpus.Vocab{}
		words := 1 + rng.IntN(6)
		refs := randomSentences(rng, 1+rng.IntN(10), words, 12)
		texts := randomSentences(rng, 5, words+1, 14)
		hyps := fromTokens(v, texts)
		m := index(t, v, 4, refs).NewMatcher()
		for i := range hyps.Len() {
			s, got := texts[i], make([]int32, 4)
			m.Match(hyps.Sentence(i), got)
			for n := 1; n <= 4; n++ {
				want := int32(0)
				for g, k := range grams([][]string{s}, n) {
					most := 0
					for _, r := range refs {
						most = max(most, grams([][]string{r}, n)[g])
					}
					want += int32(min(k, most))
				}
				if got[n-1] != want {
					t.Fatalf("trial %d order %d: %d matches, want %d\n%q in %q", trial, n, got[n-1], want, s, refs)
				}
			}
		}
	}
}

// Shaib et al. compute self-repetition from the sets of n-grams of the documents.
func TestSelfRepetition(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	for trial := range 100 {
		set := randomSentences(rng, 2+rng.IntN(10), 3, 9)
		set[0] = strings.Fields("1 2 1 2")
		const n = 3
		in := map[string]int{}
		for _, s := range set {
			for g := range grams([][]string{s}, n) {
				in[g]++
			}
		}
		want := 0.0
		for _, s := range set {
			shared := 0
			for g := range grams([][]string{s}, n) {
				shared += in[g] - 1
			}
			want += math.Log(float64(shared)+1) / float64(len(set))
		}
		got, err := SelfRepetition(fromTokens(nil, set), n)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got-want) > 1e-12 {
			t.Fatalf("trial %d: %v, want %v for %q", trial, got, want, set)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	v := &corpus.Vocab{}
	c := fromTokens(v, [][]string{{"a"}, {"b"}})
	counts, err := Count(c, 2)
	if err != nil {
		t.Fatal(err)
	}
	if x, err := counts[1].UniqueSelf(); !errors.Is(err, errNoNgrams) || !math.IsNaN(x) {
		t.Errorf("no 2-gram: %v, %v", x, err)
	}
	if _, err := counts[0].UniqueReference(0); err == nil {
		t.Error("a reference that was not given has a number")
	}
	if _, err := SelfRepetition(c, 4); !errors.Is(err, errNoNgrams) {
		t.Errorf("self-repetition without 4-grams: %v", err)
	}
	if _, err := SelfRepetition(fromTokens(nil, [][]string{{"a"}}), 1); !errors.Is(err,
		errFewSentences) {
		t.Errorf("self-repetition of one sentence: %v", err)
	}
	if _, err := Count(c, 0); err == nil {
		t.Error("order 0 accepted")
	}
	if _, err := NewIndex(0, v); err == nil {
		t.Error("index of order 0 accepted")
	}
	if _, err := Count(c, 2, index(t, v, 1, nil)); err == nil {
		t.Error("index of a lower order accepted")
	}
	if _, err := Count(c, 2, index(t, &corpus.Vocab{}, 2, nil)); err == nil {
		t.Error("index over another vocabulary accepted")
	}
	if _, err := NewCompressor().Ratio(); !errors.Is(err, errNoText) {
		t.Errorf("compression of nothing: %v", err)
	}
}

func TestCompression(t *testing.T) {
	t.Parallel()
	ratio := func(lines ...string) float64 {
		c := NewCompressor()
		for _, l := range lines {
			if err := c.Add(l); err != nil {
				t.Fatal(err)
			}
		}
		r, err := c.Ratio()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	rng := rand.New(rand.NewPCG(2, 2))
	noise := make([]byte, 4000)
	for i := range noise {
		noise[i] = byte('!' + rng.IntN(90))
	}
	same, random := ratio(strings.Repeat("over and over again ", 200)), ratio(string(noise))
	// 90 equally likely characters carry log2(90) = 6.49 of 8 bits.
	if same < 50 || random < 1.1 || random > 8/math.Log2(90) {
		t.Errorf("repetition %v (want > 50), noise %v (want 1.1 to 1.23)", same, random)
	}
}

func TestGoldenUniqueNgrams(t *testing.T) {
	t.Parallel()
	dir := testmode.Shared(t, "data")
	for file, want := range map[string][3]string{
		"bert-base-uncased-len40-burnin250-topk100-temp1.000.txt": {
			"9.29 58.42 91.76 98.51", "12.02 61.75 92.11 98.52", "11.91 62.64 92.36 98.18"},
		"gpt-len40-topk100-temp1.000.txt": {
			"2.96 33.71 72.86 91.12", "2.00 25.74 65.04 88.42", "4.05 31.13 67.01 87.28"},
	} {
		v := &corpus.Vocab{}
		read := func(o corpus.Options, path string) *corpus.Corpus {
			p, err := corpus.NewPipeline(o)
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(dir, path))
			if err != nil {
				t.Fatal(err)
			}
			c := corpus.New(v, p)
			for line := range strings.Lines(string(text)) {
				if err := c.Add(strings.TrimRight(line, "\r\n")); err != nil {
					t.Fatal(err)
				}
			}
			return c
		}
		var refs []*Index
		for _, path := range []string{"eval/wiki103.5k.txt", "eval/tbc.5k.txt"} {
			x, err := NewIndex(4, v)
			if err != nil {
				t.Fatal(err)
			}
			if err := addCorpus(x, read(corpus.Options{Clean: "wc"}, path), nil); err != nil {
				t.Fatal(err)
			}
			refs = append(refs, x)
		}
		counts, err := Count(read(corpus.Options{}, "metrics/"+file), 4, refs...)
		if err != nil {
			t.Fatal(err)
		}
		var got [3][]string
		for _, c := range counts {
			for k := range got {
				x, err := c.UniqueSelf()
				if k < 2 {
					x, err = c.UniqueReference(k)
				}
				if err != nil {
					t.Fatal(err)
				}
				got[k] = append(got[k], fmt.Sprintf("%.2f", 100*x))
			}
		}
		for k, name := range []string{"wiki", "tbc", "self"} {
			if g := strings.Join(got[k], " "); g != want[k] {
				t.Errorf("%s, %s: %s, want %s", file, name, g, want[k])
			}
		}
	}
}

// distinct returns how many distinct n-grams of the given order the reference sentences have.
func (x *Index) distinct(n int) int {
	if n == 1 {
		d := 0
		for _, m := range x.levels[0].most {
			if m > 0 {
				d++
			}
		}
		return d
	}
	return int(x.levels[n-1].tab.n)
}

// fromTokens is a corpus of sentences that are cut into tokens without white space.
func fromTokens(v *corpus.Vocab, sentences [][]string) *corpus.Corpus {
	asTheyAre, err := corpus.NewPipeline(corpus.Options{Case: "mixed"})
	if err != nil {
		panic(err)
	}
	c := corpus.New(v, asTheyAre)
	for _, s := range sentences {
		if err := c.Add(strings.Join(s, " ")); err != nil {
			panic(err)
		}
	}
	return c
}

// addCorpus adds the sentences of a corpus for which keep is nil or true.
func addCorpus(x *Index, c *corpus.Corpus, keep func(i int) bool) error {
	if c.Vocab() != x.Vocab() {
		return ErrVocab
	}
	x.Cleaning = c.Pipeline().Options().Clean
	for i := range c.Len() {
		if keep == nil || keep(i) {
			x.Add(c.Sentence(i))
		}
	}
	return nil
}
