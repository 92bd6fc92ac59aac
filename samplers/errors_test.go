package samplers

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestStartRefuses(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 9))
	tab := newTable(rng, Categories(3, 3), 1, 0.2)
	zero := newTable(rng, Categories(2, 2), 1, 0.2)
	zero.u[0] = negInf
	ok := [][]int32{{0, 1, 2}}
	for _, c := range []struct {
		what   string
		s      Sampler
		target Target
		x0     [][]int32
		opt    Options
		is     error
	}{
		{"no chain", &DMALA{}, tab, nil, Options{}, ErrState},
		{"short state", &DMALA{}, tab, [][]int32{{0, 1}}, Options{}, ErrState},
		{"category outside", &DMALA{}, tab, [][]int32{{0, 1, 3}}, Options{}, ErrState},
		{"negative category", &DMALA{}, tab, [][]int32{{0, 1, -1}}, Options{}, ErrState},
		{"start of probability 0", &DMALA{}, zero, [][]int32{{0, 0}}, Options{}, ErrState},
		{"negative burn-in", &DMALA{}, tab, ok, Options{Burnin: -1}, ErrParam},
		{"NaN step", &DMALA{StepSize: math.NaN()}, tab, ok, Options{}, ErrParam},
		{"negative step", &DULA{StepSize: -1}, tab, ok, Options{}, ErrParam},
		{"infinite step", &DMALA{StepSize: math.Inf(1)}, tab, ok, Options{}, ErrParam},
		{"bad balance", &GWG{Balance: 9}, tab, ok, Options{}, ErrParam},
		{"too many draws", &GWG{Draws: maxDraws + 1}, tab, ok, Options{}, ErrParam},
		{"rate above 1", &Rows{Rate: 1.5}, tab, ok, Options{}, ErrParam},
		{"NaN rate", &Rows{Rate: math.NaN()}, tab, ok, Options{}, ErrParam},
		{"no conditionals for rows", &Rows{}, bare{tab}, ok, Options{}, ErrUnsupported},
		{"preconditioner of another size", &DMALA{Precondition: []float64{1}}, tab, ok, Options{}, ErrParam},
		{"preconditioner of zeros", &DMALA{Precondition: []float64{1, 0, 1}}, tab, ok, Options{}, ErrParam},
		{"NaN time", &DLMC{Time: math.NaN()}, tab, ok, Options{}, ErrParam},
		{"beta above 1", &ACS{BetaMax: 2}, tab, ok, Options{}, ErrParam},
		{"target acceptance 1", &DMALA{TargetAcceptance: 1}, tab, ok, Options{}, ErrParam},
		{"alpha-min alone", &ACS{AlphaMin: 1}, tab, ok, Options{}, ErrParam},
		{"alphas swapped", &ACS{AlphaMin: 2, AlphaMax: 1}, tab, ok, Options{}, ErrParam},
		{"jump above 1", &SGDLD{Jump: 2}, tab, ok, Options{}, ErrParam},
		{"bad rates", &SGDLD{Rates: 9}, tab, ok, Options{}, ErrParam},
		{"no ratios", &SGDLD{Rates: ratioRates}, tab, ok, Options{}, ErrUnsupported},
		{"no Taylor rates", &SGDLD{Rates: TaylorRates}, &ratios{flat: flat{Bits(2)}}, [][]int32{{0, 0}},
			Options{}, ErrUnsupported},
		{"no gradients", &DMALA{}, bare{tab}, ok, Options{}, ErrUnsupported},
		{"no conditionals", &Gibbs{}, bare{tab}, ok, Options{}, ErrUnsupported},
		{"no stochastic gradients", &SGDLD{}, bare{tab}, ok, Options{}, ErrUnsupported},
		{"no stochastic gradients for dula", &DULA{Batch: 2}, bare{tab}, ok, Options{}, ErrUnsupported},
	} {
		if _, err := Start(context.Background(), c.s, c.target, c.x0, c.opt); !errors.Is(err, c.is) {
			t.Errorf("%s: error %v, want %v", c.what, err, c.is)
		}
	}
	if _, err := Start(context.Background(), energyOnly{}, bare{tab}, ok, Options{}); err != nil {
		t.Errorf("a sampler of energies: %v", err)
	}
}

// energyOnly is a sampler that asks for energies alone: it gives a random coordinate a random value.
type energyOnly struct{}

func (energyOnly) Info() Info { return Info{Name: "energy-only"} }

func (energyOnly) Attach(c *Chains) (Kernel, error) {
	if _, err := c.Domain.movable(); err != nil {
		return nil, err
	}
	return NewMH(c, anywhere{c.Domain}, MHOptions{})
}

type anywhere struct{ *Domain }

