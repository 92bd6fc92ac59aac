package verify

import (
	"bytes"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"infill/lab/targets"
	"infill/samplers"
)

// paperQuenched has the limits of section 4 in a second. Its laws scatter by a few thousandths.
func paperQuenched(ex *targets.Exact, batch int) *quenched {
	return newQuenched(rand.New(rand.NewPCG(7, uint64(batch))), ex.P, batch, 40, 500_000)
}

// TestQuenchedLimits: where a limit has a closed form it is that. With one draw of u the Gibbs
// sampler draws each coordinate for itself, so that its law is the product of marginals, which are
// ½. With many draws, or with small steps and a cache, all laws are π.
func TestQuenchedLimits(t *testing.T) {
	t.Parallel()
	ex, err := targets.Enumerate(t.Context(), paperGaussBern())
	if err != nil {
		t.Fatal(err)
	}
	one, many := paperQuenched(ex, 1), paperQuenched(ex, 3000)
	for x, p := range one.gibbsLaw() {
		if math.Abs(p-1./16) > .004 {
			t.Errorf("Gibbs-1 has state %04b with probability %.4f, want 1/16", x, p)
		}
	}
	uniform := 0.0
	for _, p := range ex.P {
		uniform += math.Abs(p-1./16) / 2
	}
	for name, c := range map[string]struct{ got, want, within float64 }{
		"Gibbs-1":           {ex.TV(one.gibbsLaw()), uniform, .01},
		"Gibbs-3000":        {ex.TV(many.gibbsLaw()), 0, .012},
		"noC-3000":          {ex.TV(many.law(.6, false)), 0, .012},
		"SGDLD-3000":        {ex.TV(many.law(.6, true)), 0, .012},
		"noC-1, h = .1":     {ex.TV(one.law(.1, false)), ex.TV(one.law(.6, false)), 1e-12},
		"SGDLD-1, all at 1": {ex.TV(one.law(1, true)), ex.TV(one.law(1, false)), 1e-12},
	} {
		if !(math.Abs(c.got-c.want) <= c.within) {
			t.Errorf("%s: total variation %.4f, want %.4f", name, c.got, c.want)
		}
	}
}

// TestQuenchedChains holds the samplers against the laws of endless chains, which know nothing of
// their code.
func TestQuenchedChains(t *testing.T) {
	t.Parallel()
	g := paperGaussBern()
	ex, err := targets.Enumerate(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		s     samplers.Sampler
		batch int
		law   func(q *quenched) []float64
	}{
		{&samplers.SGDLD{Jump: .6}, 1, func(q *quenched) []float64 { return q.law(.6, true) }},
		{&samplers.SGDLD{Jump: .8, Batch: 2}, 2, func(q *quenched) []float64 { return q.law(.8, true) }},
		{&samplers.SGDLD{Jump: .5, NoCache: true}, 1, func(q *quenched) []float64 { return q.law(.9, false) }},
		{batchGibbs{1}, 1, (*quenched).gibbsLaw},
		{batchGibbs{2}, 2, (*quenched).gibbsLaw},
	} {
		want := &targets.Exact{Domain: ex.Domain, P: c.law(paperQuenched(ex, c.batch))}
		tv, err := sgdldChains(t.Context(), g, want, c.s, 2, 100, 1000, 1)
		if err != nil {
			t.Fatal(err)
		}
		far := want.TV(ex.P)
		if !(tv.all < .02 && tv.all < far/2) {
			t.Errorf("%s %+v: total variation %.4f from its limit, which has %.4f from π", c.s.Info().Name, c.s,
				tv.all, far)
		}
		t.Logf("%+v: %.4f from its limit, which is %.4f from π", c.s, tv.all, far)
	}
}

// TestSGDLDBatches makes figures 2 and 5 with few chains. The limits have what the paper says of
// them, and every sampler is in the tables and in the panel of its figure.
func TestSGDLDBatches(t *testing.T) {
	t.Parallel()
	g := paperGaussBern()
	ex, err := targets.Enumerate(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	small := batchRuns{batches: []int{1, 4}, h: []float64{.2, .7}, groups: 2, steps: 450, draws: 200_000,
		estimates: 30}
	all, err := sgdldLines(t.Context(), g, ex, small, 1)
	if err != nil {
		t.Fatal(err)
	}
	for j := range small.batches {
		cached, noC, gibbs := all[3*j], all[3*j+1], all[3*j+2]
		if !(cached.limit[0] < cached.limit[1]-.002 && cached.limit[1] < noC.limit[1]-.002 &&
			noC.limit[0] == noC.limit[1] && noC.limit[0] < gibbs.limit[0]-.002) {
			t.Errorf("limits of %s %.4f, %s %.4f, %s %.4f", cached.name, cached.limit, noC.name, noC.limit,
				gibbs.name, gibbs.limit)
		}
		for _, l := range all[3*j : 3*j+3] {
			for i, v := range l.single {
				if !(v.mean > l.groups[i].mean && l.groups[i].mean > 0 && v.mean < 1) {
					t.Errorf("%s: %v of one chain, %v of 100", l.name, v, l.groups[i])
				}
			}
		}
	}
	var page, chart bytes.Buffer
	e := &env{seed: 1, svg: func(_ string, draw func(io.Writer) error) error { return draw(&chart) }}
	if err := figSGDLDBatches(t.Context(), &page, e, g, ex, small); err != nil {
		t.Fatal(err)
	}
	for name, figure := range map[string]string{"SGDLD-1": "2", "noC-1": "2", "Gibbs-1": "2", "SGDLD-4": "5",
		"noC-4": "5", "Gibbs-4": "5"} {
		if n := strings.Count(page.String(), "| "+name+" | "+figure+" |"); n != 3 {
			t.Errorf("%s is in %d tables\n%s", name, n, &page)
		}
		if n := strings.Count(chart.String(), ">"+name+"</text>"); n != 2 {
			t.Errorf("%s is in %d panels", name, n)
		}
	}
}
