package samplers

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

func TestRegistryNames(t *testing.T) {
	t.Parallel()
	want := []string{
		"gibbs", "gibbs-mh", "gwg", "dula", "dmala", "dlmc", "acs", "sgdld", "rows",
	}
	for _, name := range want {
		s, err := New(name, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if s.Info().Name != name {
			t.Errorf("%s makes a sampler named %s", name, s.Info().Name)
		}
	}
	if len(List()) != len(want) {
		t.Errorf("%d samplers registered, want %d", len(List()), len(want))
	}
}

// TestDefaultsAreZeroValues checks that writing a parameter's documented
// default changes nothing, by comparing runs.
func TestDefaultsAreZeroValues(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 9))
	tab := newTable(rng, Categories(3, 3), 1, 0.2)
	trace := func(name string, params map[string]string) (out []int32) {
		s, err := New(name, params)
		if err != nil {
			t.Fatalf("%s %v: %v", name, params, err)
		}
		run, err := Start(
			context.Background(), s, tab, [][]int32{{0, 0, 0}}, Options{Seed: 3, Burnin: 60},
		)
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
	t.Parallel()
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
		{"pas", "", "", ErrUnknown, "bin/lab"},
		{"exact-gibbs", "", "", ErrUnknown, "laboratory"},
		{"dmala", "stepsize", "1", ErrUnknown, `did you mean "step-size"?`},
		{"dmala", "step-size", "NaN", ErrParam, "above 0"},
		{"dmala", "step-size", "-1", ErrParam, "above 0"},
		{"dmala", "step-size", "0", ErrParam, "above 0"},
		{"dmala", "step-size", "Inf", ErrParam, "above 0"},
		{"dmala", "step-size", "abc", ErrParam, "auto or a number"},
		{"dmala", "balance", "sqrrt", ErrUnknown, `did you mean "sqrt"?`},
		{"dmala", "target-acceptance", "1", ErrParam, "up to 0.999"},
		{"gwg", "draws", "1.5", ErrParam, "whole number"},
		{"gwg", "draws", "-3", ErrParam, "from 1"},
		{"acs", "cycle", "0", ErrParam, "from 1"},
		{"acs", "power", "0", ErrParam, "power"},
		{"acs", "beta-max", "2", ErrParam, "up to 1"},
		{"acs", "fixed-beta", "maybe", ErrUnknown, "known: no, yes"},
		{"sgdld", "cache", "none", ErrUnknown, "known: yes, no"},
		{"sgdld", "jump", "1.5", ErrParam, "up to 1"},
		{"gibbs", "scan", "randm", ErrUnknown, `did you mean "random"?`},
	} {
		params := map[string]string{}
		if c.param != "" {
			params[c.param] = c.value
		}
		_, err := New(c.name, params)
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
			t.Errorf(
				"New(%q, %s=%s) = %v, want %v that says %q", c.name, c.param, c.value, err, c.is, c.says,
			)
		}
	}
}

// TestWrittenParameters checks that what the fields of the structs can say can
// be written too.
func TestWrittenParameters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, param, value string
		want               Sampler
	}{
		{"acs", "fixed-beta", "yes", &ACS{FixedBeta: true}},
		{"acs", "fixed-beta", "no", &ACS{}},
		{"sgdld", "cache", "no", &SGDLD{NoCache: true}},
		{"sgdld", "cache", "yes", &SGDLD{}},
		{"sgdld", "rates", "auto", &SGDLD{}},
		{"sgdld", "rates", "ratios", &SGDLD{Rates: ratioRates}},
		{"sgdld", "rates", "taylor", &SGDLD{Rates: TaylorRates}},
		{"dlmc", "euler", "yes", &DLMC{Euler: true}},
		{"gibbs", "scan", "systematic", &Gibbs{Systematic: true}},
	} {
		s, err := New(c.name, map[string]string{c.param: c.value})
		if err != nil || !reflect.DeepEqual(s, c.want) {
			t.Errorf("%s %s=%s makes %+v, want %+v (%v)", c.name, c.param, c.value, s, c.want, err)
		}
	}
}

// bare gives energies only.
type bare struct{ t *tableTarget }

func (b bare) Domain() *Domain { return b.t.dom }

func (b bare) Energy(ctx context.Context, x [][]int32, u []float64) error {
	return b.t.Energy(ctx, x, u)
}

// flat is a uniform target on any domain.
type flat struct{ d *Domain }

func (f flat) Domain() *Domain { return f.d }

func (f flat) Energy(_ context.Context, x [][]int32, u []float64) error {
	clear(u)
	return nil
}

func TestStreamsAreStable(t *testing.T) {
	t.Parallel()
	r := NewStream(1, "sentence", 2)
	got := []uint64{r.Uint64(), r.Uint64()}
	want := []uint64{0x43234c537e2082fb, 0x7f550a4b764e5720}
	if got[0] != want[0] || got[1] != want[1] {
		t.Errorf(
			"stream (1, sentence, 2) begins %#x %#x, want %#x %#x: results of old seeds would change",
			got[0], got[1], want[0], want[1],
		)
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
