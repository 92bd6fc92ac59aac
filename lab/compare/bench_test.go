package compare

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"infill/lab/internal/kernels"
	"infill/lab/papers"
	"infill/samplers"
)

func entries(t *testing.T, specs ...string) []Entry {
	t.Helper()
	var out []Entry
	for _, s := range specs {
		e, err := ParseEntry(s)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

// Progress counts the steps of all samplers, of those that are skipped too.
func TestProgress(t *testing.T) {
	t.Parallel()
	p, err := ParseProblem("fhmm")
	if err != nil {
		t.Fatal(err)
	}
	last, calls := -1, 0
	cfg := Config{Chains: 2, Steps: 5, Burnin: 3, Progress: func(done, all int) {
		if all != 24 || done < last || done > last+8 {
			t.Errorf("%d of %d steps after %d", done, all, last)
		}
		last, calls = done, calls+1
	}}
	r, err := Compare(context.Background(), p, entries(t, "rwm", "sgdld", "exact-gibbs"), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if last != 24 || r.Rows[1].Skipped == nil || calls != 20 {
		t.Errorf("%d calls, %d steps at the end: %+v", calls, last, r.Rows)
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	for _, name := range ProblemNames() {
		p, err := ParseProblem(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if p.Marginal == nil || p.Source == "" {
			t.Errorf("%s: no truth at its default size", name)
		}
		d, j := p.Target.Domain(), 0
		for i := range d.Len() {
			sum := 0.0
			for range d.K(i) {
				sum += p.Marginal[j]
				j++
			}
			if math.Abs(sum-1) > 1e-9 {
				t.Errorf("%s: marginal %d sums to %g", name, i, sum)
			}
		}
		if j != len(p.Marginal) {
			t.Errorf("%s: %d marginals, want %d", name, len(p.Marginal), j)
		}
	}
	if len(Describe()) != len(ProblemNames()) {
		t.Error("not every problem is described")
	}
}

// TestSettings checks that settings do what they say.
func TestSettings(t *testing.T) {
	t.Parallel()
	marginal := func(spec string) []float64 {
		t.Helper()
		p, err := ParseProblem(spec)
		if err != nil {
			t.Fatal(err)
		}
		return p.Marginal
	}
	fhmm := func(spec string) *papers.FHMM {
		p, err := ParseProblem(spec)
		if err != nil {
			t.Fatal(err)
		}
		return p.Target.(*papers.FHMM)
	}
	if f := fhmm("fhmm"); f.K != 2 || f.Start != 0.9 || f.Stay != 0.8 || f.Sigma != 2 {
		t.Errorf("fhmm is not that of DLMC's paper: %d, %g, %g, %g", f.K, f.Start, f.Stay, f.Sigma)
	}
	if f := fhmm("fhmm:length=7,chains=3,k=4,start=.6,stay=.7,sigma=.5"); f.Length != 7 || f.Chains != 3 ||
		f.K != 4 || f.Start != 0.6 || f.Stay != 0.7 || f.Sigma != 0.5 {
		t.Errorf("fhmm with settings is %d × %d × %d, %g, %g, %g", f.Length, f.Chains, f.K, f.Start, f.Stay,
			f.Sigma)
	}
	for _, spec := range []string{"ising:spins=1", "bernoulli:d=3,spins=1"} {
		p, err := ParseProblem(spec)
		if err != nil {
			t.Fatal(err)
		}
		if d := p.Target.Domain(); d.Value(0, 0) != -1 || d.Value(0, 1) != 1 {
			t.Errorf("%s: the domain is %v", spec, d.Coord(0))
		}
		plain, spins := marginal(strings.Replace(spec, "spins=1", "spins=0", 1)), marginal(spec)
		if !slices.Equal(plain, spins) { // the same truth on another domain
			t.Errorf("%s: marginals %v, on {0,1} %v", spec, spins, plain)
		}
	}
	for _, spec := range []string{"potts:rows=3,cols=3,k=3,periodic=1", "modes:uneven=1", "peaks:n=2,spacing=9,width=2,uneven=1", "modes:uneven=1,seed=2"} {
		plain, _, _ := strings.Cut(strings.Replace(spec, "periodic=1", "periodic=0", 1), "uneven")
		if strings.HasSuffix(spec, "seed=2") {
			plain = "modes:uneven=1"
		}
		if slices.Equal(marginal(spec), marginal(strings.TrimRight(plain, ":,"))) {
			t.Errorf("%s is as %s", spec, plain)
		}
	}
	// The toy of ACS, as section 7 of lab/notebook/verification.md has it.
	p, err := ParseProblem("peaks")
	if err != nil {
		t.Fatal(err)
	}
	if d := p.Target.Domain(); d.Len() != 2 || d.K(0) != 450 || p.Target.(*papers.Peaks).N != 5 {
		t.Errorf("peaks: %d coordinates of %d values", d.Len(), d.K(0))
	}
}

// TestNoBurnin checks that NoBurnin means none, where automatic values
// stay as they start, and 0 the default.
func TestNoBurnin(t *testing.T) {
	t.Parallel()
	p, err := ParseProblem("ising:rows=2,cols=2")
	if err != nil {
		t.Fatal(err)
	}
	meanProb := map[int]float64{}
	for burnin, want := range map[int]int{-1: 0, -9: 0, 0: 500, 7: 7} {
		r, err := Compare(context.Background(), p, entries(t, "dmala"), Config{
			Steps: 200, Burnin: max(burnin, -burnin-1), NoBurnin: burnin < 0})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := r.WriteTable(&b); err != nil ||
			!strings.Contains(b.String(), fmt.Sprintf(" after %d of burn-in", want)) {
			t.Errorf("burn-in %d: %v\n%s", burnin, err, b.String())
		}
		meanProb[burnin] = r.Rows[0].MeanProb
	}
	if meanProb[-1] == meanProb[0] {
		t.Errorf("mean probability %g without a burn-in as with one", meanProb[0])
	}
}

// excluded is a distribution without the state of all zeros.
type excluded struct{ samplers.Target }

func (e excluded) Energy(ctx context.Context, x [][]int32, u []float64) error {
	if err := e.Target.Energy(ctx, x, u); err != nil {
		return err
	}
	for k := range x {
		if slices.Max(x[k]) == 0 {
			u[k] = math.Inf(-1)
		}
		if slices.Min(x[k]) == 1 {
			u[k] = math.NaN()
		}
	}
	return nil
}

// TestCounted checks that rejected proposals of energy −∞ or NaN are said.
func TestCounted(t *testing.T) {
	t.Parallel()
	p, err := ParseProblem("bernoulli:d=3,sd=0.1")
	if err != nil {
		t.Fatal(err)
	}
	p.Target = excluded{p.Target}
	for seed := range uint64(100) { // the starts must be possible states
		r, err := Compare(
			context.Background(), p, entries(t, "rwm"),
			Config{Chains: 2, Steps: 300, NoBurnin: true, Seed: seed},
		)
		if errors.Is(err, samplers.ErrState) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := r.WriteTable(&b); err != nil {
			t.Fatal(err)
		}
		x := r.Rows[0]
		if x.Zero < 20 || x.NonFinite < 20 ||
			!strings.Contains(
				b.String(), fmt.Sprintf("note: rwm: %d proposals or neighbours had probability 0", x.Zero),
			) ||
			!strings.Contains(
				b.String(),
				fmt.Sprintf(
					"warning: rwm: %d proposals or neighbours had energies or gradients that are not numbers",
					x.NonFinite,
				),
			) {
			t.Errorf("%d and %d\n%s", x.Zero, x.NonFinite, b.String())
		}
		return
	}
	t.Fatal("no seed has possible starts")
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for _, spec := range []string{
		"", "isng", "ising:", "ising:rows", "ising:rows=x", "ising:rows=NaN", "ising:rows=1,rows=2", "ising:row=3",
		"ising:rows=-1", "ising:rows=1e9", "potts:k=1", "gaussbern:d=0", "categorical:d=1e6,k=1e6", "fhmm:sigma=0", "fhmm:stay=1", "fhmm:start=0", "fhmm:k=1", "modes:n=0",
		"ising:periodic=2", "ising:seed=1", "peaks:n=1025,uneven=1",
	} {
		if _, err := ParseProblem(spec); !errors.Is(err, ErrSpec) {
			t.Errorf("ParseProblem(%q): %v", spec, err)
		}
	}
	for spec, says := range map[string]string{
		"ising:rows=2.7":      `rows is "2.7", want a whole number from 1 to 1000000`,
		"categorical:d=2.5":   `d is "2.5", want a whole number from 1 to 1000000`,
		"potts:seed=-1":       `seed is "-1", want a whole number from 0 to 9007199254740992`,
		"categorical:seed=.5": `want a whole number from 0`,
		"rbm:sd=-1":           `sd is "-1", want a number from 0 to 1000000`,
		"ising:a=NaN":         `want a number from -1000000 to 1000000`,
		"logreg:prior=1":      "prior is 1, want a number above 0 and below 1",
	} {
		if _, err := ParseProblem(spec); !errors.Is(err, ErrSpec) ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("ParseProblem(%q): %v, want %q", spec, err, says)
		}
	}
	if _, err := ParseEntry("dmala:step-size"); !errors.Is(err, ErrSpec) {
		t.Errorf("a parameter without value: %v", err)
	}
	if _, err := ParseEntry("dmalaa"); !errors.Is(err, samplers.ErrUnknown) {
		t.Errorf("an unknown sampler: %v", err)
	}
	if _, err := ParseEntry("dmala:step-size=-1"); !errors.Is(err, samplers.ErrParam) {
		t.Errorf("a negative step: %v", err)
	}
	p, err := ParseProblem("ising")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Compare(context.Background(), p, entries(t, "rwm"), Config{Chains: -1}); !errors.Is(
		err, ErrSpec,
	) ||
		!strings.Contains(err.Error(), "chains is -1, want 1 to 65536") {
		t.Errorf("negative chains: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Compare(ctx, p, entries(t, "rwm"), Config{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled comparison: %v", err)
	}
}

// TestCompare runs all samplers on the smallest problem and checks that the
// numbers mean what they say.
func TestCompare(t *testing.T) {
	t.Parallel()
	p, err := ParseProblem("ising:rows=2,cols=3,periodic=0")
	if err != nil {
		t.Fatal(err)
	}
	all := entries(t, kernels.Names()...)
	cfg := Config{Chains: 4, Steps: 3000, Burnin: 300, Seed: 3}
	r, err := Compare(context.Background(), p, all, cfg)
	if err != nil {
		t.Fatal(err)
	}
	skipped := 0
	for _, x := range r.Rows {
		if x.Skipped != nil {
			skipped++
			if x.Label != "sgdld" || !errors.Is(x.Skipped, samplers.ErrUnsupported) {
				t.Errorf("%s was skipped: %v", x.Label, x.Skipped)
			}
			continue
		}
		// A marginal probability has standard error √(p(1−p)/ESS) ≤ 1/(2√ESS).
		if limit := 5 / (2 * math.Sqrt(x.ESS)); x.Exact && x.Error > limit {
			t.Errorf("%s: error %g, want at most %g for an ESS of %g", x.Label, x.Error, limit, x.ESS)
		}
		if !(x.MeanProb > 0 && x.MeanProb <= 1) ||
			!(x.Jump > 0 && x.Jump <= x.Proposed+1e-9 && x.Proposed <= 6) ||
			x.Evals < 1000 ||
			!(x.Seconds > 0) {
			t.Errorf("%s: %+v", x.Label, x)
		}
		if math.Abs(x.PerEval*float64(x.Evals)-x.ESS) > 1e-6*x.ESS {
			t.Errorf("%s: ESS per evaluation %g × %d is not %g", x.Label, x.PerEval, x.Evals, x.ESS)
		}
		if x.Label == "dmala" && x.Calls != 4*r.Config.Chains*r.Config.Steps ||
			math.Abs(x.PerCall*float64(x.Calls)-x.ESS) > 1e-6*x.ESS {
			t.Errorf("%s: ESS per call %g × %d is not %g", x.Label, x.PerCall, x.Calls, x.ESS)
		}
	}
	if skipped != 1 {
		t.Errorf("%d samplers skipped, want sgdld only", skipped)
	}

	var table, md, md2, svg bytes.Buffer
	if err := errors.Join(r.WriteTable(&table), r.WriteMarkdown(&md), r.WriteSVG(&svg, true)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"truth by transfer matrices", "dmala", "ESS/call", "mean prob",
		"1 for one that is the state itself", "as DLMC's paper counts", "skipped: sampler sgdld needs stochastic gradients"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, table.String())
		}
	}
	dec := xml.NewDecoder(&svg)
	for {
		if _, err := dec.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("the chart is not well-formed: %v", err)
		}
	}
	again, err := Compare(context.Background(), p, all, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.WriteMarkdown(&md2); err != nil {
		t.Fatal(err)
	}
	if md.String() != md2.String() {
		t.Error("the same seed gives another table")
	}
}

func FuzzParseProblem(f *testing.F) {
	for _, d := range Describe() {
		f.Add(strings.Fields(d)[0])
	}
	f.Add("ising:rows=2,cols=")
	f.Add("rbm:=,d=3")
	f.Fuzz(func(t *testing.T, spec string) {
		for _, c := range spec {
			if c >= '0' && c <= '9' {
				return // sizes are for TestParseErrors; large ones only cost time here
			}
		}
		if _, err := ParseProblem(spec); err != nil && !errors.Is(err, ErrSpec) {
			t.Fatalf("untyped error %v", err)
		}
	})
}
