package infill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"infill/infill/internal/choosing"
	"infill/infill/internal/search"
	"infill/infill/internal/target"
	"infill/infill/text"
	"infill/mlm"
	"infill/models"
	"infill/samplers"
)

// everyFilling scores all fillings of a template by enumeration, best first, texts once.
func everyFilling(t *testing.T, e *Engine, text string, opt Options) []Filling {
	t.Helper()
	if err := opt.Prepare(); err != nil {
		t.Fatal(err)
	}
	p, err := e.resolve(t.Context(), parsed(t, e, text), &opt)
	if err != nil {
		t.Fatal(err)
	}
	c, err := e.chooser(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	best := map[string]Filling{}
	for _, pt := range p.Choices {
		x := [][]int32{make([]int32, len(pt.Target.Coords))}
		for i := range pt.Target.Coords {
			var more [][]int32
			for _, y := range x {
				for v := range pt.Target.Coords[i].K() {
					z := slices.Clone(y)
					z[i] = int32(v)
					more = append(more, z)
				}
			}
			x = more
		}
		x = slices.DeleteFunc(x, func(y []int32) bool { return !pt.Target.Valid(y) })
		parts, _, err := pt.Target.Parts(t.Context(), pt.Target.Model, x, opt.Results.Score)
		if err != nil {
			t.Fatal(err)
		}
		u := make([]float64, len(x))
		for k := range x {
			u[k] = opt.Results.Score.Of(parts[k])
		}
		if err := pt.Target.AddTerms(t.Context(), x, u, 1); err != nil {
			t.Fatal(err)
		}
		for k := range x {
			f := pt.Target.Spell(x[k], opt.Results.AsModel)
			f.Score, f.ScorePerToken = u[k], u[k]/float64(len(f.IDs))
			passed, err := c.Sieve.Pass(t.Context(), []Filling{f})
			if err != nil {
				t.Fatal(err)
			}
			if o, ok := best[f.Text]; len(passed) > 0 && (!ok || o.Score < f.Score) {
				best[f.Text] = passed[0]
			}
		}
	}
	var out []Filling
	for _, f := range best {
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b Filling) int { return strings.Compare(a.Text, b.Text) })
	slices.SortStableFunc(out, func(a, b Filling) int {
		if p.PerToken {
			return cmp.Compare(b.ScorePerToken, a.ScorePerToken)
		}
		return cmp.Compare(b.Score, a.Score)
	})
	return out
}

// randomLists is a text of the tiny model with lists in n of its places.
func randomLists(rng *rand.Rand, n, words int) string {
	vocab := strings.Fields("dog cat bird fish horse cow fox bear house tree garden field forest " +
		"apple banana cherry red green big small old young happy hungry saw ate sings walks runs in near")
	text := strings.Fields("the old dog saw a cat near the house .")
	for i, at := range rng.Perm(len(text) - 1)[:n] {
		var list []string
		for _, v := range rng.Perm(len(vocab))[:words+i] {
			list = append(list, vocab[v])
		}
		text[at] = "[MASK|" + strings.Join(list, "|") + "]"
	}
	return strings.Join(text, " ")
}

// missed is how many of the best n fillings of an enumeration a search did not find.
func missed(t *testing.T, e *Engine, text string, opt Options, n int) int {
	t.Helper()
	all := everyFilling(t, e, text, opt)
	n = min(n, len(all))
	opt.Results.Top = n
	r := exactFill(t, e, text, opt)
	if r.Method != MethodSearch || r.Ended != EndedItself {
		t.Errorf("%s: %v ended %v", text, r.Method, r.Ended)
	}
	out := 0
	for i := range n {
		at := slices.IndexFunc(r.Fillings, func(f Filling) bool { return f.Text == all[i].Text })
		if at < 0 {
			out++
		} else if d := r.Fillings[at].Score - all[i].Score; math.Abs(d) > 1e-5 {
			t.Errorf("%s: %q scores %v, want %v", text, all[i].Text, r.Fillings[at].Score, all[i].Score)
		}
	}
	return out
}

