package ngram

import (
	"errors"
	"math"
	"strings"
	"testing"

	"infill/metrics/corpus"
)

// An order without a bound took memory for every order below it, until the process was killed.
// Errors had no value to compare with, and what was nil panicked.
func TestArgumentsOutOfRange(t *testing.T) {
	c := corpus.New(nil, nil)
	for range 2 {
		if err := c.Add("a b c"); err != nil {
			t.Fatal(err)
		}
	}
	low, err := NewIndex(1, c.Vocab())
	if err != nil {
		t.Fatal(err)
	}
	alien, err := NewIndex(2, nil)
	if err != nil || alien.Vocab() == nil {
		t.Fatalf("an index without a vocabulary: %v", err)
	}
	for _, order := range []int{math.MinInt, -1, 0, MaxOrder + 1, math.MaxInt} {
		_, count := Count(c, order)
		_, repetition := SelfRepetition(c, order)
		_, index := NewIndex(order, c.Vocab())
		for name, err := range map[string]error{"Count": count, "SelfRepetition": repetition,
			"NewIndex": index} {
			if !errors.Is(err, errOption) || !strings.Contains(err.Error(), "want 1 to 64") {
				t.Errorf("%s of order %d: %v", name, order, err)
			}
		}
	}
	for name, refs := range map[string][]*Index{"nil": {nil}, "of a lower order": {low}} {
		if _, err := Count(c, 2, refs...); !errors.Is(err, errOption) {
			t.Errorf("a reference that is %s: %v", name, err)
		}
	}
	if _, err := Count(c, 2, alien); !errors.Is(err, ErrVocab) {
		t.Errorf("a reference of another vocabulary: %v", err)
	}
	if _, err := (Counts{Total: 1}).UniqueReference(0); !errors.Is(err, errOption) {
		t.Errorf("the share of no reference: %v", err)
	}
	if n, err := Count(nil, 2); err != nil || len(n) != 2 || n[0].Total != 0 {
		t.Errorf("no corpus: %v, %v", n, err)
	}
	if _, err := SelfRepetition(nil, 2); !errors.Is(err, errFewSentences) {
		t.Errorf("self-repetition of no corpus: %v", err)
	}
}
