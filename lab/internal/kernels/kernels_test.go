package kernels

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"infill/lab/internal/domain"
	"infill/lab/targets"
	"infill/samplers"
)

// mine makes every sampler of this package with its defaults, by name.
func mine() map[string]samplers.Sampler {
	out := map[string]samplers.Sampler{}
	for name, fresh := range own {
		if name != "dlmcf" {
			out[name] = fresh()
		}
	}
	return out
}

// New makes every sampler that Names has, and those of this package have names of their own.
func TestNew(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		if s, err := New(name, nil); err != nil || name != "dlmcf" && s.Info().Name != name {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
	for _, name := range samplers.Names() {
		if !slices.Contains(Names(), name) {
			t.Errorf("Names lacks %s", name)
		}
		if own[name] != nil {
			t.Errorf("%s is in both packages", name)
		}
	}
	for _, c := range []struct {
		name, param, value string
		is                 error
		says               string
	}{
		{"pas", "flips", "0.5", samplers.ErrParam, "from 1"},
		{"ab", "beta", "0.4", samplers.ErrParam, "from 0.5 to 1"},
		{"rwm", "singles", "maybe", samplers.ErrUnknown, "known: yes, no"},
		{"hb", "radios", "2", samplers.ErrUnknown, `did you mean "radius"?`},
		{"dlmcf", "time", "-1", samplers.ErrParam, "above 0"},
		{"dmalla", "", "", samplers.ErrUnknown, `did you mean "dmala"?`},
	} {
		params := map[string]string{c.param: c.value}
		if c.param == "" {
			params = nil
		}
		if s, err := New(c.name, params); s != nil || !errors.Is(err, c.is) ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s, %s=%s: %v, %v", c.name, c.param, c.value, s, err)
		}
	}
}

// A parameter that is written as its documented default changes nothing, and others set the field.
func TestParameters(t *testing.T) {
	t.Parallel()
	for name, s := range mine() {
		for _, p := range s.Info().Params {
			written, err := New(name, map[string]string{p.Name: p.Default})
			if err != nil {
				t.Fatal(name, p.Name, err)
			}
			a, b := walk(t, s, 1, 0), walk(t, written, 1, 0)
			if !slices.Equal(a, b) {
				t.Errorf("%s: %s=%s is not the default", name, p.Name, p.Default)
			}
		}
	}
	for _, c := range []struct {
		name, param, value string
		want               samplers.Sampler
	}{
		{"hb", "block", "2", &HammingBall{Block: 2}},
		{"block-gibbs", "block", "3", &BlockGibbs{Block: 3}},
		{"pas", "singles", "no", &PAS{NoSingles: true}},
		{"rwm", "flips", "2.5", &RWM{Flips: 2.5}},
		{"lb1", "balance", "max", &LB1{Balance: samplers.Max}},
		{"exact-gibbs", "scan", "systematic", &ExactGibbs{Systematic: true}},
		{"gwg-x", "draws", "3", &GWGX{Draws: 3}},
		{"dlmcf", "time", "0.5", &samplers.DLMC{Euler: true, Time: 0.5}},
	} {
		s, err := New(c.name, map[string]string{c.param: c.value})
		if err != nil || !reflect.DeepEqual(s, c.want) {
			t.Errorf("%s, %s=%s: %+v, %v", c.name, c.param, c.value, s, err)
		}
	}
}

// walk is where a chain of a table with three coordinates goes, number first of several.
func walk(t *testing.T, s samplers.Sampler, chains, first int) (out []int32) {
	t.Helper()
	tab := newTable(rand.New(rand.NewPCG(4, 9)), domain.Categories(3, 3), 1, 0.2)
	x0 := make([][]int32, chains)
	for k := range x0 {
		x0[k] = []int32{0, 0, 0}
	}
	run, err := samplers.Start(t.Context(), s, tab, x0, samplers.Options{Seed: 3, First: first,
		Burnin: 60})
	if err != nil {
		t.Fatal(s.Info().Name, err)
	}
	err = run.Steps(t.Context(), 90, func(r *samplers.Run) error {
		out = append(out, r.X[chains-1]...)
		return nil
	})
	if err != nil {
		t.Fatal(s.Info().Name, err)
	}
	return out
}

