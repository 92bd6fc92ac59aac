package protocols

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"infill/metrics/interval"
)

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s: got %v, want %v ± %v", what, got, want, within)
	}
}

// Of a mean the jackknife gives the standard error that everybody knows.
func TestJackknifeOfMean(t *testing.T) {
	v := []float64{1, 2, 4, 8, 3}
	m, sd := spread(v)
	without := make([]float64, len(v))
	for i := range v {
		without[i] = (m*5 - v[i]) / 4
	}
	d := jackknife(m, without)
	near(t, "half", d.half, 2.7764*sd/math.Sqrt(5), 1e-3)
	near(t, "value", d.value, 3.6, 1e-12)
	if d := jackknife(1, []float64{1}); !math.IsNaN(d.half) {
		t.Errorf("one sentence has an interval of %v", d.half)
	}
}

// Forty sentences are left out two at a time. The mean has the interval that the means of the pairs
// give.
func TestBlocks(t *testing.T) {
	c := &cells{samplers: []string{"a"}, seeds: []uint64{1}, runs: map[key]record{}}
	pairs := make([]float64, mostBlocks)
	for i := range 2 * mostBlocks {
		u := math.Sin(float64(7 * i))
		pairs[i%mostBlocks] += u / 2
		id := fmt.Sprint(i)
		c.sentences = append(c.sentences, id)
		c.runs[key{Sampler: "a", Sentence: id, Seed: 1}] = record{Blanks: 1,
			States: []state{{Text: "one two three four five", Score: u, Count: 1}}}
	}
	tb := &tabler{samplers: c.samplers, top: 5}
	used := []column{{title: "best", own: tb.best}}
	whole, without, err := tb.measure(c, used)
	if err != nil {
		t.Fatal(err)
	}
	m, sd := spread(pairs)
	d := jackknife(whole[0][0][0], without[0][0])
	near(t, "value", d.value, m, 1e-12)
	near(t, "half", d.half, interval.Student(0.95, mostBlocks-1)*sd/math.Sqrt(mostBlocks), 1e-9)
}

// runs are the runs of two samplers on four sentences with two seeds. Sampler b is a nat a blank
// better in each and takes twice the time.
func runs() []record {
	var out []record
	for seed := range uint64(2) {
		for i, word := range []string{"alpha", "beta", "gamma", "delta"} {
			for s, name := range []string{"a", "b"} {
				k := key{Model: "m", Protocol: "A", Budget: "steps", Steps: 5, Chains: 3, Sampler: name,
					Sentence: fmt.Sprint(i + 1), Seed: seed + 1}
				u := -8 - 3*float64(i) - float64(seed) + 2*float64(s)
				out = append(out, record{key: k, Blanks: 2, Seconds: float64(i+1) * float64(s+1), Rows: 10,
					States: []state{
						{Text: "the " + word + " of one is here and there", Score: u, Count: 2},
						{Text: "a " + word + " of two was there and here", Score: u - 2, Count: 1},
					}})
			}
		}
	}
	return out
}

func TestTables(t *testing.T) {
	tb := &tabler{top: 5}
	var b strings.Builder
	all := runs()
	// A sentence that one sampler lacks is left out, and a third seed that only one sentence has.
	extra := all[0]
	extra.Sentence = "9"
	third := []record{all[0], all[1]}
	for i := range third {
		third[i].Seed = 3
	}
	if err := tb.write(&b, slices.Concat(all, []record{extra}, third)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"m, protocol A, 3 chains, 5 steps (budget: steps), sentences: 4, seeds: 2.",
		"+1.00 ± 0.00 | +1.00 ± 0.00 | +0.0 ± 0.0 |", // both columns of nats; the same number of texts
		"× 2.00 (2.00–2.00)",
		// By hand: −6.75 and −7.25 of the two seeds.
		"| a | ", "-7.00 (0.35)",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
}

// With repeats the better of the fillings counts twice, as two chains ended there.
func TestRepeats(t *testing.T) {
	rs := runs()[:1]
	near(t, "merged", (&tabler{top: 5}).best(rs), -4.5, 1e-12)
	near(t, "repeated", (&tabler{top: 5, counting: repeated}).best(rs), -(4+4+5)/3., 1e-12)
	near(t, "top 2, repeated", (&tabler{top: 2, counting: repeated}).best(rs), -4, 1e-12)
	near(t, "all chains", allChains(rs), -(4+4+5)/3., 1e-12)
}

// Of every sampler as many fillings count as of that with the fewest, and a sentence in which one
// has a single filling counts for none.
func TestAlike(t *testing.T) {
	c := newCells(runs(), []string{"a", "b"})
	for k, r := range c.runs {
		switch {
		case k.Sentence == "1" && k.Sampler == "b":
			r.States = r.States[:1]
		case k.Sampler == "a":
			r.States = append(slices.Clone(r.States), state{"one more", -99, 1})
		}
		c.runs[k] = r
	}
	tb := &tabler{samplers: c.samplers, top: 5, counting: alike}
	whole, without, err := tb.measure(c, []column{{title: "counted", own: tb.counted},
		{title: "best", own: tb.best}})
	if err != nil {
		t.Fatal(err)
	}
	for s := range c.samplers {
		near(t, "counted", whole[s][0][0], 2, 0)
		// −11, −14 and −17 of a, with 2 less for the second; b is 2 above.
		near(t, "best", whole[s][1][0], -7.5+float64(s), 1e-12)
		// Without the sentence that does not count nothing changes; this is the mean of both seeds.
		near(t, "without the first", without[s][1][0], -7.75+float64(s), 1e-12)
	}
	near(t, "merged", (&tabler{top: 5}).counted(runs()), 2, 0)
	near(t, "repeated", (&tabler{top: 5, counting: repeated}).counted(runs()), 3, 0)
}
