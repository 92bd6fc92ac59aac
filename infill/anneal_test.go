package infill

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"infill/internal/ort/orttest"
	"infill/mlm"
	"infill/samplers"
)

// The schedules are those of their formulas.
func TestAnnealTemperatures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		n    int
		want map[int]float64 // by step
	}{
		{"8..0.5", 5, map[int]float64{1: 8, 2: 4, 3: 2, 4: 1, 5: 0.5}},
		{"8..0.5:linear", 4, map[int]float64{1: 8, 2: 5.5, 3: 3, 4: 0.5}},
		{"10..0.5:inverse", 20, map[int]float64{1: 10, 2: 5, 4: 2.5, 20: 0.5}},
		{"0.5..8", 5, map[int]float64{1: 0.5, 2: 1, 5: 8}},
		{"3..1", 1, map[int]float64{1: 3}},
		{"0.7..0.7:inverse", 3, map[int]float64{1: 0.7, 2: 0.7, 3: 0.7}},
		{"sgdld-c3-500", 9, map[int]float64{1: 500, 3: 500 * 0.999 * 0.999}},
		{"sgdld-c4", 200, map[int]float64{1: 5, 2: 4.8, 200: 5 * math.Pow(0.96, 199)}},
		{"sgdld-c5", 3000, map[int]float64{1: 10, 2: 5, 3000: 1.0 / 300}},
		{"sgdld-c4", 5000, map[int]float64{5000: MinAnneal}},
	} {
		a, err := ParseAnneal(c.text)
		if err != nil || a.String() != c.text {
			t.Errorf("%s: %v, %v", c.text, a, err)
			continue
		}
		for step, want := range c.want {
			if got := a.Temperature(step, c.n); math.Abs(got-want) > 1e-12*want {
				t.Errorf("%s: T of step %d is %v, want %v", c.text, step, got, want)
			}
		}
	}
}

func TestAnnealRefused(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "1", "..", "1..", "..1", "2..0", "-1..1", "2..NaN", "Inf..1", "2..1:",
		"2..1:fast", "sgdld", "1..2..3", "1e-7..1", "1..1e7"} {
		if a, err := ParseAnneal(s); !errors.Is(err, ErrOption) || a != nil {
			t.Errorf("%q: %v, %v", s, a, err)
		}
	}
	fine := &Anneal{From: 2, To: 1}
	for _, opt := range []Options{
		{Anneal: fine, Temperature: 2}, {Anneal: fine, NoSteps: true}, {Anneal: fine, Marginals: true},
		{Anneal: fine, Normalize: true},
		{Anneal: fine, Budget: BudgetRows}, {Anneal: fine, Collect: CollectChain},
		{Anneal: fine, Method: MethodExact}, {Anneal: &Anneal{}}, {Anneal: &Anneal{Paper: "x"}},
		{Anneal: &Anneal{Paper: "sgdld-c4", From: 1}}, {Anneal: &Anneal{From: 1, To: 1, Shape: 3}},
	} {
		if err := opt.fill(); !errors.Is(err, ErrOption) {
			t.Errorf("%+v: %v", opt, err)
		}
	}
	if err := (&Options{Anneal: fine, Temperature: 1}).fill(); err != nil {
		t.Error(err)
	}
}

func FuzzParseAnneal(f *testing.F) {
	for _, s := range []string{"5..0.5", "1e2..3:linear", "sgdld-c5", "..", "1..2:x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ParseAnneal(s)
		if err != nil {
			return
		}
		b, err := ParseAnneal(a.String())
		if err != nil || *b != *a {
			t.Errorf("%q is %q, read again %v, %v", s, a, b, err)
		}
		if v := a.Temperature(3, 7); !(v > MinAnneal/2 && v < 2*MaxAnneal) {
			t.Errorf("%q: T is %v", s, v)
		}
	})
}

// A run that is annealed from T to T is the run at T.
func TestAnnealFromAndToTheSame(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	tm, err := Parse(e.model.Tokenizer(), collectText)
	if err != nil {
		t.Fatal(err)
	}
	for _, shape := range []Shape{ShapeGeometric, ShapeLinear, ShapeInverse} {
		var results []*Result
		for _, opt := range []Options{{Temperature: 0.7}, {Anneal: &Anneal{shape, 0.7, 0.7, ""}}} {
			opt.Seed, opt.Steps, opt.Chains, opt.Score = 3, 10, 6, ScorePLL
			r, err := e.Fill(t.Context(), tm, opt)
			if err != nil {
				t.Fatal(err)
			}
			r.Evaluated, r.Fresh = 0, 0
			results = append(results, r)
		}
		if !reflect.DeepEqual(results[0], results[1]) {
			t.Errorf("%v: %+v and %+v", shape, results[0], results[1])
		}
	}
}