// A chain goes where it goes alone.
func TestChainsDoNotMatterToEachOther(t *testing.T) {
	t.Parallel()
	for name, s := range mine() {
		if !slices.Equal(walk(t, s, 4, 0), walk(t, s, 1, 3)) {
			t.Errorf("%s: chain 3 differs when run alone", name)
		}
	}
}

// Every sampler reaches π from one start, with its defaults and a burn-in.
func TestDefaultsReachTheTarget(t *testing.T) {
	t.Parallel()
	d, err := samplers.NewDomain(samplers.Coord{Kind: samplers.Nominal, K: 3},
		samplers.Coord{Kind: samplers.Binary, Low: -1, Step: 2},
		samplers.Coord{Kind: samplers.Nominal, K: 4, Allowed: []bool{true, true, false, true}})
	if err != nil {
		t.Fatal(err)
	}
	tab := newTable(rand.New(rand.NewPCG(21, 1)), d, 1, 0.3)
	x0 := matrix[int32](900, 3)
	for name, s := range mine() {
		run, err := samplers.Start(t.Context(), s, tab, x0, samplers.Options{Seed: 5, Burnin: 100})
		if err != nil {
			t.Fatal(name, err)
		}
		if err := errors.Join(run.Steps(t.Context(), 180, nil), run.Refresh(t.Context())); err != nil {
			t.Fatal(name, err)
		}
		if tv, limit := tvToPi(tab, run.X); tv > limit {
			t.Errorf("%s: total variation %.4f, limit %.4f", name, tv, limit)
		}
		for k, x := range run.X {
			if want := tab.u[tab.index(x)]; math.Abs(run.U[k]-want) > 1e-9 {
				t.Fatalf("%s: chain %d reports energy %g at a state of energy %g", name, k, run.U[k], want)
			}
		}
	}
}

