package infill

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                    nil,
		" -- ... ":                            nil,
		"She said, \"don't!\" (twice).":       {"She", "said", "don't", "twice"},
		"a\tb\u00a0c\r\nd":                    {"a", "b", "c", "d"},
		"state-of-the-art 3.5%":               {"state-of-the-art", "3.5"},
		"\U0001F600 cafe\u0301 \u732b \u05d0": {"cafe\u0301", "\u732b", "\u05d0"},
	} {
		var got []string
		for _, w := range Words(text) {
			got = append(got, text[w[0]:w[1]])
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestMaskWords(t *testing.T) {
	const text = "One two,\tthree four \u2013 five six seven eight."
	for rate, n := range map[float64]int{0.01: 1, 0.25: 2, 0.5: 4, 1: 8} {
		masked, words, err := MaskWords(text, rate, 1, "7")
		if err != nil || len(words) != n || strings.Count(masked, "[MASK]") != n {
			t.Fatalf("rate %v: %q, %q, %v", rate, masked, words, err)
		}
		// The words put back give the text back.
		for _, w := range words {
			masked = strings.Replace(masked, "[MASK]", w, 1)
		}
		if masked != text {
			t.Errorf("rate %v: %q", rate, masked)
		}
	}
	// Every word is taken about equally often.
	count := map[string]int{}
	const runs = 4000
	for s := range uint64(runs) {
		_, words, err := MaskWords(text, 0.25, s, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range words {
			count[w]++
		}
	}
	for w, n := range count {
		// Five standard deviations of a binomial with p = 1/4.
		if math.Abs(float64(n)-runs/4) > 5*math.Sqrt(runs*3/16.0) {
			t.Errorf("%q taken %d times of %d", w, n, runs)
		}
	}
	for _, bad := range []struct {
		text string
		rate float64
		is   error
	}{{text, 0, ErrOption}, {text, 1.1, ErrOption}, {text, math.NaN(), ErrOption}, {"a ___", 0.5, ErrBlank}, {" . ", 0.5, ErrEmpty}} {
		if _, _, err := MaskWords(bad.text, bad.rate, 1, ""); !errors.Is(err, bad.is) {
			t.Errorf("%q at %v: %v, want %v", bad.text, bad.rate, err, bad.is)
		}
	}
}
