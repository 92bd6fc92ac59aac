package verify

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"infill/samplers"
)

func TestRun(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	if err := run(context.Background(), sections, &out, &errs, []string{"-only", "1"}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "| log Z | 19.67408576 (second-hand) | 19.67408576 |") {
		t.Errorf("figure 1 is\n%s", out.String())
	}
	for _, args := range [][]string{{"-only", fmt.Sprint(len(sections) + 1)}, {"-only", "x"}, {"extra"},
		{"-only", "1", "-write", t.TempDir()}, {"-nope"}} {
		if err := run(context.Background(), sections, &out, &errs, args); err == nil {
			t.Errorf("%v was accepted", args)
		}
	}
}

// TestThreefry checks the known answer of Random123 and what JAX 0.10.2 draws
// with jax_threefry_partitionable off.
func TestThreefry(t *testing.T) {
	t.Parallel()
	if x, y := (key{0x13198a2e, 0x03707344}).block(0x243f6a88, 0x85a308d3); x != 0xc4923a9c ||
		y != 0x483df7a0 {
		t.Errorf("block gives %x %x", x, y)
	}
	ks := key{}.split(4)
	if ks[0] != (key{2285895361, 1501764800}) || ks[3] != (key{839183663, 3740430601}) {
		t.Errorf("split gives %v", ks)
	}
	u := ks[0].split(1)[0].uniform(2500)
	for i, want := range map[int]float64{0: 0.4612038, 4: 0.14966285, 2495: 0.87116754,
		2499: 0.8987273} {
		if math.Abs(u[i]-want) > 1e-7 {
			t.Errorf("uniform number %d is %g, want %g", i, u[i], want)
		}
	}
	x := ks[2].coins(2500)
	sum := int32(0)
	for _, v := range x {
		sum += v
	}
	if want := []int32{0, 0, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 0, 1,
		0}; !slices.Equal(x[:20], want) || sum != 1243 {
		t.Errorf("integers below 2 are %v and so on with %d ones, want %v with 1243", x[:20], sum, want)
	}
	// An odd number of words is padded with a counter of 0.
	if got := (key{}).bits(3); got[0] != 4146024105 || got[1] != 1351547692 || got[2] != 2718843009 {
		t.Errorf("three words are %v", got)
	}
}

// TestLattice compares DLMC and DLMCf on a lattice with the samplers' own
// rules: the gradient of the Ising target, the probability of a flip, and the
// energies, by which a chain keeps its distance to x0.
func TestLattice(t *testing.T) {
	t.Parallel()
	draw := discsRandom(0)
	refs := [][]int32{draw.ref, draw.later}
	target := discsIsing(1, 1, draw.u)
	d := target.Domain()
	x := starts(d, 1, 7)
	g := [][]float64{make([]float64, d.GradLen())}
	if err := target.EnergyGrad(context.Background(), x, make([]float64, 1), g); err != nil {
		t.Fatal(err)
	}
	for _, b := range []samplers.Balance{samplers.Sqrt, samplers.Ratio} {
		l := newLattice(draw.u, refs, b)
		c := l.chain(rand.New(rand.NewPCG(1, 1)))
		for i := range c.class {
			k := 5 * x[0][i]
			for _, j := range l.near[i] {
				k += x[0][j]
			}
			c.class[i] = uint8(k)
			delta := g[0][i] * float64(1-2*x[0][i])
			if got := l.delta[10*i+int(k)]; math.Abs(got-delta) > 1e-9 {
				t.Fatalf("site %d: Δ is %g, of the target %g", i, got, delta)
			}
		}
		for j, ref := range refs {
			c.far[j] = uint16(hamming(x[0], ref))
		}
		for _, s := range []solver{interpolate, eulerClipped, eulerScaled} {
			f := l.flips(s, 0.05)
			for k, q := range l.rate {
				if q == 0 {
					continue
				}
				p := math.Exp(f.logit[k] + f.stay[k])
				if sum := p + math.Exp(f.stay[k]); math.Abs(sum-1) > 1e-9 ||
					math.Abs(p*(1<<32)-float64(f.below[k])) > 1 {
					t.Fatalf("solver %d, class %d: P(flip) = %g, drawn with %g, P of both %g", s, k, p,
						float64(f.below[k])/(1<<32), sum)
				}
			}
		}
		f := l.flips(interpolate, 0.004)
		moves := 0
		for range 2000 {
			before := slices.Clone(c.far)
			c.move(l, f)
			if !slices.Equal(c.far, before) {
				moves++
			}
		}
		// The classes that the moves kept up match the spins that they left.
		y := make([]int32, len(c.class))
		for i, k := range c.class {
			y[i] = int32(k / 5)
		}
		for i, k := range c.class {
			up := int32(0)
			for _, j := range l.near[i] {
				up += y[j]
			}
			if int32(k%5) != up {
				t.Fatalf("site %d has %d neighbours up, its class says %d", i, up, k%5)
			}
		}
		stay := 0.0
		for i, k := range c.class {
			stay += f.stay[10*i+int(k)]
		}
		far := []uint16{uint16(hamming(y, refs[0])), uint16(hamming(y, refs[1]))}
		if moves == 0 || !slices.Equal(c.far, far) || math.Abs(stay-c.stay) > 1e-6 {
			t.Errorf("%v: after %d moves the distances are %d, want %d; Σ log P(stay) %g, want %g", b, moves,
				c.far, far, c.stay, stay)
		}
	}
}

func TestKept(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	e := &env{seed: 3, keep: t.TempDir(), log: &log}
	runs := 0
	run := func() (*discsRun, error) {
		runs++
		return &discsRun{ESS: [][]float64{{1.5, 1.0 / 3}}, Stuck: runs}, nil
	}
	for range 2 {
		if r, err := kept(e, "row", "10 chains", run); err != nil || runs != 1 || r.Stuck != 1 ||
			r.ESS[0][1] != 1.0/3 {
			t.Fatalf("%+v, %v after %d runs", r, err, runs)
		}
	}
	if _, err := kept(&env{seed: 4, keep: e.keep}, "row", "10 chains", run); err != nil || runs != 2 {
		t.Errorf("another seed: %v after %d runs, want 2", err, runs)
	}
	path := filepath.Join(e.keep, "row-seed3.json")
	for range 2 {
		if r, err := kept(e, "row", "100 chains", run); err != nil || runs != 3 || r.Stuck != 3 {
			t.Errorf("other settings: %+v, %v after %d runs, want the third", r, err, runs)
		}
	}
	if !strings.Contains(log.String(), path) {
		t.Errorf("other settings: the log has %q", &log)
	}
}
