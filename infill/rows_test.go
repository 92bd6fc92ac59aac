package infill

import (
	"context"
	"math"
	"slices"
	"testing"

	"infill/infill/internal/target"
	"infill/infill/text"
	"infill/samplers"
)

// The rows of a state are its masked conditionals, and its energy the one that Energy
// gives: where a coordinate is one token, several, tied, or a list.
func TestEnergyRows(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	e := New(tiny(t))
	for _, line := range []string{
		"the [MASK] sleeps in the [MASK] .",
		"the [MASK*2] saw the [MASK] .",
		"the [MASK:a] and the [MASK:a] saw the [MASK] .",
		"the [MASK|red|green|dogs] sleeps in the [MASK] .",
		"the [MASK|red|big dog|small red fox] sleeps in the [MASK] .",
		"the [MASK:a|red|big dog] [MASK:a] saw the [MASK] .",
	} {
		tm, err := text.Parse(e.model.Tokenizer(), line)
		if err != nil {
			t.Fatal(err)
		}
		for _, temp := range []float64{1, 2.5} {
			tgt := targetOf(t, e, tm, Options{Sampling: SamplingOptions{Temperature: temp}, Seed: 1})
			x, err := started(ctx, tgt, 4, "", 6)
			if err != nil {
				t.Fatal(err)
			}
			want, u := make([]float64, len(x)), make([]float64, len(x))
			n := tgt.Product.RowLen()
			got, more := zeros[float64](len(x), n), zeros[float64](len(x), n+2*len(tgt.Coords))
			for k := range x { // what is left from before is not added to
				for j := range got[k] {
					got[k][j], more[k][j] = 7, 7
				}
			}
			if err := tgt.Energy(ctx, x, want); err != nil {
				t.Fatal(err)
			}
			if err := tgt.EnergyRows(ctx, x, u, got, nil); err != nil {
				t.Fatal(err)
			}
			checkSums(t, tgt, x, u, got, more)
			for k := range x {
				if math.Abs(u[k]-want[k]) > 1e-5 {
					t.Errorf("%q at %v: energy %v, want %v", line, x[k], u[k], want[k])
				}
			}
			at := make([]int, len(x))
			for i := range tgt.Coords {
				cond := zeros[float64](len(x), tgt.Coords[i].K())
				for k := range at {
					at[k] = i
				}
				if err := tgt.Conditional(ctx, x, at, cond); err != nil {
					t.Fatal(err)
				}
				for k := range x {
					row := got[k][tgt.Product.RowOffset(i):][:len(cond[k])]
					for v, l := range cond[k] {
						if !math.IsInf(l, -1) && math.Abs(row[v]-l) > 1e-5 {
							t.Fatalf("%q, T = %v, coordinate %d: f(%d) is %v, want %v", line, temp, i, v, row[v], l)
						}
					}
				}
			}
		}
	}
}

// checkSums compares the rows and energies that EnergyRows gave with those that it gives with sums,
// before and after the memo has the sums.
func checkSums(t *testing.T, tgt *target.Target, x [][]int32, u []float64, want, got [][]float64) {
	t.Helper()
	v := make([]float64, len(x))
	for range 2 {
		rows, sums := make([][]float64, len(x)), make([][]float64, len(x))
		for k := range x {
			rows[k], sums[k] = got[k][:len(want[k])], got[k][len(want[k]):]
		}
		if err := tgt.EnergyRows(context.Background(), x, v, rows, sums); err != nil {
			t.Fatal(err)
		}
		for k := range x {
			if !slices.Equal(rows[k], want[k]) || v[k] != u[k] {
				t.Fatalf("%v: rows or energy differ where sums are asked for: %v, %v", x[k], v[k], u[k])
			}
			for i := range tgt.Coords {
				most, sum := samplers.SumRow(want[k][tgt.Product.RowOffset(i):][:tgt.Coords[i].K()])
				if s := sums[k][2*i:]; s[0] != most || s[1] != sum {
					t.Fatalf("%v: sums %v of coordinate %d, want %v and %v", x[k], s[:2], i, most, sum)
				}
			}
		}
	}
}

