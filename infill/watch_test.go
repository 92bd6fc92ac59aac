package infill

import (
	"testing"

	"infill/infill/request"
	"infill/infill/text"
)

// Whoever waits is told how a text is filled, before and while it is. A run that is stopped has the
// best that it found, says that it was stopped, and needs no more rows than it had.
func TestWatch(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	for _, c := range []struct {
		text string
		opt  Options
		want Method
		end  request.Ending
	}{
		{"the [MASK] sleeps .", Options{}, MethodExact, EndedItself},
		{"the [MASK] sleeps .", Options{Method: MethodSearch}, MethodExact, EndedItself},
		{"the [MASK] sleeps .", Options{Sampling: SamplingOptions{Steps: 5}}, MethodSample, EndedItself},
		{"the [MASK] saw a [MASK] .", Options{}, MethodSearch, EndedItself},
		{"the [MASK] saw a [MASK] .", Options{Method: MethodExact, Sampling: SamplingOptions{Steps: 5}},
			MethodSample, EndedItself},
		{"the [MASK*1-3] saw a [MASK] .", Options{}, MethodSearch, EndedStopped},
		{"the [MASK*1-3] saw a [MASK] .", Options{Sampling: SamplingOptions{Steps: 9}}, MethodSample,
			EndedStopped},
		{"the [MASK] saw a [MASK] .", Options{Sampling: SamplingOptions{Steps: 9, Budget: BudgetRows}},
			MethodSample, EndedStopped},
	} {
		tm, err := text.Parse(e.model.Tokenizer(), c.text)
		if err != nil {
			t.Fatal(err)
		}
		var last Progress
		chosen, calls := MethodAuto, 0
		c.opt.Method = c.opt.Complete().Method // Trace would ask for chains
		if c.end == EndedStopped {
			stop := make(chan struct{})
			close(stop)
			c.opt.Watch.Stop = stop
		}
		c.opt.Watch.Chosen = func(m Method) error {
			if chosen != MethodAuto || calls > 0 {
				t.Errorf("%s: %v is chosen after %v and %d calls", c.text, m, chosen, calls)
			}
			chosen = m
			return nil
		}
		c.opt.Watch.Trace = func(Step) error { calls++; return nil }
		c.opt.Watch.Progress = func(p Progress) error {
			calls++
			if p.Rows < last.Rows || len(p.Best) < len(last.Best) {
				t.Errorf("%s: %d rows and %d fillings after %d and %d", c.text, p.Rows, len(p.Best),
					last.Rows, len(last.Best))
			}
			last = p
			return nil
		}
		r, err := e.Fill(t.Context(), tm, c.opt)
		if err != nil {
			t.Fatal(err)
		}
		if chosen != c.want || r.Method != c.want || r.Ended != c.end || len(r.Fillings) == 0 ||
			(calls == 0) != (c.want == MethodExact) {
			t.Errorf("%s: %v was chosen, the result is of %v and ended %v, %d calls", c.text, chosen,
				r.Method, r.Ended, calls)
		}
		if c.want != MethodSearch {
			continue
		}
		if last.Rows != r.Rows || len(last.Best) < len(r.Fillings) && c.end == EndedItself {
			t.Errorf("%s: watched to row %d of %d", c.text, last.Rows, r.Rows)
		}
		for i, f := range last.Best {
			if f.Text != r.Fillings[i].Text || f.Score != r.Fillings[i].Score {
				t.Errorf("%s, place %d: %q %v, watched %q %v", c.text, i+1, r.Fillings[i].Text,
					r.Fillings[i].Score, f.Text, f.Score)
			}
		}
	}
}