// A thorough search finds the ten best fillings of an enumeration. What a quick one misses is
// counted.
func TestSearchAgainstEnumeration(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	rng := rand.New(rand.NewPCG(1, 2))
	const texts = 12
	lost := map[Effort]int{}
	for range texts {
		text := randomLists(rng, 2+rng.IntN(2), 9)
		for _, score := range []Scoring{ScoreBlended, ScorePLL} {
			for _, effort := range []Effort{EffortThorough, EffortNormal, EffortQuick} {
				n := missed(t, e, text,
					Options{Results: ResultOptions{Score: score}, Search: SearchOptions{Effort: effort}}, 10)
				lost[effort] += n
				if effort == EffortThorough && n > 0 {
					t.Errorf("%s, %v: thorough misses %d of 10", text, score, n)
				}
			}
		}
	}
	t.Logf("of %d best fillings quick misses %d, normal %d, thorough %d", 2*texts*10,
		lost[EffortQuick], lost[EffortNormal], lost[EffortThorough])
}

// Whatever a text may ask for holds in a search, as an enumeration has it.
func TestSearchConstraints(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	ban, _, err := text.NewBanList(e.Tokenizer(), []string{"dog", "house"})
	if err != nil {
		t.Fatal(err)
	}
	animals := "dog|cat|bird|fish|horse|cow"
	drop := 3.0
	bonus := &toyTerm{name: "toy", odd: map[string]float64{}}
	for name, c := range map[string]struct {
		text string
		opt  Options
	}{
		"ties": {"the [MASK:a|" + animals + "] saw the [MASK:a] and the [MASK|" + animals + "] .", Options{}},
		"free": {"the [MASK:a/^[bcd]/] saw the [MASK:a] near the [MASK/^[fh]/] .",
			Options{Words: WordOptions{Vocab: text.VocabWholeWords}}},
		"ban": {"the [MASK|" + animals + "] saw the [MASK|house|tree|garden] .",
			Options{Words: WordOptions{Ban: ban}}},
		"repeat": {"the [MASK|" + animals + "] saw the [MASK|" + animals + "] .",
			Options{Words: WordOptions{NoRepeat: text.RepeatText}}},
		"phrase": {"the [MASK|dog|big dog|very old horse] saw the [MASK|house|old house] .", Options{}},
		"pieces": {"the [MASK/^do/] [MASK*2/^(cat|dog)/] .",
			Options{Words: WordOptions{Vocab: text.VocabWholeWords}}},
		"length": {"the [MASK*1-2/^[cd]/] saw the [MASK|house|tree] .", Options{}},
		"terms": {"the [MASK|" + animals + "] saw the [MASK|" + animals + "] .",
			Options{Words: WordOptions{Terms: []Weighted{{Term: bonus, Weight: 2}}}}},
		"edit": {"the [MASK|" + animals + "] saw the [MASK|house|tree|garden] .",
			Options{Words: WordOptions{Original: []string{"dog", "house"}, Filter: Filter{MinEdits: 4}}}},
		"drop": {"the [MASK|" + animals + "] saw the [MASK|house|tree|garden] .",
			Options{Words: WordOptions{Original: []string{"dog", "house"}, Filter: Filter{MaxDrop: &drop}}}},
	} {
		for _, score := range []Scoring{ScoreBlended, ScorePLL} {
			opt := c.opt
			opt.Results.Score, opt.Search.Effort = score, EffortThorough
			all := everyFilling(t, e, c.text, opt)
			if opt.Words.Filter.MaxDrop != nil {
				all = slices.DeleteFunc(all, func(f Filling) bool {
					r := exactFill(t, e, c.text, opt)
					return f.Score < *r.OriginalScore-drop
				})
			}
			n := min(5, len(all))
			opt.Results.Top = n
			r := exactFill(t, e, c.text, opt)
			for i := range n {
				if i >= len(r.Fillings) || r.Fillings[i].Text != all[i].Text ||
					math.Abs(r.Fillings[i].Score-all[i].Score) > 1e-5 {
					t.Errorf("%s, %v: number %d is not %q (%v): %+v", name, score, i, all[i].Text, all[i].Score,
						r.Fillings)
					break
				}
			}
		}
	}
}

