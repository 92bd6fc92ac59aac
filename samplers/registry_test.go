package samplers

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestRegistryNames(t *testing.T) {
	want := []string{"gibbs", "gibbs-mh", "exact-gibbs", "block-gibbs", "hb", "lb1", "gwg", "pas", "rwm", "dula", "dmala", "dlmc", "dlmcf", "ab", "acs", "sgdld"}
	for _, name := range want {
		s, err := New(name, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if s.Name() != name {
			t.Errorf("%s makes a sampler named %s", name, s.Name())
		}
	}
	if len(List()) != len(want) {
		t.Errorf("%d samplers registered, want %d", len(List()), len(want))
	}
}

// TestDefaultsAreZeroValues checks that writing a parameter's documented
// default changes nothing, by comparing runs.
func TestDefaultsAreZeroValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 9))
	tab := newTable(rng, Categories(3, 3), 1, 0.2)
	trace := func(name string, params map[string]string) (out []int32) {
		s, err := New(name, params)
		if err != nil {
			t.Fatalf("%s %v: %v", name, params, err)
		}
		run, err := Start(context.Background(), s, tab, [][]int32{{0, 0, 0}}, Options{Seed: 3, Burnin: 60})
		if err != nil {
			t.Fatalf("%s %v: %v", name, params, err)
		}
		if err := run.Steps(context.Background(), 90, func(r *Run) error { out = append(out, r.X[0]...); return nil }); err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, info := range List() {
		base := trace(info.Name, nil)
		for _, p := range info.Params {
			if got := trace(info.Name, map[string]string{p.Name: p.Default}); !equal(got, base) {
				t.Errorf("%s: %s=%s is not the default", info.Name, p.Name, p.Default)
			}
		}
	}
}

func equal(a, b []int32) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}

func TestNewRefusesBadInput(t *testing.T) {
	for _, c := range []struct {
		name, param, value string
		is                 error
		says               string
	}{
		{"dmalla", "", "", ErrUnknown, `did you mean "dmala"?`},
		{"DMALA", "", "", ErrUnknown, `did you mean "dmala"?`},
		{"gibs", "", "", ErrUnknown, `did you mean "gibbs"?`},
		{"xyzzyxyzzy", "", "", ErrUnknown, "known: gibbs"},
		{"", "", "", ErrUnknown, "known:"},
		{"dmala", "stepsize", "1", ErrUnknown, `did you mean "step-size"?`},
		{"dmala", "step-size", "NaN", ErrParam, "above 0"},
		{"dmala", "step-size", "-1", ErrParam, "above 0"},
		{"dmala", "step-size", "0", ErrParam, "above 0"},
		{"dmala", "step-size", "Inf", ErrParam, "above 0"},
		{"dmala", "step-size", "abc", ErrParam, "auto or a number"},
		{"dmala", "balance", "sqrrt", ErrUnknown, `did you mean "sqrt"?`},
		{"dmala", "target-acceptance", "1", ErrParam, "up to 0.999"},
		{"pas", "flips", "0.5", ErrParam, "from 1"},
		{"gwg", "draws", "1.5", ErrParam, "whole number"},
		{"gwg", "draws", "-3", ErrParam, "from 1"},
		{"ab", "beta", "0.4", ErrParam, "from 0.5 to 1"},
		{"acs", "cycle", "0", ErrParam, "from 1"},
		{"acs", "power", "0", ErrParam, "power"},
		{"acs", "beta-max", "2", ErrParam, "up to 1"},
		{"acs", "fixed-beta", "maybe", ErrUnknown, "known: no, yes"},
		{"sgdld", "cache", "none", ErrUnknown, "known: yes, no"},
		{"dmala", "precondition", "1/0/1", ErrParam, "none or a number for each coordinate, as in 2/1/0.5, each above 0"},
		{"dmala", "precondition", "1/", ErrParam, "for each coordinate"},
		{"dula", "precondition", "1:2", ErrParam, "for each coordinate"},
		{"dula", "precondition", "1/NaN", ErrParam, "for each coordinate"},
		{"dmala", "precondition", "auto", ErrParam, "none or"},
		{"sgdld", "jump", "1.5", ErrParam, "up to 1"},
		{"gibbs", "scan", "randm", ErrUnknown, `did you mean "random"?`},
	} {
		params := map[string]string{}
		if c.param != "" {
			params[c.param] = c.value
		}
		_, err := New(c.name, params)
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("New(%q, %s=%s) = %v, want %v that says %q", c.name, c.param, c.value, err, c.is, c.says)
		}
	}
}

