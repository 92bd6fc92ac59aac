package infill

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// Chains of StartConfident have the law of their definition, enumerated: every open blank gets a
// draw, and the likeliest draw is kept.
func TestStartConfident(t *testing.T) {
	t.Parallel()
	m := tiny(t)
	e := New(m)
	words := []string{"dog", "cat", "fox"}
	const blank = "[MASK|dog|cat|fox]"
	text := "the " + blank + " saw the " + blank + " and the " + blank + " ."
	var states [][]string
	for _, a := range words {
		for _, b := range words {
			for _, c := range words {
				states = append(states, []string{a, b, c})
			}
		}
	}
	for _, temperature := range []float64{1, 4} {
		o := newPlainOracle(t, m, parsed(t, e, text), states)
		law := map[string]float64{}
		confidentLaw(o, words, temperature, []string{"", "", ""}, 1, law)
		var p []float64
		for _, s := range states {
			p = append(p, law[strings.Join(s, " ")])
		}
		counts := make([]int, len(p))
		got, err := startsOf(t, e, text, Options{Sampling: SamplingOptions{Start: StartConfident,
			Chains: 8000, Temperature: temperature}, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range got {
			counts[slices.IndexFunc(states, func(x []string) bool { return strings.Join(x, " ") == s })]++
		}
		if z := chiSquare(counts, p); !(math.Abs(z) < 4.8) {
			t.Errorf("T = %v: %v, want shares %.3f: score %.1f", temperature, counts, p, z)
		}
	}
}

// confidentLaw adds, to law, q times the probabilities of what becomes of partly filled words.
func confidentLaw(o *plainOracle, words []string, temperature float64, filled []string, q float64,
	law map[string]float64) {
	var open []int
	var rows [][]float64
	for i, w := range filled {
		if w != "" {
			continue
		}
		row, sum := make([]float64, len(words)), 0.0
		for v, w := range words {
			row[v] = math.Exp(o.given(filled, i, w) / temperature)
			sum += row[v]
		}
		for v := range row {
			row[v] /= sum
		}
		open, rows = append(open, i), append(rows, row)
	}
	if len(open) == 0 {
		law[strings.Join(filled, " ")] += q
		return
	}
	drawn := make([]int, len(open))
	for {
		p, best := q, 0
		for j, v := range drawn {
			if p *= rows[j][v]; rows[j][v] > rows[best][drawn[best]] {
				best = j
			}
		}
		next := slices.Clone(filled)
		next[open[best]] = words[drawn[best]]
		confidentLaw(o, words, temperature, next, p, law)
		j := 0
		for ; j < len(drawn); j++ {
			if drawn[j]++; drawn[j] < len(words) {
				break
			}
			drawn[j] = 0
		}
		if j == len(drawn) {
			return
		}
	}
}

// Rules about several blanks hold: the last blank takes what the others leave, and where they leave
// nothing a start is looked for.
func TestStartConfidentKeepsRules(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	got, err := startsOf(t, e, "the [MASK|dog|cat] saw the [MASK|dog] and the [MASK|cat|fox] .",
		Options{Sampling: SamplingOptions{Start: StartConfident, Chains: 50},
			Words: WordOptions{NoRepeat: true}, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range got {
		if s != "cat dog fox" {
			t.Errorf("%q, want \"cat dog fox\"", s)
		}
	}
}

// A wide beam is quick, and ends when it is told to.
func TestConfidentWide(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	tm := parsed(t, e, "the [MASK] and the [MASK] saw the [MASK] .")
	r, err := e.Confident(t.Context(), tm, Options{Results: ResultOptions{Top: 2000}})
	if err != nil || len(r.Fillings) != 2000 {
		t.Fatal(len(r.Fillings), err)
	}
	sorted := slices.IsSortedFunc(r.Fillings[1:], func(a, b Filling) int {
		return cmp.Compare(b.Score, a.Score)
	})
	if !sorted {
		t.Error("the beam is not in order")
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := e.Confident(ctx, tm, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
}
