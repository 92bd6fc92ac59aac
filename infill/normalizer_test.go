package infill

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"infill/infill/text"
	"infill/internal/ort/orttest"
	"infill/mlm"
	"infill/samplers"
)

// logZ is log Σ exp(U/T) over all fillings of a case, by its combinations of lengths.
func (c *marginalCase) logZ(t *testing.T, e *Engine) []float64 {
	t.Helper()
	_, _, sums := c.weigh(t, e)
	for i, z := range sums {
		sums[i] = math.Log(z)
	}
	return sums
}

// log Z agrees with an enumeration on a real model, with ties, lists, open lengths, temperatures
// and no repeats. Over seeds the mean of Z is Z, and errors are as large as standard errors say.
func TestNormalizerIsThatOfEnumeration(t *testing.T) {
	t.Parallel()
	e := New(openSmall(t))
	const seeds = 20
	cases := marginalCases()
	repeat := marginalCase{"no repeat", "The [MASK|man|dog|king] met the [MASK|man|dog|king] again.",
		Options{Words: WordOptions{NoRepeat: text.RepeatText}},
		[][][]string{{{"man", "dog"}, {"man", "king"}, {"dog", "man"},
			{"dog", "king"}, {"king", "man"}, {"king", "dog"}}}}
	for _, c := range append(cases, repeat) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			want := c.logZ(t, e)
			tm, err := text.Parse(e.Tokenizer(), c.text)
			if err != nil {
				t.Fatal(err)
			}
			steps := 40
			if c.name == "tied" { // both places change at once, and few chains would have all the weight
				steps = 200
			}
			mean, sum, rows := make([]float64, len(want)), 0.0, 0.0
			for seed := range seeds {
				opt := c.opt
				opt.Results.Normalize, opt.Sampling.Steps, opt.Seed, opt.Sampling.Chains = true, steps,
					uint64(seed), 50
				r, err := e.Fill(context.Background(), tm, opt)
				if err != nil {
					t.Fatal(err)
				}
				if len(r.Normalizers) != len(want) || len(r.Warnings) > 0 {
					t.Fatalf("%+v, %v", r.Normalizers, r.Warnings)
				}
				for i, n := range r.Normalizers {
					if n.Chains != 50/len(want) || (len(want) > 1) != (n.Lengths != nil) ||
						n.Lengths != nil && n.Lengths[0] != i+1 {
						t.Fatalf("%+v", n)
					}
					z := (*n.LogZ - want[i]) / *n.Error
					if !(math.Abs(z) < 5) {
						t.Errorf("seed %d: log Z is %.4f ± %.4f, want %.4f", seed, *n.LogZ, *n.Error, want[i])
					}
					sum += z * z / float64(seeds*len(want))
					mean[i] += math.Exp(*n.LogZ-want[i]) / float64(seeds)
					rows += *n.ESS / float64(n.Chains*seeds*len(want))
				}
				for _, f := range r.Fillings {
					i := 0
					if len(want) > 1 {
						i = f.lengths[0] - 1
					}
					if p := f.Score/cmp.Or(opt.Sampling.Temperature, 1) -
						*r.Normalizers[i].LogZ; math.Abs(f.LogProbability-p) > 1e-12 {
						t.Errorf("%q: %v, want %v", f.Text, f.LogProbability, p)
					}
				}
			}
			t.Logf("mean square of z %.2f, mean of Z/Z %.3f, ESS %.2f of the chains", sum, mean, rows)
			if !(sum > .2 && sum < 2.5) {
				t.Errorf("mean square of z: %.2f", sum)
			}
			for _, m := range mean {
				if math.Abs(m-1) > .2 {
					t.Errorf("mean of Z over Z: %.3f", m)
				}
			}
		})
	}
}

// On a shortlist the sum is over its candidates; the memo changes no bit, and
// asking for log Z changes nothing else.
func TestNormalizerOfAShortlist(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	e := New(openSmall(t))
	tm, err := text.Parse(e.Tokenizer(), "The old [MASK] sat down on the [MASK].")
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{Sampling: SamplingOptions{Shortlist: 12, Steps: 60}, Seed: 3,
		Results: ResultOptions{Score: ScorePLL}}
	tgt := targetOf(t, e, tm, opt)
	if err := tgt.restrict(ctx, 12); err != nil {
		t.Fatal(err)
	}
	x, _ := tgt.states()
	u := make([]float64, len(x))
	if err := tgt.energy(ctx, tgt.model, x, u); err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for i := range x {
		sum += math.Exp(u[i])
	}
	plain, err := e.Fill(ctx, tm, opt)
	if err != nil {
		t.Fatal(err)
	}
	opt.Results.Normalize = true
	r, err := e.Fill(ctx, tm, opt)
	if err != nil {
		t.Fatal(err)
	}
	n := r.Normalizers[0]
	if !(math.Abs(*n.LogZ-math.Log(sum)) < 4.5**n.Error) || !(*n.Error < .5) {
		t.Errorf("%+v, want %.4f", n, math.Log(sum))
	}
	other, err := New(openSmall(t)).WithMemo(0).Fill(ctx, tm, opt)
	if err != nil || *other.Normalizers[0].LogZ != *n.LogZ {
		t.Errorf("%+v without a memo, %+v with one, %v", other.Normalizers, n, err)
	}
	for i := range r.Fillings {
		r.Fillings[i].LogProbability = 0
	}
	if fmt.Sprint(r.Fillings) != fmt.Sprint(plain.Fillings) || r.Rows != plain.Rows || plain.Normalizers != nil {
		t.Errorf("%v\n%v", r.Fillings, plain.Fillings)
	}
}

