package infill

import (
	"fmt"
	"testing"

	"infill/infill/text"
	"infill/mlm"
	"infill/mlm/device/devicetest"
	"infill/samplers"
)

// Also on devices other than the processor's own kernels, and in half precision, results are the
// same bits whatever is remembered, and whatever the threads and batches are.
func TestDevicesChangeNothing(t *testing.T) {
	t.Parallel()
	sameBits(t, mlm.Options{Devices: devicetest.Devices(), Device: devicetest.Card,
		Precision: mlm.Auto, Forward: true})
}

func sameBits(t *testing.T, o mlm.Options) {
	t.Helper()
	opts := []Options{{}, {Sampling: SamplingOptions{Sampler: &samplers.DMALA{}}},
		{Sampling: SamplingOptions{Sampler: &samplers.DMALA{}, Gradient: mlm.Forward}}}
	want := make([]string, len(opts))
	evaluated := make([]int, len(opts)) // without a memo
	for run, c := range []struct{ threads, tokens int }{{1, 16}, {1, 0}, {3, 64}} {
		o.Threads, o.BatchTokens = c.threads, c.tokens
		m, err := mlm.OpenDir(t.Context(), tinyFolder, o)
		if err != nil {
			t.Fatal(err)
		}
		memo := remembered(m)[run]
		e := New(m).WithMemo(memo)
		for i, opt := range opts {
			tm, err := text.Parse(m.Tokenizer(), "the [MASK] sees the [MASK*1-2] and the [MASK|red|old dog] .")
			if err != nil {
				t.Fatal(err)
			}
			opt.Sampling.Chains, opt.Sampling.Steps, opt.Seed, opt.Results.Score = 6, 8, 5, ScorePLL
			r, err := e.Fill(t.Context(), tm, opt)
			if err != nil {
				t.Fatal(err)
			}
			if run == 0 {
				evaluated[i] = r.Evaluated
			} else if memo == DefaultMemo && r.Evaluated >= evaluated[i] {
				t.Errorf("%d: %d rows evaluated with a memo, %d without", i, r.Evaluated, evaluated[i])
			}
			r.Evaluated, r.Fresh = 0, 0
			got := fmt.Sprintf("%+v", r)
			if run == 0 {
				want[i] = got
			} else if got != want[i] {
				t.Errorf("%d: %d threads, batches of %d, a memo of %d: %s\nwant %s", i, c.threads, c.tokens,
					memo, got, want[i])
			}
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
