package infill

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"sync"
	"testing"

	"infill/infill/internal/target"
	"infill/infill/text"
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
	masked [][]float64 // log f of every word at either blank
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

func (e *enumerated) EnergyGrad(
	ctx context.Context, x [][]int32, u []float64, grad [][]float64,
) error {
	for i := range x {
		copy(grad[i], e.grad[e.at(x[i])])
	}
	return e.Energy(ctx, x, u)
}

func (e *enumerated) ExactConditionals() bool { return false }

func (e *enumerated) Conditional(
	_ context.Context, x [][]int32, i []int, logp [][]float64,
) error {
	for n := range x {
		copy(logp[n], e.masked[e.at(x[n])][i[n]*e.k:(i[n]+1)*e.k])
	}
	return nil
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
func targetOf(t testing.TB, e *Engine, tm *text.Template, opt Options) *target.Target {
	t.Helper()
	if err := opt.Prepare(); err != nil {
		t.Fatal(err)
	}
	p, err := e.resolve(t.Context(), tm, &opt)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Choices) != 1 {
		t.Fatalf("%d lengths", len(p.Choices))
	}
	return p.Choices[0].Target
}

// enumerate evaluates every state of a template through the engine's own target.
func enumerate(t *testing.T, text string) (*enumerated, *target.Target, *Engine) {
	t.Helper()
	return enumerateWith(t, tiny(t), text)
}