// log Z does not depend on how chains are divided.
func TestNormalizerWhateverTheThreads(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	var want string
	for _, threads := range []int{1, 3} {
		m, err := mlm.OpenDir(t.Context(), tinyFolder, mlm.Options{Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		tm, err := text.Parse(m.Tokenizer(), "the [MASK] saw the [MASK*1-2] big [MASK] .")
		if err != nil {
			t.Fatal(err)
		}
		r, err := New(m).Fill(t.Context(), tm, Options{Seed: 4,
			Sampling: SamplingOptions{Chains: 30, Steps: 12}, Results: ResultOptions{Normalize: true},
			Words: WordOptions{NoRepeat: text.RepeatText}})
		if err != nil {
			t.Fatal(err)
		}
		_ = m.Close()
		list, err := json.Marshal(r.Normalizers)
		if err != nil {
			t.Fatal(err)
		}
		got := string(list)
		if want == "" {
			want = got
		}
		if got != want || len(r.Normalizers) != 2 || r.Normalizers[0].Above == nil {
			t.Errorf("%d threads: %s\none: %s", threads, got, want)
		}
	}
}

// Of one blank log Z is computed: all probabilities sum to one.
func TestNormalizerOfOneBlank(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	for _, temp := range []float64{1, 2} {
		r := exactFill(t, e, "the [MASK] sleeps .",
			Options{Results: ResultOptions{Normalize: true, All: true},
				Sampling: SamplingOptions{Temperature: temp}, Words: WordOptions{Vocab: text.VocabWholeWords}})
		if !r.Exact || len(r.Normalizers) != 1 || *r.Normalizers[0].Error != 0 {
			t.Fatalf("%+v", r.Normalizers)
		}
		sum := 0.0
		for _, f := range r.Fillings {
			sum += math.Exp(f.LogProbability)
			if math.Abs(math.Exp(f.LogProbability)-f.Probability) > 1e-9 {
				t.Errorf("%q: %v and %v", f.Text, f.LogProbability, f.Probability)
			}
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("the probabilities sum to %v", sum)
		}
	}
}

// Few effective chains, and rules that independent draws hardly ever keep, come with a warning.
func TestNormalizerWarns(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	for _, c := range []struct {
		text  string
		opt   Options
		warns string
		is    error
	}{
		{"the [MASK] saw the [MASK] .", Options{Sampling: SamplingOptions{Chains: 3,
			Sampler: &samplers.Gibbs{}}}, "effective chains of 3",
			errUnmixed},
		{"the [MASK] saw the [MASK] .", Options{Sampling: SamplingOptions{Chains: 3, NoSteps: true}},
			"effective chains of 3", errUnmixed},
		// Chains that hardly move end where they began, and that is not where π is.
		{"the [MASK] saw the [MASK] and the [MASK] .",
			Options{Sampling: SamplingOptions{Chains: 4, Temperature: .1, Steps: 3,
				Sampler: randomWalk{}}, Words: WordOptions{Vocab: text.VocabAll}}, "chains from draws say",
			errUnmixed},
		{"the [MASK|dog] saw the [MASK|dog|cat] and the [MASK|cat|dog] and a [MASK|bird|fish] .", Options{}, "", nil},
		// All of a row of blanks must differ.
		{strings.Repeat("the [MASK|dog|cat|bird|fish|horse|cow|fox|bear] ", 8) + ".",
			Options{Words: WordOptions{NoRepeat: text.RepeatText},
				Sampling: SamplingOptions{Steps: 2, Temperature: .2}}, "hardly ever", samplers.ErrRare},
	} {
		tm, err := text.Parse(e.Tokenizer(), c.text)
		if err != nil {
			t.Fatal(err)
		}
		c.opt.Results.Normalize = true
		r, err := e.Fill(context.Background(), tm, c.opt)
		if err != nil {
			t.Fatal(err)
		}
		if c.warns == "" && len(r.Warnings) > 0 || c.warns != "" && (len(r.Warnings) != 1 ||
			!errors.Is(r.Warnings[0], c.is) || !strings.Contains(r.Warnings[0].Error(), c.warns)) {
			t.Errorf("%s: %v, %+v", c.text, r.Warnings, r.Normalizers)
		}
		if p := r.Fillings[0].LogProbability; math.IsNaN(p) != errors.Is(c.is, samplers.ErrRare) {
			t.Errorf("%s: log-probability %v", c.text, p)
		}
	}
}