func TestStartRefuses(t *testing.T) {
	t.Parallel()
	tab := newTable(rand.New(rand.NewPCG(4, 9)), domain.Categories(3, 3), 1, 0.2)
	big, err := samplers.NewDomain(samplers.Coord{Kind: samplers.Nominal, K: maxNeighbours + 1})
	if err != nil {
		t.Fatal(err)
	}
	one, err := samplers.NewDomain(samplers.Coord{Kind: samplers.Nominal, K: 2,
		Allowed: []bool{true, false}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		s      samplers.Sampler
		target samplers.Target
		is     error
	}{
		{&AB{StepSize: math.Inf(1)}, tab, samplers.ErrParam},
		{&AB{Beta: 0.4}, tab, samplers.ErrParam},
		{&PAS{Balance: 9}, tab, samplers.ErrParam},
		{&RWM{Flips: 0.5}, tab, samplers.ErrParam},
		{&RWM{TargetAcceptance: 1}, tab, samplers.ErrParam},
		{&BlockGibbs{Block: -1}, tab, samplers.ErrParam},
		{&GWGX{Draws: -1}, tab, samplers.ErrParam},
		{&PAS{}, bare{tab}, samplers.ErrUnsupported},
		{&LB1{}, flat{big}, samplers.ErrUnsupported},
		{&ExactGibbs{}, flat{big}, samplers.ErrUnsupported},
		{&BlockGibbs{Block: 14}, flat{domain.Bits(5000)}, samplers.ErrUnsupported},
		{&HammingBall{}, flat{big}, samplers.ErrUnsupported},
		{&RWM{}, flat{one}, samplers.ErrDomain},
		{&LB1{}, flat{one}, samplers.ErrDomain},
	} {
		x0 := [][]int32{make([]int32, c.target.Domain().Len())}
		_, err := samplers.Start(t.Context(), c.s, c.target, x0, samplers.Options{})
		if !errors.Is(err, c.is) {
			t.Errorf("%s %+v: %v, want %v", c.s.Info().Name, c.s, err, c.is)
		}
	}
	// A block may be larger than what there is, and these need energies only.
	for _, s := range []samplers.Sampler{&RWM{}, &ExactGibbs{}, &LB1{}, &HammingBall{Block: 10},
		&BlockGibbs{Block: 1000}} {
		_, err := samplers.Start(t.Context(), s, bare{tab}, [][]int32{{0, 1, 2}}, samplers.Options{})
		if err != nil {
			t.Errorf("%s: %v", s.Info().Name, err)
		}
	}
}

// sick has energies and gradients that are not numbers at some states.
type sick struct {
	*tableTarget
	u     map[int]float64
	grad  map[int]float64
	entry int // of the gradient, which grad sets
}

func (s sick) Energy(_ context.Context, x [][]int32, u []float64) error {
	for k := range x {
		u[k] = s.tableTarget.u[s.index(x[k])]
		if e, bad := s.u[s.index(x[k])]; bad {
			u[k] = e
		}
	}
	return nil
}

func (s sick) EnergyGrad(ctx context.Context, x [][]int32, u []float64, g [][]float64) error {
	for k := range x {
		copy(g[k], s.tableTarget.grad[s.index(x[k])])
		if e, bad := s.grad[s.index(x[k])]; bad {
			g[k][s.entry] = e
		}
	}
	return s.Energy(ctx, x, u)
}

// What is not a number is rejected and counted, and never spreads.
func TestSickTargets(t *testing.T) {
	t.Parallel()
	for _, d := range []*samplers.Domain{domain.Categories(2, 3), domain.Bits(3),
		domain.Integers(3, 3, 0)} {
		tab := newTable(rand.New(rand.NewPCG(6, 9)), d, 0.3, 0)
		for entry := range d.GradLen() {
			s := sick{tab, map[int]float64{2: math.NaN(), 3: math.Inf(1), 4: negInf},
				map[int]float64{1: math.NaN()}, entry}
			for name, sampler := range mine() {
				run, err := samplers.Start(t.Context(), sampler, s, [][]int32{make([]int32, d.Len())},
					samplers.Options{Seed: 2, Burnin: 50})
				if err != nil {
					t.Fatal(name, err)
				}
				err = run.Steps(t.Context(), 1000, func(r *samplers.Run) error {
					at := tab.index(r.X[0])
					if at >= 2 && at <= 4 || !finite(r.U[0]) || r.Grad != nil && at == 1 {
						return fmt.Errorf("at state %d of energy %g", at, r.U[0])
					}
					return nil
				})
				st := run.Stats[0]
				if err != nil || st.NonFinite == 0 || st.Zero == 0 || st.Moved < 20 {
					t.Errorf("%s: %v, counted %+v", name, err, st)
				}
				for _, v := range run.Tuning(0) {
					if !finite(v) {
						t.Errorf("%s: tuned to %g", name, v)
					}
				}
			}
		}
	}
}

// TestCalls: on 12 binary coordinates a step has the calls that DLMC's paper and its public code
// count (2 for RWM, 2² for blocks of two, 11 for balls of radius 1 about blocks of ten).
func TestCalls(t *testing.T) {
	t.Parallel()
	tab := newTable(rand.New(rand.NewPCG(4, 10)), domain.Bits(12), 1, 0)
	for name, want := range map[string]int{"pas": 4, "gwg-x": 4, "ab": 4, "rwm": 2, "block-gibbs": 4,
		"hb": 11, "dlmc": 4, "dmala": 4, "gwg": 4, "acs": 4, "rows": 4, "dula": 1} {
		s := mine()[name]
		if s == nil {
			var err error
			if s, err = samplers.New(name, nil); err != nil {
				t.Fatal(err)
			}
		}
		run, err := samplers.Start(t.Context(), s, tab, matrix[int32](1, 12), samplers.Options{Seed: 1})
		if err != nil {
			t.Fatal(name, err)
		}
		run.ResetStats()
		if err := run.Steps(t.Context(), 30, nil); err != nil {
			t.Fatal(name, err)
		}
		if got := Calls(s.Info(), run.Stats[0]); got != 30*want || run.Stats[0].Evals > got {
			t.Errorf("%s: %d calls and %d evaluations in 30 steps", name, got, run.Stats[0].Evals)
		}
	}
}

// hears is a table that records which states are asked for each chain.
type hears struct {
	*tableTarget
	asked map[int][]string
}

// ChainEnergy implements samplers.ChainEnergizer.
func (h hears) ChainEnergy(ctx context.Context, from samplers.Origins, x [][]int32, u []float64,
	grad [][]float64) error {
	for j, k := range from.Chain {
		h.asked[k] = append(h.asked[k], fmt.Sprint(x[j], grad != nil))
	}
	if !slices.IsSorted(from.Chain) || len(from.Chain) != len(x) {
		return fmt.Errorf("%d states of the chains %v", len(x), from.Chain)
	}
	if grad == nil {
		return h.Energy(ctx, x, u)
	}
	return h.EnergyGrad(ctx, x, u, grad)
}

// What a sampler asks for a chain is what it asks for that chain alone, also where the states of a
// step are more than go to the target in a call.
func TestChainEnergy(t *testing.T) {
	t.Parallel()
	small := newTable(rand.New(rand.NewPCG(5, 1)), domain.Bits(4), 1, 0.5)
	large := newTable(rand.New(rand.NewPCG(5, 2)), domain.Categories(7, 3), 1, 0)
	asks := func(tab *tableTarget, s samplers.Sampler, chains, first, steps int) map[int][]string {
		h := hears{tab, map[int][]string{}}
		run, err := samplers.Start(t.Context(), s, h, matrix[int32](chains, tab.dom.Len()),
			samplers.Options{Seed: 1, First: first, Burnin: steps})
		if err == nil {
			err = run.Steps(t.Context(), steps, nil)
		}
		if err != nil {
			t.Fatal(s.Info().Name, err)
		}
		return h.asked
	}
	check := func(tab *tableTarget, s samplers.Sampler, steps int) {
		all := asks(tab, s, 3, 0, steps)
		for k := range 3 {
			if alone := asks(tab, s, 1, k, steps)[0]; len(alone) == 0 || !slices.Equal(all[k], alone) {
				t.Errorf("%s: chain %d asks for other states than alone", s.Info().Name, k)
			}
		}
	}
	for s := range maps.Values(mine()) {
		check(small, s, 25)
	}
	check(large, &BlockGibbs{Block: 7}, 2)
	check(large, &HammingBall{Block: 7, Radius: 7}, 2)
}

// changing is a target whose table is exchanged in the middle of a run.
type changing struct{ *tableTarget }

// After a change of the target every sampler makes the steps that a run makes which begins at its
// states.
func TestRetargetIsAFreshRun(t *testing.T) {
	t.Parallel()
	d := domain.Categories(2, 3)
	a := newTable(rand.New(rand.NewPCG(3, 1)), d, 1.5, 0.5)
	b := newTable(rand.New(rand.NewPCG(4, 1)), d, 1.5, 0.5)
	for name := range mine() {
		target := &changing{a}
		x0 := make([][]int32, 50)
		for k := range x0 {
			x0[k] = a.states[k%len(a.states)]
		}
		run, err := samplers.Start(t.Context(), mine()[name], target, x0, samplers.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		// The order of the coordinates that steps leave behind is not a matter of the target.
		steps := 7
		if slices.Contains([]string{"rwm", "block-gibbs", "hb"}, name) {
			steps = 0
		}
		if err := run.Steps(t.Context(), steps, nil); err != nil {
			t.Fatal(err)
		}
		target.tableTarget = b
		for k := range run.RNG {
			run.RNG[k] = samplers.NewStream(99, "again", k)
		}
		fresh, err := samplers.Start(t.Context(), mine()[name], b, run.X,
			samplers.Options{Seed: 99, ID: "again"})
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Retarget(t.Context()); err != nil {
			t.Fatal(name, err)
		}
		for range 10 {
			if err := errors.Join(run.Step(t.Context()), fresh.Step(t.Context())); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(run.X, fresh.X) {
				t.Fatalf("%s: not the steps of a fresh run", name)
			}
		}
	}
}

func TestStepsDoNotAllocate(t *testing.T) {
	modes := must(targets.NewModes(2, 6, 2, nil))
	potts := must(targets.NewPotts(3, 3, 3, false, 0.5, []float64{0, 0, 0}))
	ising := must(targets.NewIsing(4, 4, true, 0.1, []float64{0.2}, false))
	for _, target := range []samplers.Target{ising, potts, modes} {
		for name, s := range mine() {
			run, err := samplers.Start(t.Context(), s, target,
				matrix[int32](3, target.Domain().Len()), samplers.Options{Seed: 1, Burnin: 20})
			if err != nil {
				t.Fatal(name, err)
			}
			if err := run.Steps(t.Context(), 40, nil); err != nil {
				t.Fatal(name, err)
			}
			if n := testing.AllocsPerRun(50, func() {
				if err := run.Step(context.Background()); err != nil {
					t.Fatal(err)
				}
			}); n != 0 {
				t.Errorf("%s on %T: %g allocations a step", name, target, n)
			}
		}
	}
}