// TestWrittenParameters checks that what the fields of the structs can say can
// be written too.
func TestWrittenParameters(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 9))
	tab := newTable(rng, Categories(3, 3), 1, 0.2)
	for _, c := range []struct {
		name, param, value string
		want               Sampler
	}{
		{"dmala", "precondition", "2/1/0.25", &DMALA{Precondition: []float64{2, 1, 0.25}}},
		{"dula", "precondition", " 2 / 1 / 0.25 ", &DULA{Precondition: []float64{2, 1, 0.25}}},
		{"dmala", "precondition", "none", &DMALA{}},
		{"acs", "fixed-beta", "yes", &ACS{FixedBeta: true}},
		{"acs", "fixed-beta", "no", &ACS{}},
		{"sgdld", "cache", "no", &SGDLD{NoCache: true}},
		{"sgdld", "cache", "yes", &SGDLD{}},
		{"sgdld", "self", "yes", &SGDLD{Self: true}},
		{"hb", "block", "2", &HammingBall{Block: 2}},
	} {
		s, err := New(c.name, map[string]string{c.param: c.value})
		if err != nil || !reflect.DeepEqual(s, c.want) {
			t.Errorf("%s %s=%s makes %+v, want %+v (%v)", c.name, c.param, c.value, s, c.want, err)
		}
	}
	// One factor, or too many, for three coordinates: the error says that there
	// are three.
	for _, v := range []string{"2", "1/1", "1/1/1/1"} {
		s, err := New("dmala", map[string]string{"precondition": v})
		if err != nil {
			t.Fatal(err)
		}
		_, err = Start(context.Background(), s, tab, [][]int32{{0, 0, 0}}, Options{})
		if !errors.Is(err, ErrParam) || !strings.Contains(err.Error(), "precondition") || !strings.Contains(err.Error(), "of which there are 3") {
			t.Errorf("precondition=%s: %v", v, err)
		}
	}
	// A block may be larger than what there is.
	for _, s := range []Sampler{&HammingBall{Block: 10}, &BlockGibbs{Block: 1000}} {
		if _, err := Start(context.Background(), s, tab, [][]int32{{0, 0, 0}}, Options{}); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

// bare gives energies only.
type bare struct{ t *tableTarget }

func (b bare) Domain() *Domain { return b.t.dom }
func (b bare) Energy(ctx context.Context, x [][]int32, u []float64) error {
	return b.t.Energy(ctx, x, u)
}

func TestStartRefuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 9))
	tab := newTable(rng, Categories(3, 3), 1, 0.2)
	zero := newTable(rng, Categories(2, 2), 1, 0.2)
	zero.u[0] = negInf
	big, err := NewDomain(Coord{Kind: Nominal, K: MaxNeighbours + 1})
	if err != nil {
		t.Fatal(err)
	}
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
		{"infinite step", &AB{StepSize: math.Inf(1)}, tab, ok, Options{}, ErrParam},
		{"bad balance", &PAS{Balance: 9}, tab, ok, Options{}, ErrParam},
		{"bad scan", &GibbsMH{Scan: 9}, tab, ok, Options{}, ErrParam},
		{"preconditioner of another size", &DMALA{Precondition: []float64{1}}, tab, ok, Options{}, ErrParam},
		{"preconditioner of zeros", &DMALA{Precondition: []float64{1, 0, 1}}, tab, ok, Options{}, ErrParam},
		{"NaN time", &DLMC{Time: math.NaN()}, tab, ok, Options{}, ErrParam},
		{"half a flip", &RWM{Flips: 0.5}, tab, ok, Options{}, ErrParam},
		{"negative block", &BlockGibbs{Block: -1}, tab, ok, Options{}, ErrParam},
		{"beta above 1", &ACS{BetaMax: 2}, tab, ok, Options{}, ErrParam},
		{"target acceptance 1", &DMALA{TargetAcceptance: 1}, tab, ok, Options{}, ErrParam},
		{"alpha-min alone", &ACS{AlphaMin: 1}, tab, ok, Options{}, ErrParam},
		{"alphas swapped", &ACS{AlphaMin: 2, AlphaMax: 1}, tab, ok, Options{}, ErrParam},
		{"jump above 1", &SGDLD{Jump: 2}, tab, ok, Options{}, ErrParam},
		{"no gradients", &DMALA{}, bare{tab}, ok, Options{}, ErrUnsupported},
		{"no conditionals", &Gibbs{}, bare{tab}, ok, Options{}, ErrUnsupported},
		{"no stochastic gradients", &SGDLD{}, bare{tab}, ok, Options{}, ErrUnsupported},
		{"no stochastic gradients for dula", &DULA{Batch: 2}, bare{tab}, ok, Options{}, ErrUnsupported},
		{"too many neighbours", &LB1{}, flat{big}, [][]int32{{0}}, Options{}, ErrUnsupported},
		{"too many values", &ExactGibbs{}, flat{big}, [][]int32{{0}}, Options{}, ErrUnsupported},
		{"balls too large for memory", &BlockGibbs{Block: 14}, flat{Bits(5000)}, [][]int32{make([]int32, 5000)}, Options{}, ErrUnsupported},
		{"ball too large", &HammingBall{}, flat{big}, [][]int32{{0}}, Options{}, ErrUnsupported},
	} {
		if _, err := Start(context.Background(), c.s, c.target, c.x0, c.opt); !errors.Is(err, c.is) {
			t.Errorf("%s: error %v, want %v", c.what, err, c.is)
		}
	}
	for _, name := range []string{"rwm", "exact-gibbs", "block-gibbs", "hb", "lb1"} {
		s, err := New(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Start(context.Background(), s, bare{tab}, ok, Options{}); err != nil {
			t.Errorf("%s needs energies only, but: %v", name, err)
		}
	}
}

