package samplers_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"infill/samplers"
)

// small is a target with every ability that an enumeration can give.
func small() *ising {
	return newIsing(3, 0.4, 0.4, -0.3, 0.1, 0.2, -0.6, 0, -0.2, 0.5, -0.1)
}

func zeros(chains, n int) [][]int32 {
	out := make([][]int32, chains)
	for k := range out {
		out[k] = make([]int32, n)
	}
	return out
}

// heatBath is a kernel written outside the package. It draws each state from π by the energies of a coordinate's two values.
type heatBath struct {
	c *samplers.Chains
	u []float64
}

func (heatBath) Info() samplers.Info { return samplers.Info{Name: "heat-bath"} }

func (h heatBath) Attach(c *samplers.Chains) (samplers.Kernel, error) {
	return heatBath{c, make([]float64, c.Len())}, nil
}

func (h heatBath) Prepare(ctx context.Context) error { return h.c.StartEnergies(ctx) }

func (h heatBath) Step(ctx context.Context) error {
	y := make([][]int32, h.c.Len())
	site := make([]int, h.c.Len())
	for k, x := range h.c.X {
		site[k] = h.c.RNG[k].IntN(len(x))
		y[k] = slices.Clone(x)
		y[k][site[k]] = 1 - x[site[k]]
	}
	if err := h.c.Target.Energy(ctx, y, h.u); err != nil {
		return err
	}
	for k := range y {
		h.c.Last[k] = samplers.Move{Prob: 1}
		if h.c.RNG[k].Float64() < 1/(1+math.Exp(h.c.U[k]-h.u[k])) {
			h.c.Last[k] = samplers.Move{Moved: true, Accepted: true, Prob: 1, Flips: 1, Hamming: 1}
			h.c.X[k], h.c.U[k] = y[k], h.u[k]
		}
	}
	return nil
}

// TestOutsideKernel: a kernel from outside works from the energies of the starts, and its moves are
// counted.
func TestOutsideKernel(t *testing.T) {
	t.Parallel()
	m := small()
	run, err := samplers.Start(
		context.Background(), heatBath{}, m, zeros(20, 9), samplers.Options{Seed: 4, Burnin: 50},
	)
	if err != nil {
		t.Fatal(err)
	}
	for k, u := range run.U {
		if math.IsNaN(u) {
			t.Fatalf("chain %d starts at energy NaN", k)
		}
	}
	checkSpins(t, m, run, 3000)
	var st samplers.Stats
	for _, s := range run.Stats {
		st.Add(s)
	}
	if st.Steps != 20*3000 || st.Accepted != st.Moved || st.Moved < st.Steps/10 ||
		st.Moved != st.Hamming {
		t.Errorf("counted %+v", st)
	}
}

// ups counts how often each bit is 1.
type ups struct {
	ones  []float64
	total float64
}

func (u *ups) Observe(r *samplers.Run) error {
	if u.ones == nil {
		u.ones = make([]float64, r.Domain.Len())
	}
	for _, x := range r.X {
		u.total++
		for i, v := range x {
			u.ones[i] += float64(v)
		}
	}
	return nil
}

func (u *ups) share(i int) float64 { return u.ones[i] / u.total }