// What is given up could not get among the best: evaluated in full it scores less.
func TestSearchGivesUpNothingGood(t *testing.T) {
	t.Parallel()
	e := New(openSmall(t))
	given := 0
	for _, text := range []string{
		"The [MASK] sat down and closed his [MASK] for a [MASK].",
		"She put the [MASK] in the [MASK] and left the [MASK].",
		"He [MASK] the [MASK] when the [MASK] came.",
	} {
		for _, score := range []Scoring{ScoreBlended, ScorePLL} {
			opt := Options{Results: ResultOptions{Score: score}}
			if err := opt.Prepare(); err != nil {
				t.Fatal(err)
			}
			p, err := e.resolve(t.Context(), parsed(t, e, text), &opt)
			if err != nil {
				t.Fatal(err)
			}
			s, err := search.New(t.Context(), &choosing.Chooser{Task: p})
			if err != nil {
				t.Fatal(err)
			}
			type givenUp struct {
				of   *target.Target
				x    []int32
				text string
			}
			var spare []givenUp
			s.GaveUp = func(of *target.Target, x []int32, text string) { spare = append(spare, givenUp{of, x, text}) }
			if err := s.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			given += len(spare)
			for _, f := range spare {
				parts, _, err := f.of.Parts(t.Context(), f.of.Model, [][]int32{f.x}, score)
				if err != nil {
					t.Fatal(err)
				}
				if got := score.Of(parts[0]); got >= s.Threshold()+1e-6 {
					t.Errorf("%q scores %v and was given up; the worst of the best has %v",
						f.text, got, s.Threshold())
				}
			}
		}
	}
	if given == 0 {
		t.Error("nothing was given up, so that this test shows nothing")
	}
}

// Seeds, threads, batches and the memo decide nothing, not even the rows.
func TestSearchIsDeterministic(t *testing.T) {
	t.Parallel()
	m := openSmall(t)
	const text = "The [MASK] [MASK*1-2] the [MASK] and [MASK] home."
	want := exactFill(t, New(m).WithMemo(0), text, Options{Seed: 1})
	same := func(name string, r *Result) {
		t.Helper()
		if fmt.Sprint(r.Fillings) != fmt.Sprint(want.Fillings) || r.Rows != want.Rows ||
			r.Distinct != want.Distinct {
			t.Errorf("%s: %d rows, %v\nwant %d rows, %v", name, r.Rows, r.Fillings, want.Rows,
				want.Fillings)
		}
	}
	e := New(m)
	same("a memo", exactFill(t, e, text, Options{Seed: 2, ID: "x"}))
	same("a full memo", exactFill(t, e, text, Options{}))
	same("a small memo", exactFill(t, New(m).WithMemo(1<<20), text, Options{}))
	one, err := mlm.Open(t.Context(), models.Small(), mlm.Options{Threads: 1, BatchTokens: 64})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = one.Close() }()
	same("a thread", exactFill(t, New(one), text, Options{}))
}

// What a search does not hold it asks for again, and finds the same by the same rows.
func TestSearchForgets(t *testing.T) {
	t.Parallel()
	e := New(openSmall(t)).WithMemo(0)
	const text = "The [MASK] sat on the [MASK] near the [MASK]."
	want := exactFill(t, e, text, Options{})
	opt := Options{}
	if err := opt.Prepare(); err != nil {
		t.Fatal(err)
	}
	p, err := e.resolve(t.Context(), parsed(t, e, text), &opt)
	if err != nil {
		t.Fatal(err)
	}
	s, err := search.New(t.Context(), &choosing.Chooser{Task: p})
	if err != nil {
		t.Fatal(err)
	}
	s.Rows.Most = 3
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := s.Result(t.Context())
	if err != nil || fmt.Sprint(r.Fillings) != fmt.Sprint(want.Fillings) || r.Rows != want.Rows ||
		r.Evaluated <= want.Evaluated {
		t.Errorf("%v: %d rows, %d evaluated, %v\nwant %d rows, more than %d, %v", err, r.Rows, r.Evaluated,
			r.Fillings, want.Rows, want.Evaluated, want.Fillings)
	}
}

