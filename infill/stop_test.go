package infill

import (
	"slices"
	"strings"
	"testing"

	"infill/infill/text"
	"infill/internal/ort/orttest"
)

// A run that is stopped has the result of the steps that it made.
func TestStop(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	m := openSmall(t)
	tp, err := text.Parse(m.Tokenizer(), "The [MASK] sat on the [MASK].")
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var traced [][]int32
	opt := Options{Sampling: SamplingOptions{Steps: 40, Chains: 2}, Seed: 1, ID: "1",
		Watch: WatchOptions{Stop: stop}, Results: ResultOptions{Collect: CollectLast,
			Score: ScorePLL}}
	opt.Watch.Trace = func(s Step) error {
		if s.Step == 3 {
			traced = [][]int32{slices.Clone(s.Tokens(0)), slices.Clone(s.Tokens(1))}
			close(stop)
		}
		return nil
	}
	r, err := New(m).Fill(t.Context(), tp, opt)
	if err != nil {
		t.Fatal(err)
	}
	if r.Steps != 3 {
		t.Errorf("%d steps", r.Steps)
	}
	for _, f := range r.Fillings {
		if f.Step != 3 || !slices.Equal(f.IDs, traced[f.Chain]) {
			t.Errorf("step %d of chain %d: %v, traced %v", f.Step, f.Chain, f.IDs, traced[f.Chain])
		}
	}
	// The steps are the same as in a run that goes on: nothing depends on the end.
	var whole [][]int32
	opt.Watch.Stop = nil
	opt.Watch.Trace = func(s Step) error {
		if s.Step == 3 {
			whole = [][]int32{slices.Clone(s.Tokens(0)), slices.Clone(s.Tokens(1))}
		}
		return nil
	}
	if _, err := New(m).Fill(t.Context(), tp, opt); err != nil {
		t.Fatal(err)
	}
	for k := range whole {
		if !slices.Equal(whole[k], traced[k]) {
			t.Errorf("chain %d: %v, stopped %v", k, whole[k], traced[k])
		}
	}
}

// starts divides the tokens of a step among blanks of any length, as fillings have them.
func TestStarts(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	m := openSmall(t)
	tok := m.Tokenizer()
	tp, err := text.Parse(tok, "The [MASK|very old man|cat] sat [MASK*1-3] the [MASK:a] and the [MASK:a].")
	if err != nil {
		t.Fatal(err)
	}
	var last [][]string
	opt := Options{Sampling: SamplingOptions{Steps: 4, Chains: 6}, Seed: 2,
		Results: ResultOptions{AsModel: true, All: true,
			Collect: CollectLast, Score: ScorePLL}}
	opt.Watch.Trace = func(s Step) error {
		last = nil
		for k := range s.Energy {
			ids, starts := s.Tokens(k), append(slices.Clone(s.Starts(k)), len(s.Tokens(k)))
			var blanks []string
			for b := range starts[1:] {
				var pieces []string
				for _, id := range ids[starts[b]:starts[b+1]] {
					pieces = append(pieces, tok.Token(id))
				}
				blanks = append(blanks, strings.Join(pieces, " "))
			}
			last = append(last, blanks)
		}
		return nil
	}
	r, err := New(m).Fill(t.Context(), tp, opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Fillings {
		if !slices.Equal(f.Tokens, last[f.Chain]) {
			t.Errorf("chain %d: %q, by Starts %q", f.Chain, f.Tokens, last[f.Chain])
		}
	}
}
