package infill

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"testing"

	"infill/infill/text"
	"infill/internal/ort/orttest"
	"infill/mlm"
	"infill/samplers"
)

const collectText = "the [MASK] saw the big [MASK] in the [MASK] ."

// A taken is what one filling is to be: first chain and step, and how many.
type takenAs struct{ chain, step, count int }

// takenOf are the fillings of a result by their tokens.
func takenOf(r *Result) map[string]takenAs {
	out := map[string]takenAs{}
	for _, f := range r.Fillings {
		out[fmt.Sprint(f.Tokens)] = takenAs{f.Chain, f.Step, f.Count}
	}
	return out
}

// A stateLog has the states of all chains, as Options.Watch.Trace shows them.
type stateLog struct {
	m      *mlm.Model
	states [][]string // by step and chain
}

func (h *stateLog) enter(s Step) error {
	var row []string
	for k := range s.Energy {
		var words []string
		for _, id := range s.Tokens(k) {
			words = append(words, h.m.Tokenizer().Token(id))
		}
		row = append(row, fmt.Sprint(words))
	}
	h.states = append(h.states, row)
	return nil
}

// taken lists the states of some steps with their first places, once for each chain or each time.
func (h *stateLog) taken(from, every int, chains bool) map[string]takenAs {
	out := map[string]takenAs{}
	seen := map[string]bool{}
	for step := from; step < len(h.states); step += every {
		for k, s := range h.states[step] {
			t, known := out[s]
			if !known {
				t = takenAs{chain: k, step: step}
			}
			if by := fmt.Sprint(k, s); !chains || !seen[by] {
				seen[by] = true
				t.count++
			}
			out[s] = t
		}
	}
	return out
}

// Each way of collecting takes the states that the trace shows, with the first chain and step, and
// as often. Uncorrected dula goes to every proposal, so that what it evaluates is where it is.
func TestCollect(t *testing.T) {
	t.Parallel()
	m := tiny(t)
	e := New(m)
	tm, err := text.Parse(m.Tokenizer(), collectText)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		opt  Options
		want func(h *stateLog) map[string]takenAs
	}{
		{"last", Options{Results: ResultOptions{Collect: CollectLast},
			Sampling: SamplingOptions{Steps: 6}}, func(h *stateLog) map[string]takenAs {
			return h.taken(6, 1, false)
		}},
		{"visited", Options{Sampling: SamplingOptions{Steps: 9}}, func(h *stateLog) map[string]takenAs {
			return h.taken(0, 1, true)
		}},
		{"no step", Options{Sampling: SamplingOptions{NoSteps: true}},
			func(h *stateLog) map[string]takenAs {
				return h.taken(0, 1, true)
			}},
		{"chain", Options{Results: ResultOptions{Collect: CollectChain},
			Sampling: SamplingOptions{Steps: 12}}, func(h *stateLog) map[string]takenAs {
			return h.taken(7, 1, false)
		}},
		{"thinned", Options{Results: ResultOptions{Collect: CollectChain, Thin: 3},
			Sampling: SamplingOptions{Steps: 12}},
			func(h *stateLog) map[string]takenAs { return h.taken(9, 3, false) }},
		{"25 of a chain", Options{Results: ResultOptions{Collect: CollectChain},
			Sampling: SamplingOptions{Steps: 105, Chains: 2}},
			func(h *stateLog) map[string]takenAs { return h.taken(54, 2, false) }},
		{"stopped in the burn-in", Options{Results: ResultOptions{Collect: CollectChain},
			Sampling: SamplingOptions{Steps: 8}, Watch: WatchOptions{Stop: make(chan struct{})}},
			func(h *stateLog) map[string]takenAs { return h.taken(3, 1, false) }},
	} {
		h := &stateLog{m: m}
		opt := c.opt
		opt.Sampling.Sampler, opt.Seed, opt.Results.All, opt.Watch.Trace = &samplers.DULA{StepSize: 0.6},
			3, true, h.enter
		opt.Words.Vocab, opt.Sampling.Temperature, opt.Results.Score = text.VocabWholeWords, 3, ScorePLL
		opt.Sampling.Chains = cmp.Or(opt.Sampling.Chains, 9)
		if c.opt.Watch.Stop != nil {
			stop := make(chan struct{})
			opt.Watch.Stop, opt.Watch.Trace = stop, func(s Step) error {
				if s.Step == 3 {
					close(stop)
				}
				return h.enter(s)
			}
		}
		r, err := e.Fill(t.Context(), tm, opt)
		if err != nil {
			t.Fatal(c.name, err)
		}
		if got, want := takenOf(r), c.want(h); !maps.Equal(got, want) {
			t.Errorf("%s: %v\nwant %v", c.name, got, want)
		}
		if r.Distinct != len(r.Fillings) {
			t.Errorf("%s: %d fillings, %d different", c.name, len(r.Fillings), r.Distinct)
		}
		for _, f := range r.Fillings {
			if u, _ := oracle(t, e, f.Text, f.Spans); u-f.Score > 1e-4 || f.Score-u > 1e-4 {
				t.Errorf("%s: %q scores %v, want %v", c.name, f.Text, f.Score, u)
			}
		}
	}
}

