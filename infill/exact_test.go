package infill

import (
	"context"
	"fmt"
	"math"
	"sort"
	"sync"
	"testing"

	"infill/mlm"
	"infill/samplers"
)

var tinyModel = sync.OnceValues(func() (*mlm.Model, error) {
	return mlm.OpenDir(context.Background(), tinyFolder, mlm.Options{Threads: 2})
})

func tiny(t testing.TB) *mlm.Model {
	t.Helper()
	m, err := tinyModel()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// enumerated is the energy of a template with two blanks, computed by the
// model once for every state, so that long runs cost no model time.
type enumerated struct {
	domain *samplers.Domain
	u      []float64
	grad   [][]float64
	k      int
}

func (e *enumerated) Domain() *samplers.Domain { return e.domain }

func (e *enumerated) at(x []int32) int { return int(x[0])*e.k + int(x[1]) }

func (e *enumerated) Energy(_ context.Context, x [][]int32, u []float64) error {
	for i := range x {
		u[i] = e.u[e.at(x[i])]
	}
	return nil
}

func (e *enumerated) EnergyGrad(ctx context.Context, x [][]int32, u []float64, grad [][]float64) error {
	for i := range x {
		copy(grad[i], e.grad[e.at(x[i])])
	}
	return e.Energy(ctx, x, u)
}

// probabilities is π itself.
func (e *enumerated) probabilities() []float64 {
	p := make([]float64, len(e.u))
	sum := 0.0
	for i, u := range e.u {
		p[i] = math.Exp(u)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// targetOf is the energy of a template whose lengths are fixed.
func targetOf(t testing.TB, e *Engine, tm *Template, opt Options) *target {
	t.Helper()
	if err := opt.fill(); err != nil {
		t.Fatal(err)
	}
	p, err := e.plan(tm, &opt)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.parts) != 1 {
		t.Fatalf("%d lengths", len(p.parts))
	}
	return p.parts[0].tgt
}

// enumerate evaluates every state of a template through the engine's own target.
func enumerate(t *testing.T, text string) (*enumerated, *target, *Engine) {
	t.Helper()
	m := tiny(t)
	e := New(m)
	tm, err := Parse(m.Tokenizer(), text)
	if err != nil {
		t.Fatal(err)
	}
	tgt := targetOf(t, e, tm, Options{Vocab: VocabWholeWords})
	k := tgt.domain.K(0)
	en := &enumerated{domain: tgt.domain, k: k, u: make([]float64, k*k), grad: rows[float64](nil, k*k, 2*k)}
	for a := range k {
		x := make([][]int32, k)
		for b := range x {
			x[b] = []int32{int32(a), int32(b)}
		}
		if err := tgt.EnergyGrad(context.Background(), x, en.u[a*k:(a+1)*k], en.grad[a*k:(a+1)*k]); err != nil {
			t.Fatal(err)
		}
	}
	return en, tgt, e
}

// chiSquare tests whether draws come from p. Cells expected fewer than five
// times are pooled. It returns the standard normal score of the statistic
// (Wilson and Hilferty's approximation).
func chiSquare(counts []int, p []float64) float64 {
	n := 0
	for _, c := range counts {
		n += c
	}
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(a, b int) bool { return p[order[a]] > p[order[b]] })
	stat, cells := 0.0, 0
	pool, poolP := 0, 0.0
	add := func(c int, q float64) {
		d := float64(c) - float64(n)*q
		stat += d * d / (float64(n) * q)
		cells++
	}
	for _, i := range order {
		if float64(n)*p[i] >= 5 {
			add(counts[i], p[i])
			continue
		}
		pool, poolP = pool+counts[i], poolP+p[i]
	}
	if float64(n)*poolP >= 5 {
		add(pool, poolP)
	}
	df := float64(cells - 1)
	return (math.Cbrt(stat/df) - (1 - 2/(9*df))) / math.Sqrt(2/(9*df))
}

// Every exact sampler, run on the enumerated joint distribution of two blanks
// from the engine's own starts, ends in that distribution. The last states of
// independent chains are independent draws, so a chi-square test applies; its
// threshold of 4.8 standard deviations has a false-alarm rate below 1e-6.
func TestSamplersOnEnumeratedModel(t *testing.T) {
	const (
		text      = "the [MASK] sleeps in the [MASK] ."
		chains    = 6000
		threshold = 4.8
	)
	en, tgt, _ := enumerate(t, text)
	if en.k < 40 {
		t.Fatalf("a support of %d words is too small to mean something", en.k)
	}
	p := en.probabilities()
	starts, err := tgt.start(context.Background(), 1, "", chains)
	if err != nil {
		t.Fatal(err)
	}
	count := func(x [][]int32) []int {
		c := make([]int, len(p))
		for _, s := range x {
			c[en.at(s)]++
		}
		return c
	}
	// The starts treat the blanks as independent: the test must see that they
	// are not, or it could not see a wrong sampler.
	if z := chiSquare(count(starts), p); z < 2*threshold {
		t.Fatalf("the starts pass the test (score %.1f): it has no power", z)
	}
	for _, info := range samplers.List() {
		if !info.Exact {
			continue
		}
		t.Run(info.Name, func(t *testing.T) {
			s, err := samplers.New(info.Name, nil)
			if err != nil {
				t.Fatal(err)
			}
			steps := 400
			if testing.Short() {
				steps = 200
			}
			run, err := samplers.Start(context.Background(), s, en, starts, samplers.Options{Seed: 2, ID: info.Name, Burnin: steps / 4})
			if err != nil {
				t.Skipf("needs what the table does not give: %v", err)
			}
			if err := run.Steps(context.Background(), steps, nil); err != nil {
				t.Fatal(err)
			}
			if z := chiSquare(count(run.X), p); math.Abs(z) > threshold {
				t.Errorf("the last states of %d chains differ from the enumerated distribution: score %.1f", chains, z)
			}
		})
	}
}

// Through the model itself, a handful of DMALA chains agree with the table in
// every energy they report.
func TestEngineEnergies(t *testing.T) {
	en, tgt, e := enumerate(t, "the [MASK] sleeps in the [MASK] .")
	tm, err := Parse(e.model.Tokenizer(), "the [MASK] sleeps in the [MASK] .")
	if err != nil {
		t.Fatal(err)
	}
	index := map[int32]int32{}
	for v, id := range tgt.coords[0].ids {
		index[id] = int32(v)
	}
	accepted, proposals := 0, 0
	r, err := e.Fill(context.Background(), tm, Options{Seed: 3, Chains: 8, Steps: 30, Vocab: VocabWholeWords, Top: -1, Trace: func(s Step) error {
		for k, u := range s.Energy {
			ids := s.Tokens(k)
			want := en.u[en.at([]int32{index[ids[0]], index[ids[1]]})]
			if math.Abs(u-want) > 1e-5 {
				return fmt.Errorf("step %d, chain %d: energy %v, enumerated %v", s.Step, k, u, want)
			}
			if s.Step > 15 {
				proposals++
				if s.Accepted[k] {
					accepted++
				}
			}
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := r.Acceptance, float64(accepted)/float64(proposals); math.Abs(got-want) > 1e-12 {
		t.Errorf("acceptance %v, counted %v", got, want)
	}
	chains := 0
	for i, f := range r.Fillings {
		chains += f.Count
		if i > 0 && f.Score > r.Fillings[i-1].Score {
			t.Error("fillings are not ranked by score")
		}
	}
	if chains != 8 || len(r.Fillings) != r.Distinct {
		t.Errorf("%d chains in %d fillings of %d", chains, len(r.Fillings), r.Distinct)
	}
}

// The starts are independent draws of the all-masked conditionals.
func TestStartDistribution(t *testing.T) {
	_, tgt, e := enumerate(t, "the [MASK] sleeps in the [MASK] .")
	all := rows[float32](nil, 2, e.model.VocabSize())
	if err := e.model.Independent(context.Background(), tgt.layoutOf([]int32{0, 0}, nil).sentence, all); err != nil {
		t.Fatal(err)
	}
	const chains = 20000
	x, err := tgt.start(context.Background(), 5, "", chains)
	if err != nil {
		t.Fatal(err)
	}
	for i := range tgt.coords {
		ids := tgt.coords[i].ids
		p, sum := make([]float64, len(ids)), 0.0
		for v, id := range ids {
			p[v] = math.Exp(float64(all[i][id]))
			sum += p[v]
		}
		for v := range p {
			p[v] /= sum
		}
		counts := make([]int, len(ids))
		for _, s := range x {
			counts[s[i]]++
		}
		if z := chiSquare(counts, p); math.Abs(z) > 4.8 {
			t.Errorf("blank %d: score %.1f", i+1, z)
		}
	}
}