// A search ends at its bound or when it is stopped, with what it has, and says so.
func TestSearchEnds(t *testing.T) {
	t.Parallel()
	e := New(openSmall(t))
	const text = "The [MASK] sat on the [MASK] near the [MASK]."
	full := exactFill(t, e, text, Options{})
	r := exactFill(t, e, text, Options{Search: SearchOptions{Rows: 1}})
	if r.Ended != EndedRows || len(r.Fillings) == 0 || r.Rows >= full.Rows {
		t.Errorf("%v after %d rows: %v", r.Ended, r.Rows, r.Fillings)
	}
	stop := make(chan struct{})
	close(stop)
	if r = exactFill(t, e, text, Options{Watch: WatchOptions{Stop: stop}}); r.Ended != EndedStopped ||
		len(r.Fillings) == 0 {
		t.Errorf("%v: %v", r.Ended, r.Fillings)
	}
	var seen []Progress
	r = exactFill(t, e, text,
		Options{Watch: WatchOptions{Progress: func(p Progress) error {
			seen = append(seen,
				p)
			return nil
		}}})
	last := seen[len(seen)-1]
	if fmt.Sprint(last.Best) != fmt.Sprint(full.Fillings) || r.Rows != full.Rows {
		t.Errorf("the last news are %v, want %v", last.Best, full.Fillings)
	}
	for i := range seen[1:] {
		if seen[i+1].Rows < seen[i].Rows || len(seen[i+1].Best) < len(seen[i].Best) {
			t.Errorf("news %d goes back", i+1)
		}
	}
	gone := errors.New("gone")
	_, err := e.Fill(t.Context(), parsed(t, e, text),
		Options{Watch: WatchOptions{Progress: func(Progress) error { return gone }}})
	if !errors.Is(err, gone) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	if _, err := e.Fill(ctx, parsed(t, e, text), Options{}); !errors.Is(err, gone) {
		t.Error(err)
	}
}

// Of a long text a row sees a part while the search goes on. What is printed is of all of it.
func TestSearchContext(t *testing.T) {
	t.Parallel()
	e := New(openSmall(t))
	text := strings.Repeat("They walked along the river and said nothing. ", 6) +
		"The old [MASK] closed his [MASK]. " + strings.Repeat("Nobody came that day. ", 8) +
		"She opened the [MASK]."
	opt := Options{Search: SearchOptions{Context: 32}, Results: ResultOptions{Score: ScoreBlended}}
	r := exactFill(t, e, text, opt)
	p, err := e.resolve(t.Context(), parsed(t, e, text), func() *Options { _ = opt.Prepare(); return &opt }())
	if err != nil {
		t.Fatal(err)
	}
	tgt := p.Choices[0].Target
	for _, f := range r.Fillings {
		x := make([]int32, 3)
		for i := range x {
			x[i] = int32(slices.Index(tgt.Coords[i].IDs, f.IDs[i]))
		}
		parts, _, err := tgt.Parts(t.Context(), tgt.Model, [][]int32{x}, ScoreBlended)
		if err != nil || math.Abs(ScoreBlended.Of(parts[0])-f.Score) > 1e-5 {
			t.Errorf("%v: %q scores %v, want %v", err, f.Text, f.Score, ScoreBlended.Of(parts[0]))
		}
	}
}

// MethodAuto samples for those who set what only sampling has.
func TestMethod(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		opt  Options
		want Method
	}{
		"nothing":   {Options{}, MethodSearch},
		"steps":     {Options{Sampling: SamplingOptions{Steps: 3}}, MethodSample},
		"sampler":   {Options{Sampling: SamplingOptions{Sampler: &samplers.Rows{}}}, MethodSample},
		"chains":    {Options{Sampling: SamplingOptions{Chains: 2}}, MethodSample},
		"heat":      {Options{Sampling: SamplingOptions{Temperature: 2}}, MethodExact},
		"marginals": {Options{Results: ResultOptions{Marginals: true}}, MethodExact},
		"collect":   {Options{Results: ResultOptions{Collect: CollectLast}}, MethodSample},
		"search":    {Options{Method: MethodSearch, Sampling: SamplingOptions{Chains: 2}}, MethodSearch},
	} {
		if got := c.opt.Complete().Method; got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	e := New(tiny(t))
	two := "the [MASK] saw the [MASK] ."
	if r := exactFill(t, e, two,
		Options{Sampling: SamplingOptions{Temperature: 2}}); r.Method != MethodSample {
		t.Errorf("two blanks with a temperature: %v", r.Method)
	}
	if r := exactFill(t, e, "the [MASK] sleeps .", Options{}); r.Method != MethodExact || !r.Exact {
		t.Errorf("one blank: %v", r.Method)
	}
	bad := Options{Method: MethodSearch, Results: ResultOptions{Marginals: true}}
	if err := bad.Check(); !errors.Is(err, text.ErrOption) {
		t.Error(err)
	}
	for name, bad := range map[string]Options{
		"score":  {Results: ResultOptions{Score: ScoreWithinWord}},
		"effort": {Search: SearchOptions{Effort: 3}}, "rows": {Search: SearchOptions{Rows: -1}},
		"many rows": {Search: SearchOptions{Rows: Ranges.Rows.Max + 1}},
		"context":   {Search: SearchOptions{Context: 3}},
	} {
		if err := bad.Check(); !errors.Is(err, text.ErrOption) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