// The sums of a row are remembered for the tokens and the temperature that they are of.
func TestRowSumsAreOfTheirTokens(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	e := New(tiny(t)) // one memo
	for _, opt := range []Options{{}, {Sampling: SamplingOptions{Temperature: 2}},
		{Words: WordOptions{Vocab: text.VocabAll}}, {Sampling: SamplingOptions{Shortlist: 5}}, {}} {
		tm, err := text.Parse(e.model.Tokenizer(), "the [MASK] sleeps in the [MASK] .")
		if err != nil {
			t.Fatal(err)
		}
		tgt := targetOf(t, e, tm, opt)
		if opt.Sampling.Shortlist > 0 {
			if err := tgt.Restrict(ctx, opt.Sampling.Shortlist); err != nil {
				t.Fatal(err)
			}
		}
		x := [][]int32{{0, 0}, {0, 1}, {1, 0}, {2, 2}}
		n := tgt.Product.RowLen()
		want, got := zeros[float64](len(x), n), zeros[float64](len(x), n+2*len(tgt.Coords))
		u := make([]float64, len(x))
		if err := tgt.EnergyRows(ctx, x, u, want, nil); err != nil {
			t.Fatal(err)
		}
		checkSums(t, tgt, x, u, want, got)
	}
}

// So it is where another blank may take the tokens, so that the same of the rows is kept.
func TestRowSumsOfAnotherBlank(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	for _, line := range []string{"the [MASK] sees [MASK/^b/] .", "the [MASK/^b/] sees [MASK] ."} {
		tm, err := text.Parse(e.model.Tokenizer(), line)
		if err != nil {
			t.Fatal(err)
		}
		tgt := targetOf(t, e, tm, Options{Words: WordOptions{Vocab: text.VocabWholeWords}})
		x, _ := allStates(tgt)
		n := tgt.Product.RowLen()
		want, got := zeros[float64](len(x), n), zeros[float64](len(x), n+2*len(tgt.Coords))
		u := make([]float64, len(x))
		if err := tgt.EnergyRows(context.Background(), x, u, want, nil); err != nil {
			t.Fatal(err)
		}
		checkSums(t, tgt, x, u, want, got)
	}
}

// Rows that were asked for are counted: one for each token of a state and, where a
// coordinate decides several, those of its conditional.
func TestEnergyRowsAreCounted(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	e := New(tiny(t))
	for line, want := range map[string]int{
		"the [MASK] sleeps in the [MASK] .":              2,
		"the [MASK:a] and the [MASK:a] saw the [MASK] .": 3 + 2,
	} {
		tm, err := text.Parse(e.model.Tokenizer(), line)
		if err != nil {
			t.Fatal(err)
		}
		tgt := targetOf(t, e, tm, Options{})
		x, err := started(ctx, tgt, 4, "", 3)
		if err != nil {
			t.Fatal(err)
		}
		before := tgt.Asked
		out := zeros[float64](len(x), tgt.Product.RowLen())
		if err := tgt.EnergyRows(ctx, x, make([]float64, len(x)), out, nil); err != nil {
			t.Fatal(err)
		}
		if got := tgt.Asked - before; got != 3*want {
			t.Errorf("%q: %d rows of three states, want %d", line, got, 3*want)
		}
	}
}

// What was tuned is a mean over chains: of equal values it is the value itself, so that
// a rate is one that can be set.
func TestTunedMean(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	tm, err := text.Parse(e.model.Tokenizer(), "the [MASK] sleeps in the [MASK] .")
	if err != nil {
		t.Fatal(err)
	}
	res, err := e.Fill(context.Background(), tm,
		Options{Sampling: SamplingOptions{Sampler: &samplers.Rows{Rate: 1}, Chains: 20, Steps: 2},
			Results: ResultOptions{Score: ScorePLL}})
	if err != nil || res.Tuned["rate"] != 1 {
		t.Errorf("%v, %v", res, err)
	}
}
