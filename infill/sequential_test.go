package infill

import (
	"infill/infill/text"

	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// Chains of StartSequential are draws of the product of what the model says of each blank, where
// those to its left are words of the text and those to its right are masked. Each factor here comes
// from the first blank of a text in which the words before are written out.
func TestStartSequential(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	words := []string{"dog", "cat", "fox"}
	const blank = "[MASK|dog|cat|fox]"
	parts := []string{"the ", " saw the ", " and the ", " ."}
	line := func(filled ...string) string {
		s := parts[0]
		for i, p := range parts[1:] {
			if i < len(filled) {
				s += filled[i] + p
			} else {
				s += blank + p
			}
		}
		return s
	}
	for _, rule := range []bool{false, true} {
		var index []string
		var p []float64
		var walk func(filled []string, q float64)
		walk = func(filled []string, q float64) {
			if len(filled) == 3 {
				index, p = append(index, strings.Join(filled, " ")), append(p, q)
				return
			}
			tm, err := text.Parse(e.Tokenizer(), line(filled...))
			if err != nil {
				t.Fatal(err)
			}
			tgt := targetOf(t, e, tm, Options{})
			logp, err := tgt.allMasked(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			free := func(v int) bool { return !rule || !slices.Contains(filled, words[v]) }
			sum := 0.0
			for v, l := range logp[0] {
				if free(v) {
					sum += math.Exp(l)
				}
			}
			for v, l := range logp[0] {
				if free(v) {
					walk(append(slices.Clone(filled), words[v]), q*math.Exp(l)/sum)
				}
			}
		}
		walk(nil, 1)
		got, err := startsOf(t, e, line(), Options{Sampling: SamplingOptions{Start: StartSequential,
			Chains: 5000}, Words: WordOptions{NoRepeat: repeatsIf[rule]},
			Seed: 5})
		if err != nil {
			t.Fatal(err)
		}
		counts := make([]int, len(index))
		for _, s := range got {
			i := slices.Index(index, s)
			if i < 0 {
				t.Fatalf("%q is not among %v", s, index)
			}
			counts[i]++
		}
		if z := chiSquare(counts, p); !(math.Abs(z) < 4.8) {
			t.Errorf("rule %v: %v, want shares %.3f: score %.1f", rule, counts, p, z)
		}
	}
}

// A chain that has no way on from what it drew begins elsewhere, and phrases of several lengths,
// ties and several tokens in a blank are drawn as everything else.
func TestStartSequentialRules(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	got, err := startsOf(t, e, "the [MASK|dog|cat] saw the [MASK|dog] .",
		Options{Sampling: SamplingOptions{Start: StartSequential, Chains: 20},
			Words: WordOptions{NoRepeat: text.RepeatText}})
	if err != nil || len(slices.Compact(got)) != 1 || got[0] != "cat dog" {
		t.Errorf("%q, %v", got, err)
	}
	got, err = startsOf(t, e, "the [MASK:a] saw the [MASK*2] and the [MASK:a] [MASK|big dog|fox] .",
		Options{Sampling: SamplingOptions{Start: StartSequential, Chains: 40}, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	different := map[string]bool{}
	for _, s := range got {
		w := strings.Fields(s)
		if w[0] != w[3] || !strings.HasSuffix(s, " fox") && !strings.HasSuffix(s, " big dog") {
			t.Errorf("%q", s)
		}
		different[s] = true
	}
	if len(different) < 4 {
		t.Errorf("%d different of 40: %q", len(different), got)
	}
	// It does not depend on how many chains there are, or on what is remembered.
	few, err := startsOf(t, NewWithMemo(e.model, 0),
		"the [MASK:a] saw the [MASK*2] and the [MASK:a] [MASK|big dog|fox] .",
		Options{Sampling: SamplingOptions{Start: StartSequential, Chains: 7}, Seed: 1})
	if err != nil || !slices.Equal(few, got[:7]) {
		t.Errorf("%q, %v, want %q", few, err, fmt.Sprint(got[:7]))
	}
}