func enumerateWith(t *testing.T, m *mlm.Model, line string) (*enumerated, *target.Target, *Engine) {
	t.Helper()
	e := New(m)
	tm, err := text.Parse(m.Tokenizer(), line)
	if err != nil {
		t.Fatal(err)
	}
	tgt := targetOf(t, e, tm, Options{Words: WordOptions{Vocab: text.VocabWholeWords}})
	k := tgt.Product.K(0)
	en := &enumerated{
		domain: tgt.Product, k: k, u: make([]float64, k*k), grad: zeros[float64](k*k, 2*k),
		masked: zeros[float64](k*k, 2*k),
	}
	for a := range k {
		x := make([][]int32, k)
		for b := range x {
			x[b] = []int32{int32(a), int32(b)}
		}
		if !e.model.Info().Gradients {
			tgt.Mode = mlm.Forward
		}
		if err := tgt.EnergyGrad(context.Background(), x, en.u[a*k:(a+1)*k], en.grad[a*k:(a+1)*k]); err != nil {
			t.Fatal(err)
		}
		tgt.Mode = mlm.Forward // the first term of the gradient: the masked conditionals
		err := tgt.EnergyGrad(context.Background(), x, make([]float64, k), en.masked[a*k:(a+1)*k])
		tgt.Mode = mlm.Full
		if err != nil {
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

// draw draws n states from the enumerated distribution itself.
func (e *enumerated) draw(p []float64, n int, rng *rand.Rand) [][]int32 {
	cum := make([]float64, len(p))
	sum := 0.0
	for i, q := range p {
		sum += q
		cum[i] = sum
	}
	x := make([][]int32, n)
	for i := range x {
		s := min(sort.SearchFloat64s(cum, rng.Float64()*sum), len(p)-1)
		x[i] = []int32{int32(s / e.k), int32(s % e.k)}
	}
	return x
}

func (e *enumerated) count(x [][]int32) []int {
	c := make([]int, len(e.u))
	for _, s := range x {
		c[e.at(s)]++
	}
	return c
}

// A chi-square score beyond this many standard deviations is taken for an
// error; by chance that happens less than once in a million tests.
const threshold = 4.9

// tempered is p raised to the power of b, and normalised.
func tempered(p []float64, b float64) []float64 {
	out := make([]float64, len(p))
	sum := 0.0
	for i, v := range p {
		out[i] = math.Pow(v, b)
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

// fixed makes a sampler whose automatic values are given: chosen from the start
// they would make the start matter for a while, given they leave π invariant at
// once.
func fixed(t *testing.T, info samplers.Info) samplers.Sampler {
	t.Helper()
	params := map[string]string{}
	for _, p := range info.Params {
		if p.Name == "time" || p.Name == "step-size" && p.Auto {
			params[p.Name] = "0.5"
		}
	}
	s, err := samplers.New(info.Name, params)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Every exact sampler leaves the enumerated joint distribution of two blanks
// as it is: chains that start from it (independent draws) are distributed by it
// after any number of steps, however slowly they mix. The test has power: a
// sampler that left another distribution invariant would fail, which is seen by
// starting from π to the power of 0.7, and not only because it moves so little
// that the start remains.
func TestSamplersOnEnumeratedModel(t *testing.T) {
	t.Parallel()
	en, tgt, _ := enumerate(t, "the [MASK] sleeps in the [MASK] .")
	if en.k < 40 {
		t.Fatalf("a support of %d words is too small to mean something", en.k)
	}
	const chains = 4000
	p := en.probabilities()
	// The engine's starts treat the blanks as independent: the test must see
	// that they are not, or it could not see a wrong sampler.
	starts, err := started(context.Background(), tgt, 1, "", chains)
	if err != nil {
		t.Fatal(err)
	}
	if z := chiSquare(en.count(starts), p); z < 4*threshold {
		t.Fatalf("the starts pass the test (score %.1f): it has no power", z)
	}
	after := func(s samplers.Sampler, q []float64) (z float64, moved int, err error) {
		x0 := en.draw(q, chains, samplers.NewStream(3, s.Info().Name, 0))
		run, err := samplers.Start(
			context.Background(), s, en, x0, samplers.Options{Seed: 2, ID: s.Info().Name},
		)
		if err != nil {
			return 0, 0, err
		}
		err = run.Steps(context.Background(), 10, nil)
		for k := range x0 {
			if en.at(x0[k]) != en.at(run.X[k]) {
				moved++
			}
		}
		return chiSquare(en.count(run.X), q), moved, err
	}
	for _, info := range samplers.List() {
		t.Run(info.Name, func(t *testing.T) {
			t.Parallel()
			z, moved, err := after(fixed(t, info), p)
			if errors.Is(err, samplers.ErrUnsupported) {
				t.Skipf("not for a table of energies: %v", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			if moved < chains/2 {
				t.Errorf("only %d of %d chains are elsewhere: the test says little", moved, chains)
			}
			if !info.Exact {
				return
			}
			if math.Abs(z) > threshold {
				t.Errorf("chains leave the distribution: score %.1f", z)
			}
			wrong, _, err := after(fixed(t, info), tempered(p, 0.7))
			if err != nil || wrong < 2*threshold {
				t.Errorf(
					"a distribution that is not the sampler's passes with a score of %.1f (%v)", wrong, err,
				)
			}
			t.Logf(
				"score %.2f, of another distribution %.1f; %d of %d chains elsewhere", z, wrong, moved, chains,
			)
		})
	}
	// DULA with a large step is biased, and the test says so.
	if z, _, err := after(&samplers.DULA{StepSize: 0.5}, p); err != nil || z < threshold {
		t.Errorf("DULA, which is biased, passes with a score of %.1f (%v)", z, err)
	}
}

// DMALA with an adapted step size brings chains from the engine's starts
// towards the joint distribution.
func TestConvergence(t *testing.T) {
	t.Parallel()
	en, tgt, _ := enumerate(t, "the [MASK] sleeps in the [MASK] .")
	const chains = 2000
	starts, err := started(context.Background(), tgt, 1, "", chains)
	if err != nil {
		t.Fatal(err)
	}
	run, err := samplers.Start(
		context.Background(), &samplers.DMALA{}, en, starts, samplers.Options{Seed: 2, Burnin: 50},
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Steps(context.Background(), 150, nil); err != nil {
		t.Fatal(err)
	}
	p := en.probabilities()
	if before, now := chiSquare(en.count(starts), p), chiSquare(en.count(run.X), p); now > before/8 {
		t.Errorf("score %.1f at the start, %.1f after 150 steps", before, now)
	}
}

// Through the model itself, a handful of DMALA chains agree with the table in
// every energy they report.
func TestEngineEnergies(t *testing.T) {
	t.Parallel()
	en, tgt, e := enumerate(t, "the [MASK] sleeps in the [MASK] .")
	tm, err := text.Parse(e.model.Tokenizer(), "the [MASK] sleeps in the [MASK] .")
	if err != nil {
		t.Fatal(err)
	}
	index := map[int32]int32{}
	for v, id := range tgt.Coords[0].IDs {
		index[id] = int32(v)
	}
	accepted, proposals, steps := 0, 0, 0
	r, err := e.Fill(
		context.Background(), tm,
		Options{
			Seed: 3, Sampling: SamplingOptions{Chains: 8, Steps: 30},
			Words: WordOptions{Vocab: text.VocabWholeWords},
			Results: ResultOptions{All: true, Score: ScorePLL,
				Collect: CollectLast},
			Watch: WatchOptions{Trace: func(s Step) error {
				for k, u := range s.Energy {
					ids := s.Tokens(k)
					want := en.u[en.at([]int32{index[ids[0]], index[ids[1]]})]
					if math.Abs(u-want) > 1e-5 {
						return fmt.Errorf("step %d, chain %d: energy %v, enumerated %v", s.Step, k, u, want)
					}
					if s.Step > 15 {
						steps++
						if s.Proposed[k] {
							proposals++
						}
						if s.Accepted[k] {
							accepted++
						}
					}
				}
				return nil
			}},
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := r.MoveShare, float64(proposals)/float64(steps); math.Abs(got-want) > 1e-12 ||
		proposals == steps {
		t.Errorf("share of moves %v, counted %v", got, want)
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
	t.Parallel()
	_, tgt, e := enumerate(t, "the [MASK] sleeps in the [MASK] .")
	all := zeros[float32](2, e.model.VocabSize())
	if err := e.model.Independent(context.Background(), tgt.LayoutOf([]int32{0, 0}, nil).Sentence, all); err != nil {
		t.Fatal(err)
	}
	const chains = 20000
	x, err := started(context.Background(), tgt, 5, "", chains)
	if err != nil {
		t.Fatal(err)
	}
	for i := range tgt.Coords {
		ids := tgt.Coords[i].IDs
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