// flat is a uniform target on any domain.
type flat struct{ d *Domain }

func (f flat) Domain() *Domain { return f.d }
func (f flat) Energy(_ context.Context, x [][]int32, u []float64) error {
	clear(u)
	return nil
}

func TestDomainRefuses(t *testing.T) {
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

func (n nowhere) MaskedConditional(_ context.Context, _ [][]int32, _ []int, lp [][]float64) error {
	for k := range lp {
		clear(lp[k])
	}
	return nil
}

// TestErrorsSayWhatToDo: an error names the place and the remedy.
func TestErrorsSayWhatToDo(t *testing.T) {
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
		{begin(&RWM{}, flat{masked}, []int32{0}), ErrDomain, []string{"no coordinate has more than one", "allow another category"}},
		{begin(&RWM{}, flat{Bits(2)}), ErrState, []string{"give one start state"}},
		{begin(&RWM{}, flat{masked}, []int32{1}), ErrState, []string{"coordinate 0 is 1", "want an allowed category"}},
		{begin(&RWM{}, nowhere{flat{Bits(2)}}, []int32{0, 1}), ErrState, []string{"chain 0", "start it at a state of positive probability"}},
		{begin(&DMALA{}, flat{Bits(2)}, []int32{0, 1}), ErrUnsupported, []string{"dmala needs gradients", "need none"}},
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

// sick returns energies and gradients that are not numbers for some states.
type sick struct {
	*tableTarget
	u    map[int]float64
	grad map[int]float64
}

func (s sick) EnergyGrad(ctx context.Context, x [][]int32, u []float64, g [][]float64) error {
	if err := s.tableTarget.EnergyGrad(ctx, x, u, g); err != nil {
		return err
	}
	for k := range x {
		if e, bad := s.u[s.index(x[k])]; bad {
			u[k] = e
		}
		if e, bad := s.grad[s.index(x[k])]; bad {
			g[k][0] = e
		}
	}
	return nil
}

func (s sick) Energy(ctx context.Context, x [][]int32, u []float64) error {
	for k := range x {
		u[k] = s.tableTarget.u[s.index(x[k])]
		if e, bad := s.u[s.index(x[k])]; bad {
			u[k] = e
		}
	}
	return nil
}

// StochasticGrad is the noisy gradient with the same sick entries.
func (s sick) StochasticGrad(ctx context.Context, x [][]int32, batch int, rng []*rand.Rand, u []float64, g [][]float64) error {
	if err := s.tableTarget.StochasticGrad(ctx, x, batch, rng, u, g); err != nil {
		return err
	}
	for k := range x {
		if e, bad := s.grad[s.index(x[k])]; bad {
			g[k][0] = e
		}
	}
	return nil
}

// MaskedConditional is none for coordinate 0 where the others are as in a state
// with a sick gradient. It may not depend on the coordinate itself.
func (s sick) MaskedConditional(ctx context.Context, x [][]int32, i []int, lp [][]float64) error {
	if err := s.tableTarget.MaskedConditional(ctx, x, i, lp); err != nil {
		return err
	}
	for k := range x {
		for at, e := range s.grad {
			if i[k] == 0 && slices.Equal(x[k][1:], s.states[at][1:]) {
				lp[k][0] = e
			}
		}
	}
	return nil
}

// TestSickTargets: what is not a number is rejected and counted, and never
// spreads.
func TestSickTargets(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 9))
	for _, d := range []*Domain{Categories(2, 3), Bits(3), Integers(2, 3, 0)} {
		tab := newTable(rng, d, 0.3, 0)
		s := sick{tab, map[int]float64{2: math.NaN(), 3: math.Inf(1), 4: negInf}, map[int]float64{1: math.NaN()}}
		for _, info := range List() {
			// Gibbs and SGDLD evaluate no energies, so they see nothing of what is
			// wrong with those.
			usesU := info.Name != "gibbs" && info.Name != "sgdld"
			smp, err := New(info.Name, nil)
			if err != nil {
				t.Fatal(err)
			}
			run, err := Start(context.Background(), smp, s, [][]int32{make([]int32, d.Len())}, Options{Seed: 2, Burnin: 50})
			if err != nil {
				t.Fatal(info.Name, err)
			}
			err = run.Steps(context.Background(), 400, func(r *Run) error {
				at := tab.index(r.X[0])
				usesGrad := r.Grad != nil || info.Name == "sgdld"
				if usesU && (at == 2 || at == 3 || at == 4 || math.IsNaN(r.U[0]) || math.IsInf(r.U[0], 0)) || usesGrad && at == 1 {
					t.Fatalf("%s: at state %d with energy %g", info.Name, at, r.U[0])
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			st := run.Stats[0]
			if st.NonFinite == 0 || st.Zero == 0 && usesU || st.Moved < 20 {
				t.Errorf("%s: counted %d states that are no numbers and %d of probability 0; %d moves", info.Name, st.NonFinite, st.Zero, st.Moved)
			}
			for _, v := range run.Tuning(0) {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("%s: tuned to %g", info.Name, v)
				}
			}
		}
	}
}

// TestNeighboursOfEnergyZeroAreCounted: samplers that evaluate neighbours count
// those of U = −∞ inside the support, each evaluation once, and not the
// categories outside it.
func TestNeighboursOfEnergyZeroAreCounted(t *testing.T) {
	d, err := NewDomain(Coord{Kind: Nominal, K: 4, Allowed: []bool{true, true, true, false}}, Coord{Kind: Nominal, K: 2})
	if err != nil {
		t.Fatal(err)
	}
	tab := newTable(rand.New(rand.NewPCG(8, 9)), d, 0.3, 0)
	tab.u[2] = negInf // (2, 0)
	tab.u[6] = negInf // (2, 1): coordinate 0 never has value 2
	for _, c := range []struct {
		s      Sampler
		target Target
		most   int     // of them in a step
		mean   float64 // a step
	}{
		// Every other step of Gibbs visits coordinate 0. LB-1 asks coordinate 0
		// for its values and coordinate 1 for those of a state without a 2. A
		// block is the whole space. A quarter of the balls are around (2, ·),
		// and hold both, the others one.
		{&ExactGibbs{}, tab, 1, 0.5},
		{&ExactGibbs{}, neighbourTable{tab}, 1, 0.5},
		{&LB1{}, tab, 1, 1},
		{&LB1{}, neighbourTable{tab}, 1, 1},
		{&BlockGibbs{}, tab, 2, 2},
		{&HammingBall{}, tab, 2, 1.25},
	} {
		run, err := Start(context.Background(), c.s, c.target, [][]int32{{0, 0}}, Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		run.ResetStats()
		const n = 1000
		before := 0
		if err := run.Steps(context.Background(), n, func(r *Run) error {
			now := r.Stats[0].Zero
			if now-before > c.most {
				t.Errorf("%s counts %d in one step, at most %d can be", c.s.Name(), now-before, c.most)
			}
			before = now
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		st := run.Stats[0]
		if mean := float64(st.Zero) / n; math.Abs(mean/c.mean-1) > 0.12 || st.NonFinite != 0 {
			t.Errorf("%s: %g counted a step, want %g; %d no numbers", c.s.Name(), mean, c.mean, st.NonFinite)
		}
	}
}

func TestStreamsAreStable(t *testing.T) {
	r := NewStream(1, "sentence", 2)
	got := []uint64{r.Uint64(), r.Uint64()}
	want := []uint64{0x43234c537e2082fb, 0x7f550a4b764e5720}
	if got[0] != want[0] || got[1] != want[1] {
		t.Errorf("stream (1, sentence, 2) begins %#x %#x, want %#x %#x: results of old seeds would change", got[0], got[1], want[0], want[1])
	}
	seen := map[uint64]string{}
	for _, c := range []struct {
		seed  uint64
		id    string
		chain int
	}{{1, "a", 0}, {1, "a", 1}, {2, "a", 0}, {1, "b", 0}, {1, "", 0}, {1, "a\x00", 0}} {
		v := NewStream(c.seed, c.id, c.chain).Uint64()
		if o, dup := seen[v]; dup {
			t.Errorf("%v and %s share a stream", c, o)
		}
		seen[v] = c.id
	}
}

func FuzzNew(f *testing.F) {
	for _, i := range List() {
		for _, p := range i.Params {
			f.Add(i.Name, p.Name, p.Default)
		}
	}
	f.Add("dmala", "step-size", "1e309")
	f.Add("gwg", "draws", "-0")
	rng := rand.New(rand.NewPCG(4, 9))
	tab := newTable(rng, Categories(3, 3), 1, 0.2)
	f.Fuzz(func(t *testing.T, name, param, val string) {
		s, err := New(name, map[string]string{param: val})
		if err != nil {
			if !errors.Is(err, ErrUnknown) && !errors.Is(err, ErrParam) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		if g, ok := s.(*GWG); ok && g.Draws > 100 {
			return
		}
		if g, ok := s.(*ACS); ok && g.Cycle > 1000 {
			return
		}
		run, err := Start(context.Background(), s, tab, [][]int32{{0, 0, 0}}, Options{Burnin: 5})
		if err != nil {
			if !errors.Is(err, ErrParam) && !errors.Is(err, ErrUnsupported) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		if err := run.Steps(context.Background(), 8, nil); err != nil {
			t.Fatal(err)
		}
	})
}