func (p anywhere) Propose(_ int, x []int32, _ []float64, rng *rand.Rand, y []int32) float64 {
	i := rng.IntN(len(x))
	y[i] = p.Random(rng)[i]
	return 0
}

func (anywhere) Reverse(int, []int32, []int32, []float64) float64 { return 0 }

func TestDomainRefuses(t *testing.T) {
	t.Parallel()
	for what, coords := range map[string][]Coord{
		"none":             {},
		"no category":      {{Kind: Nominal}},
		"too many":         {{Kind: Nominal, K: maxCategories + 1}},
		"too many in all":  {{Kind: Nominal, K: maxCategories}, {Kind: Nominal, K: 1}},
		"three-way binary": {{Kind: Binary, K: 3}},
		"masked binary":    {{Kind: Binary, Allowed: []bool{true, false}}},
		"short mask":       {{Kind: Nominal, K: 3, Allowed: []bool{true}}},
		"empty mask":       {{Kind: Nominal, K: 2, Allowed: []bool{false, false}}},
		"NaN step":         {{Kind: Ordinal, K: 2, Step: math.NaN()}},
		"unknown kind":     {{Kind: 7, K: 2}},
	} {
		if _, err := NewDomain(coords...); !errors.Is(err, ErrDomain) {
			t.Errorf("%s: error %v", what, err)
		}
	}
}

// nowhere is a target whose energy is NaN everywhere.
type nowhere struct{ flat }

func (n nowhere) Energy(_ context.Context, x [][]int32, u []float64) error {
	for k := range x {
		u[k] = math.NaN()
	}
	return nil
}

func (n nowhere) ExactConditionals() bool { return false }

func (n nowhere) Conditional(_ context.Context, _ [][]int32, _ []int, lp [][]float64) error {
	for k := range lp {
		clear(lp[k])
	}
	return nil
}

// TestErrorsSayWhatToDo: an error names the place and the remedy.
func TestErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	domain := func(c ...Coord) error { _, err := NewDomain(c...); return err }
	begin := func(s Sampler, target Target, x0 ...[]int32) error {
		_, err := Start(ctx, s, target, x0, Options{})
		return err
	}
	masked, err := NewDomain(Coord{Kind: Nominal, K: 2, Allowed: []bool{true, false}})
	if err != nil {
		t.Fatal(err)
	}
	refresh := func() error {
		run, err := Start(ctx, &Gibbs{}, nowhere{flat{Bits(2)}}, [][]int32{{0, 1}}, Options{})
		if err != nil {
			return err
		}
		return run.Refresh(ctx)
	}
	for _, c := range []struct {
		err  error
		is   error
		says []string
	}{
		{begin(energyOnly{}, flat{masked}, []int32{0}), ErrDomain, []string{"no coordinate has more than one", "allow another category"}},
		{begin(energyOnly{}, flat{Bits(2)}), ErrState, []string{"give one start state"}},
		{begin(energyOnly{}, flat{masked}, []int32{1}), ErrState, []string{"coordinate 0 is 1", "want an allowed category"}},
		{begin(energyOnly{}, nowhere{flat{Bits(2)}}, []int32{0, 1}), ErrState, []string{"chain 0", "start it at a state of positive probability"}},
		{begin(&DMALA{}, flat{Bits(2)}, []int32{0, 1}), ErrUnsupported, []string{"dmala needs gradients", "need conditionals"}},
		{refresh(), ErrState, []string{"chain 0 at [0 1] is NaN", "gives a number or −∞"}},
		{domain(), ErrDomain, []string{"at least one coordinate"}},
		{domain(Coord{Kind: 7, K: 2}), ErrDomain, []string{"coordinate 0", "want Nominal, Binary or Ordinal"}},
		{domain(Coord{Kind: Ordinal, K: 2, Low: math.Inf(1)}), ErrDomain, []string{"coordinate 0", "+Inf", "want finite Low and Step"}},
		{domain(Coord{K: 3, Allowed: []bool{true}}), ErrDomain, []string{"coordinate 0", "1 entries for 3", "want one for each"}},
		{domain(Coord{K: 1, Allowed: []bool{false}}), ErrDomain, []string{"coordinate 0", "want at least one"}},
		{domain(Coord{Kind: Binary, Allowed: []bool{true, false}}), ErrDomain, []string{"coordinate 0", "leave a fixed coordinate out"}},
		{domain(Coord{K: maxCategories}, Coord{K: 1}), ErrDomain, []string{"use fewer"}},
	} {
		if !errors.Is(c.err, c.is) {
			t.Errorf("error %v, want %v", c.err, c.is)
			continue
		}
		for _, s := range c.says {
			if !strings.Contains(c.err.Error(), s) {
				t.Errorf("%q does not say %q", c.err, s)
			}
		}
	}
}