// Refused proposals are visited too: there are more fillings than in the trace, and none is worse
// than the best of the trace. What conditionals alone lead to has the energies of the last states.
func TestVisitedProposals(t *testing.T) {
	t.Parallel()
	m := tiny(t)
	e := New(m)
	tm, err := text.Parse(m.Tokenizer(), collectText)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"rows", "dmala", "gwg", "gibbs"} {
		h := &stateLog{m: m}
		opt := Options{Sampling: SamplingOptions{Sampler: named(t, name, nil), Steps: 10, Chains: 5},
			Results: ResultOptions{All: true, Score: ScorePLL},
			Watch:   WatchOptions{Trace: h.enter}}
		r, err := e.Fill(t.Context(), tm, opt)
		if err != nil {
			t.Fatal(name, err)
		}
		got, states := takenOf(r), h.taken(0, 1, true)
		if name == "gibbs" {
			states = h.taken(10, 1, true)
		}
		for s, want := range states {
			if g := got[s]; g.count < want.count || g.step > want.step {
				t.Errorf("%s: %s was taken as %v, in the trace it is %v", name, s, g, want)
			}
		}
		if more := len(got) > len(states); more != (name != "gibbs") {
			t.Errorf("%s: %d fillings, %d in the trace", name, len(got), len(states))
		}
	}
}

// What is visited does not depend on how chains are divided, nor does any count.
func TestVisitedWhateverTheThreads(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	var want *Result
	for _, threads := range []int{1, 3} {
		m, err := mlm.OpenDir(t.Context(), tinyFolder, mlm.Options{Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		tm, err := text.Parse(m.Tokenizer(), "the [MASK] saw the [MASK*1-2] big [MASK] and the [MASK] in the [MASK] .")
		if err != nil {
			t.Fatal(err)
		}
		r, err := New(m).Fill(t.Context(), tm, Options{Seed: 4,
			Sampling: SamplingOptions{Chains: 30, Steps: 12}, Results: ResultOptions{Top: 200,
				Score: ScorePLL}})
		if err != nil {
			t.Fatal(err)
		}
		_ = m.Close()
		r.Evaluated, r.Fresh = 0, 0
		if want == nil {
			want = r
			continue
		}
		for i := range want.Fillings {
			if i < len(r.Fillings) && !reflect.DeepEqual(r.Fillings[i], want.Fillings[i]) {
				t.Fatalf("one thread takes %+v, three %+v", want.Fillings[i], r.Fillings[i])
			}
		}
		if r.Distinct != want.Distinct || len(r.Fillings) != 200 || r.Rows != want.Rows {
			t.Errorf("%d of %d and %d of %d", len(r.Fillings), r.Distinct, len(want.Fillings), want.Distinct)
		}
	}
}

// All fillings are more than the most that can be asked for by number. What there is no room for is
// said, and only where all were asked for.
func TestAllFillings(t *testing.T) {
	t.Parallel()
	m := tiny(t)
	tm, err := text.Parse(m.Tokenizer(), collectText)
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(m).Fill(t.Context(), tm, Options{Seed: 4,
		Sampling: SamplingOptions{Sampler: named(t, "rows", nil), Steps: 900, Chains: 30,
			Shortlist: 90, Temperature: 20},
		Results: ResultOptions{All: true, Score: ScorePLL}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Distinct < 1024+2*Ranges.Top.Max+1 || len(r.Fillings) != r.Distinct || r.LeftOut != 0 {
		t.Errorf("%d fillings of %d, %d left out", len(r.Fillings), r.Distinct, r.LeftOut)
	}
}
