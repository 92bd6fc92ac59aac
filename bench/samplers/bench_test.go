package samplerbench

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

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

func TestProblems(t *testing.T) {
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

func TestParseErrors(t *testing.T) {
	for _, spec := range []string{
		"", "isng", "ising:", "ising:rows", "ising:rows=x", "ising:rows=NaN", "ising:rows=1,rows=2", "ising:row=3",
		"ising:rows=-1", "ising:rows=1e9", "potts:k=1", "gaussbern:d=0", "categorical:d=1e6,k=1e6", "fhmm:sigma=0", "modes:n=0",
	} {
		if _, err := ParseProblem(spec); !errors.Is(err, ErrSpec) {
			t.Errorf("ParseProblem(%q): %v", spec, err)
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
	if _, err := Compare(context.Background(), p, entries(t, "rwm"), Config{Chains: -1}); !errors.Is(err, ErrSpec) {
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
	p, err := ParseProblem("ising:rows=2,cols=3,periodic=0")
	if err != nil {
		t.Fatal(err)
	}
	all := entries(t, samplers.Names()...)
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
		if !(x.Acceptance > 0 && x.Acceptance <= 1) || !(x.Jump > 0 && x.Jump <= x.Proposed+1e-9 && x.Proposed <= 6) || x.Evals < 1000 || !(x.Seconds > 0) {
			t.Errorf("%s: %+v", x.Label, x)
		}
		if math.Abs(x.PerEval*float64(x.Evals)-x.ESS) > 1e-6*x.ESS {
			t.Errorf("%s: ESS per evaluation %g × %d is not %g", x.Label, x.PerEval, x.Evals, x.ESS)
		}
	}
	if skipped != 1 {
		t.Errorf("%d samplers skipped, want sgdld only", skipped)
	}

	var table, md, md2, svg bytes.Buffer
	if err := errors.Join(r.WriteTable(&table), r.WriteMarkdown(&md), r.WriteSVG(&svg, true)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"truth by transfer matrices", "dmala", "skipped: sampler sgdld needs stochastic gradients"} {
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
