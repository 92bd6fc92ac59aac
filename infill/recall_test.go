package infill

import (
	"context"
	"fmt"
	"testing"

	"infill/infill/text"
	"infill/mlm"
	"infill/samplers"
)

// remembered are the memos of the tests: none, one of all there is, and one that forgets most of
// it and has no room for a gradient.
func remembered(m *mlm.Model) []int64 {
	return []int64{0, DefaultMemo, int64(40 * m.VocabSize())}
}

// Results are the same bits whatever is remembered, for every sampler, kind of blank and gradient.
func TestMemoChangesNothing(t *testing.T) {
	t.Parallel()
	m := tiny(t)
	texts := []string{
		"the [MASK] dog and the [MASK] .", "a [MASK] .", "the [MASK:a] and the [MASK:a] saw [MASK] .",
		"the [MASK*1-2] dog and [MASK|red|old dog|cat] .",
	}
	type job struct {
		text string
		opt  Options
	}
	var jobs []job
	for _, info := range samplers.List() {
		s, err := samplers.New(info.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range texts {
			if info.Name == "sgdld" && i > 1 {
				continue // constraints between blanks
			}
			jobs = append(jobs,
				job{text, Options{Sampling: SamplingOptions{Sampler: s, Temperature: 1 + float64(i%2)}}})
		}
	}
	for _, s := range texts {
		jobs = append(jobs,
			job{s, Options{Sampling: SamplingOptions{Shortlist: 3, Budget: BudgetRows}}},
			job{s, Options{Sampling: SamplingOptions{Sampler: &samplers.DMALA{}, Gradient: mlm.Forward},
				Words: WordOptions{NoRepeat: text.RepeatText}}})
	}
	ctx := context.Background()
	engines := map[int64]*Engine{}
	for _, bytes := range remembered(m) {
		engines[bytes] = New(m).WithMemo(bytes)
	}
	saved := 0
	for i, j := range jobs {
		j.opt.Sampling.Steps, j.opt.Sampling.Chains, j.opt.Seed, j.opt.Results.Score = 6, 5, uint64(i),
			ScorePLL
		tm, err := text.Parse(m.Tokenizer(), j.text)
		if err != nil {
			t.Fatal(err)
		}
		var want *Result
		for _, bytes := range remembered(m) {
			r, err := engines[bytes].Fill(ctx, tm, j.opt)
			if err != nil {
				t.Fatalf("%q: %v", j.text, err)
			}
			if r.Fresh > r.Rows || r.Fresh > r.Evaluated {
				t.Errorf("%d: %q: %d of %d rows evaluated, %d of all", i, j.text, r.Fresh, r.Rows,
					r.Evaluated)
			}
			if want == nil {
				want = r
				if r.Rows > 0 && r.Fresh == 0 {
					t.Errorf("%d: %q: none of %d rows evaluated", i, j.text, r.Rows)
				}
				continue
			}
			saved += want.Evaluated - r.Evaluated
			r.Evaluated, r.Fresh = want.Evaluated, want.Fresh
			if fmt.Sprintf("%+v", r) != fmt.Sprintf("%+v", want) { // where NaN is equal to NaN
				t.Errorf("%d: %q with a memo of %d bytes: %+v, without %+v", i, j.text, bytes, r, want)
			}
		}
		if want.Repeated < 0 || want.Repeated > want.Rows {
			t.Errorf("%q: %d of %d rows repeated", j.text, want.Repeated, want.Rows)
		}
	}
	if saved <= 0 {
		t.Error("nothing was remembered")
	}
}

// A model is asked nothing twice: all rows that a sampler repeats come from the memo.
func TestNothingTwice(t *testing.T) {
	t.Parallel()
	m := tiny(t)
	ctx := context.Background()
	full, forward := Options{Sampling: SamplingOptions{Sampler: &samplers.DMALA{}}},
		Options{Sampling: SamplingOptions{Sampler: &samplers.DMALA{}}}
	forward.Sampling.Gradient = mlm.Forward
	for _, c := range []struct {
		name, text string
		opt        Options
		start      int // rows of the start, every blank masked, that no sampler asks about
	}{
		{"rows", "the [MASK] dog and the [MASK] .", Options{}, 2},
		{"gradient", "the [MASK] dog and the [MASK] .", full, 2},
		{"forward", "the [MASK] dog and the [MASK] .", forward, 2},
		{"gibbs-mh", "the [MASK] dog and the [MASK] .",
			Options{Sampling: SamplingOptions{Sampler: &samplers.GibbsMH{}}}, 2},
		{"one blank", "the [MASK] dog .", Options{}, 0},
		{"one blank, gibbs-mh", "the [MASK] dog .",
			Options{Sampling: SamplingOptions{Sampler: &samplers.GibbsMH{}}}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.opt.Sampling.Steps, c.opt.Sampling.Chains, c.opt.Words.Vocab, c.opt.Results.Score = 40, 4,
				text.VocabWholeWords, ScorePLL
			e := New(m)
			tm, err := text.Parse(m.Tokenizer(), c.text)
			if err != nil {
				t.Fatal(err)
			}
			r, err := e.Fill(ctx, tm, c.opt)
			if err != nil {
				t.Fatal(err)
			}
			beside := r.Evaluated - r.Fresh
			if c.start == 0 { // one row, which the start asked about first
				beside--
			}
			if r.Rows-r.Repeated != r.Evaluated-c.start || beside != c.start || r.Repeated == 0 {
				t.Errorf("%d rows, %d repeated, %d of the start: %d evaluated, %d of them beside", r.Rows,
					r.Repeated, c.start, r.Evaluated, beside)
			}
			if c.start == 0 && r.Evaluated != 1 {
				t.Errorf("%d rows evaluated for one blank", r.Evaluated)
			}
			again, err := e.Fill(ctx, tm, c.opt)
			if err != nil || again.Evaluated != 0 {
				t.Errorf("the same sentence again: %d rows evaluated, %v", again.Evaluated, err)
			}
			e.Forget()
			if c.start == 0 {
				exact := Options{Method: MethodExact, Words: WordOptions{Vocab: c.opt.Words.Vocab}}
				if r, err := e.Fill(ctx, tm, exact); err != nil || !r.Exact || r.Evaluated != 1 {
					t.Errorf("%d rows evaluated to compute the probabilities of one blank, %v", r.Evaluated, err)
				}
				e.Forget()
			}
			if again, err = e.Fill(ctx, tm, c.opt); err != nil || again.Evaluated != r.Evaluated {
				t.Errorf("once forgotten: %d rows evaluated, %v", again.Evaluated, err)
			}
		})
	}
}
