package infill

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"infill/infill/text"
	"infill/internal/testmode"
	"infill/mlm"
	"infill/mlm/device/devicetest"
	"infill/models"
	"infill/samplers"
)

// openAs opens a model in a precision, in half precision on a device that emulates a card.
func openAs(t *testing.T, fsys fs.FS, p mlm.Precision) *mlm.Model {
	t.Helper()
	o := mlm.Options{Threads: 2, Precision: p}
	if p == mlm.Float16 {
		o.Devices, o.Device = devicetest.Devices(), devicetest.Card
		o.Precision, o.Forward = mlm.Auto, true // which leaves gradients to another model
	}
	m, err := mlm.Open(t.Context(), fsys, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// Chains on rounded energies are exact for the rounded model: those that start from its enumerated
// distribution stay there.
func TestRoundedStaysExact(t *testing.T) {
	t.Parallel()
	const text = "the [MASK] sleeps in the [MASK] ."
	tiny := os.DirFS(tinyFolder)
	plain, _, _ := enumerateWith(t, openAs(t, tiny, mlm.Float32), text)
	en, _, _ := enumerateWith(t, openAs(t, tiny, mlm.Float16), text)
	if slices.Equal(en.u, plain.u) {
		t.Fatal("nothing was rounded")
	}
	const chains, steps = 4000, 10
	p := en.probabilities()
	for _, s := range []samplers.Sampler{&samplers.GibbsMH{}, &samplers.Rows{Rate: 0.5}} {
		x0 := en.draw(p, chains, samplers.NewStream(3, s.Info().Name, 0))
		run, err := samplers.Start(t.Context(), s, en, x0, samplers.Options{Seed: 2, ID: s.Info().Name})
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Steps(t.Context(), steps, nil); err != nil {
			t.Fatal(err)
		}
		if z := chiSquare(en.count(run.X), p); !(math.Abs(z) < threshold) ||
			hamming(run.Stats) == 0 {
			t.Errorf("%s: score %.1f, %d coordinates changed", s.Info().Name, z, hamming(run.Stats))
		}
	}
}

// The fillings of a rounded model have the scores of float32, and their order.
func TestRoundedScores(t *testing.T) {
	t.Parallel()
	tiny := os.DirFS(tinyFolder)
	truth := New(openAs(t, tiny, mlm.Float32))
	e := New(openAs(t, tiny, mlm.Float16))
	for _, line := range []string{"the [MASK] sleeps in the [MASK] .", "the [MASK] sleeps .",
		"the [MASK*1-2] sees a [MASK] ."} {
		tm, err := text.Parse(e.Tokenizer(), line)
		if err != nil {
			t.Fatal(err)
		}
		for _, opt := range []Options{{Seed: 1, Results: ResultOptions{Top: 3}},
			{Seed: 1, Results: ResultOptions{Diverse: true}},
			{Seed: 1, Results: ResultOptions{Collect: CollectLast},
				Sampling: SamplingOptions{Steps: 10, Chains: 8}}} {
			if opt.Results.Score = ScorePLL; strings.Count(line, "[MASK") > 1 {
				opt.Method = MethodSample
			}
			res, err := e.Fill(t.Context(), tm, opt)
			if err != nil {
				t.Fatal(err)
			}
			last := math.Inf(1)
			for _, f := range res.Fillings {
				s, err := truth.ScoreSpans(t.Context(), f.Text, f.Spans, ScorePLL)
				if err != nil {
					t.Fatal(err)
				}
				if !f.Recut && math.Abs(s.Score-f.Score) > 1e-6 {
					t.Errorf("%q has %v, float32 %v", f.Text, f.Score, s.Score)
				}
				by := f.Score
				if line[4:9] == "[MASK" && line[9] == '*' {
					by = f.ScorePerToken
				}
				if by > last {
					t.Errorf("%q is out of order", f.Text)
				}
				last = by
			}
		}
	}
	a, err := e.Score(t.Context(), "the dog sleeps .", ScoreOptions{By: ScorePLL})
	b, berr := truth.Score(t.Context(), "the dog sleeps .", ScoreOptions{By: ScorePLL})
	if err != nil || berr != nil || a.Score != b.Score {
		t.Errorf("a score: %v, %v, want %v, %v", a, err, b, berr)
	}
	blank, err := text.Parse(e.Tokenizer(), "the [MASK|dog|cat|bird] sleeps .")
	if err != nil {
		t.Fatal(err)
	}
	c, err := e.Candidates(t.Context(), blank, nil, CandidateOptions{})
	d, derr := truth.Candidates(t.Context(), blank, nil, CandidateOptions{})
	if err != nil || derr != nil || len(c) != 3 || !reflect.DeepEqual(c, d) {
		t.Errorf("candidates: %+v, %v, want %+v, %v", c, err, d, derr)
	}
}

// What is scored in float32 is remembered too, apart from what the rounded model says. Results do
// not depend on it.
func TestRoundedNothingTwice(t *testing.T) {
	t.Parallel()
	m := openAs(t, os.DirFS(tinyFolder), mlm.Float16)
	without, e := New(m).WithMemo(0), New(m)
	for i, line := range []string{"the [MASK] sleeps in the [MASK] .", "the [MASK] sleeps .",
		"the [MASK] sees a [MASK|red|old dog|cat] ."} {
		tm, err := text.Parse(m.Tokenizer(), line)
		if err != nil {
			t.Fatal(err)
		}
		for _, opt := range []Options{{}, {Sampling: SamplingOptions{Sampler: &samplers.DMALA{}}},
			{Results: ResultOptions{Diverse: true}}} {
			opt.Seed, opt.Sampling.Chains, opt.Sampling.Steps, opt.Results.Score = uint64(i), 4, 6, ScorePLL
			var all [3]*Result
			var evaluated [3]int
			for j, by := range []*Engine{without, e, e} {
				if all[j], err = by.Fill(t.Context(), tm, opt); err != nil {
					t.Fatal(err)
				}
				evaluated[j] = all[j].Evaluated
				all[j].Fresh, all[j].Evaluated = 0, 0
			}
			if evaluated[0] == 0 || evaluated[2] != 0 {
				t.Errorf("%q: %v rows evaluated: without a memo, with it, again", line, evaluated)
			}
			if want := fmt.Sprintf("%+v", all[0]); fmt.Sprintf("%+v", all[1]) != want ||
				fmt.Sprintf("%+v", all[2]) != want {
				t.Errorf("%q: %+v, %+v, want %s", line, all[1], all[2], want)
			}
		}
	}
}

// What half precision costs: the distance between the posteriors of the model and of the rounded one, over
// all fillings of two lists, and the largest difference of log f.
func TestRoundedBias(t *testing.T) {
	t.Parallel()
	texts := []string{
		"She drank a cup of [MASK|tea|coffee|water|wine|milk] in the [MASK|kitchen|garden|morning|evening].",
		"The [MASK|doctor|teacher|king|boy|farmer] was very [MASK|tired|angry|happy|old|kind].",
	}
	bias := func(t *testing.T, fsys fs.FS, most float64) {
		t.Helper()
		models := [2]*mlm.Model{openAs(t, fsys, mlm.Float32), openAs(t, fsys, mlm.Float16)}
		for _, line := range texts {
			var u [2][]float64
			var logf [2][][]float32
			for k, m := range models {
				e := New(m)
				tm, err := text.Parse(m.Tokenizer(), line)
				if err != nil {
					t.Fatal(err)
				}
				tgt := targetOf(t, e, tm, Options{})
				var x [][]int32
				for a := range tgt.Product.K(0) {
					for b := range tgt.Product.K(1) {
						x = append(x, []int32{int32(a), int32(b)})
					}
				}
				u[k] = make([]float64, len(x))
				if err := tgt.Evaluate(t.Context(), x, u[k]); err != nil {
					t.Fatal(err)
				}
				for _, state := range x {
					l := tgt.LayoutOf(state, nil)
					ids := tgt.Tokens(nil, l, state, -1, -1)
					lp := [][]float32{make([]float32, len(ids))}
					if err := m.LogProb(t.Context(), l.Sentence, [][]int32{ids}, lp); err != nil {
						t.Fatal(err)
					}
					logf[k] = append(logf[k], lp[0])
				}
			}
			off := 0.0
			for i := range logf[0] {
				for j := range logf[0][i] {
					off = max(off, math.Abs(float64(logf[0][i][j]-logf[1][i][j])))
				}
			}
			tv := variation(u[0], u[1])
			t.Logf("%q: %d fillings, total variation %.4f, log f within %.4f nats", line, len(u[0]), tv,
				off)
			if !(tv > 0) || tv > most {
				t.Errorf("total variation %g, want at most %g", tv, most)
			}
		}
	}
	t.Run("small", func(t *testing.T) { bias(t, models.Small(), 0.02) })
	t.Run("BERT-base", func(t *testing.T) { bias(t, os.DirFS(testmode.BERTBase(t)), 0.02) })
}

// variation is the total variation between exp(u) and exp(v), both normalised.
func variation(u, v []float64) float64 {
	weights := func(u []float64) []float64 {
		out, sum, top := make([]float64, len(u)), 0.0, slices.Max(u)
		for i := range u {
			out[i] = math.Exp(u[i] - top)
			sum += out[i]
		}
		for i := range out {
			out[i] /= sum
		}
		return out
	}
	p, q, d := weights(u), weights(v), 0.0
	for i := range p {
		d += math.Abs(p[i]-q[i]) / 2
	}
	return d
}
