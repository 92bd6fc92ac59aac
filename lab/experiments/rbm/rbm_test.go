package rbm

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"infill/lab/experiments/boltzmann"
	"infill/lab/experiments/images"
	"infill/lab/experiments/lab"
	"infill/lab/experiments/lab/labtest"
	"infill/lab/papers"
	"infill/samplers"
)

// trained is a machine small enough to be summed over, of the digits.
func trained(t *testing.T) (*papers.RBM, *images.Set, plan) {
	t.Helper()
	set, p := images.Digits(2), plans(true)
	r, err := p.train(context.Background(), set, 6, p.fit, 1)
	if err != nil {
		t.Fatal(err)
	}
	return r, set, p
}

// pixelsGiven has every hidden state's probability, and the probability of each pixel given it.
func pixelsGiven(t *testing.T, r *papers.RBM) (prob []float64, pixel [][]float64) {
	t.Helper()
	z, err := r.LogZ()
	if err != nil {
		t.Fatal(err)
	}
	for h := range 1 << r.H {
		logit, l := append([]float64(nil), r.B...), -z
		for j := range r.H {
			if h>>j&1 == 1 {
				l += r.C[j]
				for i := range logit {
					logit[i] += r.W[j*r.D+i]
				}
			}
		}
		for i, v := range logit {
			l += math.Log1p(math.Exp(-math.Abs(v))) + math.Max(0, v)
			logit[i] = 1 / (1 + math.Exp(-v))
		}
		prob, pixel = append(prob, math.Exp(l)), append(pixel, logit)
	}
	return prob, pixel
}

// exactKernel is the mean of MMD's kernel over two independent states of the machine: given hidden
// states, pixels are independent. The sum goes over pairs of hidden states.
func exactKernel(t *testing.T, r *papers.RBM) float64 {
	t.Helper()
	prob, pixel := pixelsGiven(t, r)
	e, sum := math.Exp(-1/float64(r.D)), 0.0
	for a, p := range prob {
		for b, q := range prob[:a+1] {
			k := p * q
			if a != b {
				k *= 2
			}
			for i, x := range pixel[a] {
				y := pixel[b][i]
				same := x*y + (1-x)*(1-y)
				k *= same + (1-same)*e
			}
			sum += k
		}
	}
	return sum
}

// TestExact holds what the page rests on against sums over all hidden states: the normaliser, the
// kernel's mean over states of block Gibbs, and the distance of chains of exact samplers, which
// is 0.
func TestExact(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r, set, p := trained(t)
	logZ, err := r.LogZ()
	if err != nil {
		t.Fatal(err)
	}
	z, err := boltzmann.LogZ(ctx, r, set.Train, 100, p.rungs, 1)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(z.LogZ-logZ) > 4*z.Error {
		t.Errorf("log Z %v ± %v, exact %v", z.LogZ, z.Error, logZ)
	}
	kernel := exactKernel(t, r)
	p.settled = 150
	gold, err := p.reference(ctx, lab.Options{Seed: 1}, r, set, 600, "gold")
	if err != nil {
		t.Fatal(err)
	}
	within := make([]float64, 20)
	for k := range within {
		within[k] = meanKernel(gold[k*30 : (k+1)*30])
	}
	if s := lab.Over(within); math.Abs(s.Mean-kernel) > 4*s.SE {
		t.Errorf("kernel within samples of block Gibbs %v ± %v, exact %v", s.Mean, s.SE, kernel)
	}
	ready := images.NewSample(gold, 2)
	start := images.Random(samplers.NewStream(1, "starts", 0), 100, r.D, 2)
	before := images.MMD(images.NewSample(start, 2), ready)
	p.steps, p.burnin, p.every = 400, 100, 20
	for _, s := range samplersOf() {
		if s.title == "Gibbs-1" || s.title == "GWG-1" || s.title == "DULA" {
			continue // too slow for so few steps, or with a law of its own
		}
		c, err := p.follow(ctx, lab.Options{Seed: 1}, s.s, r, start, ready, s.title)
		if err != nil {
			t.Fatal(err)
		}
		if end := c.end(); math.Abs(end) > before/10 {
			t.Errorf("%s: MMD from %v to %v", s.title, before, end)
		}
	}
}

// meanKernel is the mean of the kernel over pairs of different states.
func meanKernel(x [][]int32) float64 {
	sum, n := 0.0, 0.0
	for a := range x {
		for b := range x[:a] {
			d := 0.0
			for i, v := range x[a] {
				if v != x[b][i] {
					d++
				}
			}
			sum, n = sum+math.Exp(-d/float64(len(x[a]))), n+1
		}
	}
	return sum / n
}

// TestQuotients: a quotient compares the same sampler with its two weights.
func TestQuotients(t *testing.T) {
	t.Parallel()
	e := &efficiencies{sizes: []size{{2, 6}}}
	for k, s := range fast() {
		e.titles = append(e.titles, s.title)
		e.cells = append(e.cells, []perCost{{Calls: float64((k + 1) * (k + 1)), Err: 0.3}})
	}
	got := e.quotients()
	for _, want := range []string{"| GWG | 1.56 ± 0.66 |", "| DLMCf | 1.17 ± 0.50 |"} {
		if !strings.Contains(got, want) { // (5/4)² and (13/12)², each times 1 ± .3·√2
			t.Errorf("no row %s in\n%s", want, got)
		}
	}
	for _, s := range fast() {
		if b := fmt.Sprintf("%+v", s.s); strings.Contains(s.title, "t/(1+t)") !=
			strings.Contains(b, samplers.Ratio.String()) {
			t.Errorf("%s is %s", s.title, b)
		}
	}
}

// TestQuick makes the page of the quick case with one thread and with two.
func TestQuick(t *testing.T) {
	t.Parallel()
	labtest.Quick(t, Experiment, 1, 2)
}

// TestGoesOn: a run takes the parts that an earlier one kept, their times too, and makes the others
// as that did.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	folder, p := labtest.GoesOn(t, Experiment, labtest.Part{File: "quick-rbm-AB-0", Field: "Jump",
		Value: "4321.25", Shown: " 4321.25 |", Again: "quick-rbm-gold-2-12"}), plans(true)
	files, err := os.ReadDir(folder)
	curves, cells := len(startNames)*(len(samplersOf())+1), len(fast())*len(p.sizes)
	references := 1 + fresh + len(p.sizes)
	if err != nil || len(files) != curves+cells+references {
		t.Errorf("%d parts are kept, want %d + %d + %d; %v", len(files), curves, cells, references, err)
	}
}