// checkSpins compares the marginals of n steps with the enumeration. The sites
// are visited every 9 steps or so, so that n steps of 20 chains are at least n/2
// independent draws: five standard errors are allowed.
func checkSpins(t *testing.T, m *ising, run *samplers.Run, n int) {
	t.Helper()
	truth, err := m.up(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var got ups
	if err := run.Sample(context.Background(), n, got.Observe); err != nil {
		t.Fatal(err)
	}
	for i := range m.Domain().Len() {
		p := truth[i]
		if limit := 5 * math.Sqrt(p*(1-p)/float64(n/2)); !(math.Abs(got.share(i)-p) < limit) {
			t.Errorf("P(spin %d is up) = %.4f, exact %.4f ± %.4f", i, got.share(i), p, limit)
		}
	}
}

// TestOutsideSampler: the sampler of the example is right, and the same without
// its reverse probability is caught.
func TestOutsideSampler(t *testing.T) {
	t.Parallel()
	m := small()
	run, err := samplers.Start(
		context.Background(), flip{}, m, zeros(20, 9), samplers.Options{Seed: 5, Burnin: 50},
	)
	if err != nil {
		t.Fatal(err)
	}
	checkSpins(t, m, run, 3000)
	info := flip{}.Info()
	if info.Name != "flip" || info.Exact || info.Corrected || len(info.Needs) != 0 {
		t.Errorf("a sampler that does not describe itself is %+v", info)
	}
}

// recorder is a proposal with every optional ability, which checks the order of
// its calls.
type recorder struct {
	t      *testing.T
	c      *samplers.Chains
	log    []string
	frozen []bool
	propos []int
}

func (r *recorder) Info() samplers.Info { return samplers.Info{Name: "recorder"} }

func (r *recorder) Attach(c *samplers.Chains) (samplers.Kernel, error) {
	r.c, r.frozen, r.propos = c, make([]bool, c.Len()), make([]int, c.Len())
	return samplers.NewMH(c, r, samplers.MHOptions{Gradient: true})
}

func (r *recorder) note(what string, k int) { r.log = append(r.log, fmt.Sprint(what, k)) }

func (r *recorder) Propose(k int, x []int32, g []float64, rng *rand.Rand, y []int32) float64 {
	r.note("propose", k)
	r.propos[k]++
	if !slices.Equal(x, y) || len(g) != r.c.Domain.GradLen() {
		r.t.Errorf("proposing from %v with y = %v and %d gradients", x, y, len(g))
	}
	switch r.propos[k] % 5 {
	case 0:
		return math.Inf(1) // nothing to draw
	case 1:
		return 0 // stays
	}
	y[0] = 1 - x[0]
	return 0
}

func (r *recorder) Reverse(k int, x, y []int32, g []float64) float64 {
	r.note("reverse", k)
	switch r.propos[k] % 5 {
	case 2:
		return math.Inf(-1) // no way back
	case 3:
		return math.NaN()
	}
	return 1e9 // accepted for certain
}

func (r *recorder) Adapt(k int, m samplers.Move) {
	r.note("adapt", k)
	if r.frozen[k] {
		r.t.Error("adapted after the burn-in")
	}
}

func (r *recorder) Freeze(k int) {
	r.note("freeze", k)
	if r.frozen[k] {
		r.t.Error("frozen twice")
	}
	r.frozen[k] = true
}
func (r *recorder) Start(k int, x []int32, g []float64) { r.note("start", k) }
func (r *recorder) Enter(k int, x []int32, g []float64) { r.note("enter", k) }
func (r *recorder) Accepted(k int)                      { r.note("accepted", k) }
func (r *recorder) Tuning(int) map[string]float64       { return nil }

func (r *recorder) Schedule(_ context.Context, done int, untested []bool) error {
	r.note("schedule", done)
	if len(untested) != 1 || untested[0] {
		r.t.Errorf("step %d begins with untested steps %v", done, untested)
	}
	return nil
}

// TestSeams: a proposal's abilities are called when their documentation says.
func TestSeams(t *testing.T) {
	t.Parallel()
	for _, burnin := range []int{0, 3} {
		r := &recorder{t: t}
		run, err := samplers.Start(
			context.Background(), r, small(), zeros(1, 9), samplers.Options{Burnin: burnin},
		)
		if err != nil {
			t.Fatal(err)
		}
		step := func(want ...string) {
			t.Helper()
			r.log = nil
			if err := run.Step(context.Background()); err != nil {
				t.Fatal(err)
			}
			if burnin > 0 && run.Done() <= burnin {
				want = append(want, "adapt0")
			}
			if run.Done() == burnin {
				want = append(want, "freeze0")
			}
			if want = append([]string{fmt.Sprint("schedule", run.Done()-1), "propose0"}, want...); !slices.Equal(
				r.log, want,
			) {
				t.Errorf("step %d with burn-in %d calls %v, want %v", run.Done(), burnin, r.log, want)
			}
		}
		want := []string{"enter0", "start0"}
		if burnin == 0 {
			want = append(want, "freeze0")
		}
		if !slices.Equal(r.log, want) {
			t.Errorf("starting with burn-in %d calls %v, want %v", burnin, r.log, want)
		}
		step()           // stays
		step("reverse0") // no way back
		step("reverse0") // NaN
		if s := run.Stats[0]; s.Accepted != 0 || s.NonFinite != 1 || run.Last[0].Accepted {
			t.Errorf("after a step that stays, one without a way back and one of NaN: %+v", s)
		}
		before := run.X[0][0]
		step("reverse0", "accepted0")
		if run.X[0][0] == before || run.Last[0].Prob != 1 {
			t.Errorf("a move that is certain was not made: %+v", run.Last[0])
		}
		step() // nothing to draw
		if s := run.Stats[0]; s.NonFinite != 2 || s.Steps != 5 || s.Moved != 3 || run.X[0][0] == before {
			t.Errorf("after five steps: %+v", s)
		}
	}
}

// TestTuningAtTheEndOfTheBurnin: what a sampler says it adapted when the burn-in
// is over is what it uses from then on.
func TestTuningAtTheEndOfTheBurnin(t *testing.T) {
	t.Parallel()
	tuned := 0
	for _, info := range samplers.List() {
		s, err := samplers.New(info.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		run, err := samplers.Start(
			context.Background(), s, small(), zeros(2, 9), samplers.Options{Seed: 2, Burnin: 150},
		)
		if errors.Is(err, samplers.ErrUnsupported) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Steps(context.Background(), 150, nil); err != nil {
			t.Fatal(err)
		}
		at := maps.Clone(run.Tuning(1))
		if err := run.Steps(context.Background(), 20, nil); err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(at, run.Tuning(1)) {
			t.Errorf("%s: %v at the end of the burn-in, %v after it", info.Name, at, run.Tuning(1))
		}
		if at != nil {
			tuned++
		}
	}
	if tuned < 5 {
		t.Errorf("%d samplers say what they tuned", tuned)
	}
}

type noDomain struct{ *ising }

func (noDomain) Domain() *samplers.Domain { return nil }

type noKernel struct{ flip }

func (noKernel) Attach(*samplers.Chains) (samplers.Kernel, error) { return nil, nil }

// TestNothingToStart: nil arguments are errors, not panics.
func TestNothingToStart(t *testing.T) {
	t.Parallel()
	m := small()
	for _, c := range []struct {
		what   string
		s      samplers.Sampler
		target samplers.Target
		is     error
	}{
		{"no sampler", nil, m, samplers.ErrParam},
		{"nil sampler", (*samplers.DMALA)(nil), m, samplers.ErrParam},
		{"no target", &samplers.DMALA{}, nil, samplers.ErrDomain},
		{"nil target", &samplers.DMALA{}, (*ising)(nil), samplers.ErrDomain},
		{"no domain", &samplers.DMALA{}, noDomain{m}, samplers.ErrDomain},
		{"no kernel", noKernel{}, m, samplers.ErrUnsupported},
	} {
		_, err := samplers.Start(context.Background(), c.s, c.target, zeros(1, 9), samplers.Options{})
		if !errors.Is(err, c.is) {
			t.Errorf("%s: %v, want %v", c.what, err, c.is)
		}
	}
}

// TestSample: visits see the steps after the burn-in only, and a second call goes
// on where the first ended.
func TestSample(t *testing.T) {
	t.Parallel()
	run, err := samplers.Start(
		context.Background(), &samplers.GWG{}, small(), zeros(2, 9), samplers.Options{Burnin: 30},
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Steps(context.Background(), 10, nil); err != nil { // part of it by hand
		t.Fatal(err)
	}
	var seen []int
	see := func(r *samplers.Run) error { seen = append(seen, r.Done()); return nil }
	for range 2 {
		if err := run.Sample(context.Background(), 5, see, nil); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(seen, []int{31, 32, 33, 34, 35, 36, 37, 38, 39, 40}) || run.Stats[1].Steps != 10 {
		t.Errorf("saw steps %v, counted %d", seen, run.Stats[1].Steps)
	}
	stop := errors.New("stop")
	if err := run.Sample(context.Background(), 5, see, func(*samplers.Run) error { return stop }); err != stop ||
		len(seen) != 11 {
		t.Errorf("a visit's error is %v after %d steps", err, len(seen)-10)
	}
}

// TestInfoSaysWhatSamplersDo: a sampler that Info calls corrected refuses
// proposals, and every other one takes every draw.
func TestInfoSaysWhatSamplersDo(t *testing.T) {
	t.Parallel()
	for _, info := range samplers.List() {
		s, err := samplers.New(info.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		run, err := samplers.Start(context.Background(), s, noisy{small()}, zeros(4, 9), samplers.Options{})
		if err != nil {
			t.Fatal(info.Name, err)
		}
		refused := 0
		if err := run.Steps(context.Background(), 300, func(r *samplers.Run) error {
			for _, m := range r.Last {
				if m.Moved && !m.Accepted {
					refused++
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		// Gibbs–MH from exact conditionals has nothing to refuse.
		if refused > 0 != info.Corrected && info.Name != "gibbs-mh" {
			t.Errorf(
				"%s: corrected is %v, and %d proposals were refused", info.Name, info.Corrected, refused,
			)
		}
		if got := s.Info(); got.Name != info.Name || got.Corrected != info.Corrected {
			t.Errorf("%s describes itself as %+v", info.Name, got)
		}
		if info.Corrected && !info.Exact || len(info.Needs) == 0 || info.Needs[0].String() == "" {
			t.Errorf("%+v", info)
		}
	}
	if n := (&samplers.DULA{Batch: 2}).Info().Needs; len(n) != 1 || n[0].String() != "stochastic gradients" {
		t.Errorf("dula with mini-batches needs %v", n)
	}
}
