package infill

import (
	"context"
	"math"
	"slices"
	"sort"
	"testing"

	"infill/infill/text"
	"infill/internal/testmode"
	"infill/mlm"
	"infill/samplers"
)

// likeliest are the n words that the model finds likeliest for a blank with all
// blanks masked, of those that may fill it: a shortlist by other code.
func likeliest(
	t *testing.T, m *mlm.Model, tm *text.Template, blank, n int, may func(string) bool,
) []string {
	t.Helper()
	all := zeros[float32](len(tm.Blanks), m.VocabSize())
	if err := m.Independent(context.Background(), &mlm.Sentence{IDs: tm.IDs, Blanks: tm.Positions()}, all); err != nil {
		t.Fatal(err)
	}
	ids := m.Tokenizer().WholeWords()
	ids = slices.DeleteFunc(
		slices.Clone(ids), func(id int32) bool { return may != nil && !may(m.Tokenizer().Token(id)) },
	)
	sort.SliceStable(ids, func(a, b int) bool { return all[blank][ids[a]] > all[blank][ids[b]] })
	var out []string
	for _, id := range ids[:n] {
		out = append(out, m.Tokenizer().Token(id))
	}
	return out
}

// On a shortlist, every exact sampler leaves invariant what the documents say:
// π on the fillings made of the shortlist, enumerated by other code, through the
// real target and model. A chain that starts from it is distributed by it after
// the steps; from another distribution, π to the power of 0.5, it is not. A score
// passes the threshold by chance less than once in a million tests, one of these
// 39 less than once in 25 000 seeds; the seed is fixed.
func TestExactOnShortlist(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	m := tiny(t)
	e := New(m)
	const size = 6
	for _, c := range []struct {
		name, text string
		opt        Options
		keep       func(words []string) bool
		long       bool
	}{
		{"two blanks", "the [MASK] sleeps in the [MASK] .", Options{}, nil, false},
		{"no repeat",
			"the [MASK/^(dog|cat|bird|fish|horse|cow|fox|bear)$/] saw the [MASK/^(dog|cat|bird|fish|horse|cow|fox|bear)$/] .", Options{Words: WordOptions{NoRepeat: text.RepeatText}},
			func(w []string) bool { return w[0] != w[1] }, false},
		{"three blanks, tempered", "the [MASK] [MASK] in the [MASK] .",
			Options{Sampling: SamplingOptions{Temperature: 2}}, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.long {
				testmode.Long(t)
			}
			t.Parallel()
			tm, err := text.Parse(m.Tokenizer(), c.text)
			if err != nil {
				t.Fatal(err)
			}
			c.opt.Words.Vocab = text.VocabWholeWords
			tgt := targetOf(t, e, tm, c.opt)
			if err := tgt.Restrict(ctx, size); err != nil {
				t.Fatal(err)
			}
			// All fillings made of the shortlists, and their energies.
			states := [][]string{nil}
			for b := range tm.Blanks {
				var may func(string) bool
				if p := tm.Groups[b].Pattern; p != nil {
					may = p.MatchString
				}
				var next [][]string
				for _, s := range states {
					for _, w := range likeliest(t, m, tm, b, size, may) {
						next = append(next, append(slices.Clone(s), w))
					}
				}
				states = next
			}
			u := map[string]float64{}
			for _, s := range states {
				if c.keep == nil || c.keep(s) {
					text, spans := tm.Splice(s)
					u[text], _ = oracle(t, e, text, spans)
				}
			}
			x, texts := allStates(tgt)
			if len(x) != len(u) {
				t.Fatalf("%d states, want %d", len(x), len(u))
			}
			p := make([]float64, len(x))
			for i, text := range texts {
				v, ok := u[text]
				if !ok {
					t.Fatalf("%q is a state, and should not be", text)
				}
				p[i] = math.Exp(v / tgt.Temp)
			}
			p = tempered(p, 1)
			table := newTabled(tgt)
			for _, info := range samplers.List() {
				if !info.Exact {
					continue
				}
				steps := 12
				z, moved := leave(t, ctx, fixed(t, info), table, x, p, steps)
				wrong, _ := leave(t, ctx, fixed(t, info), table, x, tempered(p, 0.5), steps)
				t.Logf(
					"%s: %d states, score %.2f, of another distribution %.1f; %d of %d chains elsewhere",
					info.Name, len(p), z, wrong, moved, leaving,
				)
				if !(math.Abs(z) < threshold) {
					t.Errorf("%s: leaves π restricted to the shortlist: score %.1f", info.Name, z)
				}
				if wrong < 2*threshold {
					t.Errorf(
						"%s: a distribution that is not its own passes with a score of %.1f", info.Name, wrong,
					)
				}
			}
			if z, _ := leave(t, ctx, &samplers.DULA{StepSize: 0.5}, table, x, p, 12); z < threshold {
				t.Errorf("dula, which is biased, passes with a score of %.1f", z)
			}
		})
	}
}