// Scores of an annealed run are U in nats, and neither they nor what is found depend on the threads.
func TestAnnealScoresWhateverTheThreads(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	for _, s := range []samplers.Sampler{&samplers.Rows{}, &samplers.Rows{Langevin: 0.3},
		&samplers.DMALA{}, &samplers.LB1{}, &samplers.SGDLD{}} {
		var want *Result
		for _, threads := range []int{1, 3} {
			m, err := mlm.OpenDir(t.Context(), tinyFolder, mlm.Options{Threads: threads})
			if err != nil {
				t.Fatal(err)
			}
			e := New(m)
			tm, err := Parse(m.Tokenizer(), "the [MASK] saw the big [MASK] and the [MASK] in the [MASK] .")
			if err != nil {
				t.Fatal(err)
			}
			opt := Options{Seed: 4, Chains: 30, Steps: 8, Top: 100, Sampler: s, Shortlist: 6,
				Anneal: &Anneal{From: 3, To: 0.3}, Score: ScorePLL}
			r, err := e.Fill(t.Context(), tm, opt)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range r.Fillings[:3] {
				if u, _ := oracle(t, e, f.Text, f.Spans); math.Abs(u-f.Score) > 1e-4*math.Abs(u) {
					t.Errorf("%s: %s has score %v, and U is %v", s.Name(), f.Text, f.Score, u)
				}
			}
			_ = m.Close()
			r.Evaluated, r.Fresh = 0, 0
			if want == nil {
				want = r
				continue
			}
			if !reflect.DeepEqual(r.Fillings, want.Fillings) || r.Rows != want.Rows {
				t.Errorf("%s: threads change the result", s.Name())
			}
		}
	}
}

// Steps are made at the temperatures of the schedule: each is that of a run at this temperature which
// begins where the step does. The energies of a trace are in nats.
func TestAnnealStepsAtTheirTemperature(t *testing.T) {
	t.Parallel()
	half := &samplers.Rows{Rate: 0.5}
	annealedSteps(t, Options{Sampler: half})
	// A sampler that was tuned before keeps its values at all temperatures.
	annealedSteps(t, Options{Tuned: func(int) samplers.Sampler { return half }})
}

func annealedSteps(t *testing.T, opt Options) {
	t.Helper()
	e := New(tiny(t))
	tm, err := Parse(e.model.Tokenizer(), collectText)
	if err != nil {
		t.Fatal(err)
	}
	opt.Seed, opt.Steps, opt.Chains, opt.Anneal = 3, 6, 4, &Anneal{From: 4, To: 0.25}
	if err := opt.fill(); err != nil {
		t.Fatal(err)
	}
	p, err := e.plan(tm, &opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for step := 1; step <= opt.Steps; step++ {
		if err := p.step(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := 4 * math.Pow(0.5, 0.8*float64(step-1))
		for _, pt := range p.parts {
			if got := pt.tgt.temp; math.Abs(got-want) > 1e-12*want {
				t.Errorf("step %d is made at T = %v, want %v", step, got, want)
			}
			u := make([]float64, len(pt.run.X))
			if err := pt.tgt.energy(t.Context(), pt.run.X, u); err != nil {
				t.Fatal(err)
			}
			if rate := pt.run.Tuning(0)["rate"]; rate != 0.5 {
				t.Errorf("step %d: rate %v", step, rate)
			}
			if !slices.Equal(u, pt.run.U) {
				t.Errorf("step %d: the run has U/T = %v, and it is %v", step, pt.run.U, u)
			}
		}
	}
}

// SGDLD keeps its cache while T changes: a chain takes one mini-batch a step, not two.
func TestAnnealKeepsTheCache(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	tm, err := Parse(e.model.Tokenizer(), collectText)
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{Seed: 3, Steps: 6, Chains: 4, Anneal: &Anneal{From: 4, To: 0.25}, Shortlist: 6,
		Sampler: &samplers.SGDLD{Jump: 1e-12}}
	if err := opt.fill(); err != nil {
		t.Fatal(err)
	}
	p, err := e.plan(tm, &opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range opt.Steps {
		if err := p.step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, pt := range p.parts {
		// Counts are those of the steps after the burn-in, which is half of all.
		if got, want := pt.run.Stats[0].Evals, opt.Steps/2; got != want {
			t.Errorf("%d mini-batches in %d steps", got, want)
		}
	}
}

// The score of a state that parts saw at different temperatures, and so rounded otherwise, is that of
// its first step.
func TestAnnealJoin(t *testing.T) {
	t.Parallel()
	early := sighting{score: -1, rank: -0.5, step: 3, chain: 7, chains: []uint64{2}}
	late := sighting{score: -2, rank: -1, step: 5, chain: 1, chains: []uint64{1}}
	for _, pair := range [][2]sighting{{early, late}, {late, early}} {
		a, b := pair[0], pair[1]
		a.chains = slices.Clone(a.chains)
		a.join(&b)
		if a.score != -1 || a.rank != -0.5 || a.step != 3 || a.chain != 7 || a.chains[0] != 3 {
			t.Errorf("%+v", a)
		}
	}
}
