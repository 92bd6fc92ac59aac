package bayesnet

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"infill/internal/testmode"
	"infill/lab/experiments/lab"
	"infill/lab/experiments/lab/labtest"
)

// problem is a small network on made data with entries that are zero.
func problem(rows, width, hidden int, scale float64) *posterior {
	rng := rand.New(rand.NewPCG(2, 5))
	d := made(rng, rows, width)
	for r := range d.rows {
		if r%3 == 0 { // one input fewer
			d.rows[r].index, d.rows[r].value = d.rows[r].index[1:], d.rows[r].value[1:]
		}
	}
	in := standardise(d)
	return newPosterior(newNetwork(width, hidden), in, fold(in), scale)
}

// Inputs have mean 0 and deviation 1, and the output follows the formula.
func TestOutput(t *testing.T) {
	t.Parallel()
	p := problem(20, 3, 4, 1)
	rng := rand.New(rand.NewPCG(1, 1))
	w := make([]float64, p.n.weights())
	for i := range w {
		w[i] = rng.NormFloat64()
	}
	x := make([][]float64, 20)
	for r := range x {
		x[r] = make([]float64, 3)
		for j, k := range p.in.rows[r].index {
			x[r][k] = p.in.rows[r].value[j]
		}
	}
	for k := range 3 {
		mean, sq := 0.0, 0.0
		for r := range x {
			mean += x[r][k] / 20
		}
		for r := range x {
			sq += (x[r][k] - mean) * (x[r][k] - mean) / 20
		}
		for r := range x {
			x[r][k] = (x[r][k] - mean) / math.Sqrt(sq)
		}
	}
	u := 0.0
	for r := range x {
		o := w[3*4+2*4]
		for h := range 4 {
			a := w[3*4+h]
			for k := range 3 {
				a += w[k*4+h] * x[r][k]
			}
			o += w[3*4+4+h] * math.Tanh(a)
		}
		f := 1 / (1 + math.Exp(-o))
		if got := p.n.output(p.in, r, w); math.Abs(got-f) > 1e-12 {
			t.Fatalf("output %v, want %v", got, f)
		}
		u -= (f - p.in.y[r]) * (f - p.in.y[r]) / 20
	}
	if got := p.energy(w, nil, 20, each); math.Abs(got-u) > 1e-12 {
		t.Errorf("U is %v, want %v", got, u)
	}
}

// each is the choice of all rows.
func each(i int) int { return i }

// The gradient agrees with finite differences.
func TestGradient(t *testing.T) {
	t.Parallel()
	p := problem(20, 3, 4, 7)
	rng := rand.New(rand.NewPCG(1, 2))
	w, g := make([]float64, p.n.weights()), make([]float64, p.n.weights())
	for i := range w {
		w[i] = rng.NormFloat64()
	}
	p.energy(w, g, 20, each)
	const eps = 1e-5
	for i := range w {
		at := func(d float64) float64 {
			v := append([]float64(nil), w...)
			v[i] += d
			return p.energy(v, nil, 20, each)
		}
		if want := (at(eps) - at(-eps)) / (2 * eps); math.Abs(g[i]-want) > 1e-7 {
			t.Errorf("gradient %d is %v, by finite differences %v", i, g[i], want)
		}
	}
	// By bits it is twice that.
	x := make([]int32, len(w))
	u, bits := make([]float64, 1), make([]float64, len(w))
	if err := p.EnergyGrad(context.Background(), [][]int32{x}, u, [][]float64{bits}); err != nil {
		t.Fatal(err)
	}
	clear(g)
	want := p.energy(spins(x), g, 20, each)
	if math.Abs(u[0]-want) > 1e-6 || math.Abs(bits[3]-2*g[3]) > 1e-6 {
		t.Errorf("U %v and gradient %v, want %v and %v", u[0], bits[3], want, 2*g[3])
	}
}

// A mini-batch has the gradient and U on average.
func TestStochasticGradient(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	p := problem(20, 3, 4, 7)
	d := p.n.weights()
	const draws = 20000
	x, u, g, rng := make([][]int32, 1), make([]float64, 1), [][]float64{make([]float64, d)},
		[]*rand.Rand{rand.New(rand.NewPCG(3, 3))}
	x[0] = make([]int32, d)
	for i := range x[0] {
		x[0][i] = int32(i * i % 2)
	}
	want := make([]float64, d)
	if err := p.EnergyGrad(ctx, x, u, [][]float64{want}); err != nil {
		t.Fatal(err)
	}
	full := u[0]
	meanU, mean, sq := 0.0, make([]float64, d), make([]float64, d)
	for range draws {
		if err := p.StochasticGrad(ctx, x, 3, rng, u, g); err != nil {
			t.Fatal(err)
		}
		meanU += u[0] / draws
		for i, v := range g[0] {
			mean[i] += v / draws
			sq[i] += v * v / draws
		}
	}
	if math.Abs(meanU/full-1) > .02 {
		t.Errorf("mean U %v, want %v", meanU, full)
	}
	for i := range mean {
		se := math.Sqrt((sq[i] - mean[i]*mean[i]) / draws)
		if math.Abs(mean[i]-want[i]) > 5*se+1e-12 {
			t.Errorf("gradient %d is %v ± %v on average, want %v", i, mean[i], se, want[i])
		}
	}
}

// On a network whose states can be listed the exact samplers have the exact posterior, and DULA has
// not.
func TestTiny(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	tiny, err := newTiny(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range candidates() {
		got, err := tiny.averages(ctx, c.make(), 1, 5000)
		if err != nil {
			t.Fatal(err)
		}
		far := math.Abs(got.output.Mean-tiny.output) > 4*got.output.SE+.002 ||
			math.Abs(got.ll.Mean-tiny.ll) > 4*got.ll.SE+.002
		if far != (c.name == "DULA") {
			t.Errorf("%s: output %.4f ± %.4f and log-likelihood %.4f ± %.4f, exactly %.4f and %.4f", c.name,
				got.output.Mean, got.output.SE, got.ll.Mean, got.ll.SE, tiny.output, tiny.ll)
		}
	}
}

// The quick case is a function of the seed, whatever the threads, and all samplers learn.
func TestQuick(t *testing.T) {
	t.Parallel()
	labtest.Quick(t, Experiment, 1, 2)
	s := sets(true)[0]
	data, err := s.open(lab.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range append(candidates(), stochastic()...) {
		task := s.task(data, 1)
		res, err := task.learn(context.Background(), c.make(), 1, c.name)
		if err != nil {
			t.Fatal(err)
		}
		if first, last := res.ll[0], res.ll[len(res.ll)-1]; last < first+.05 ||
			math.Abs(last-res.trainLL) > 1e-6 {
			t.Errorf("%s: log-likelihood from %.3f to %.3f, at the end %.3f", c.name, first, last, res.trainLL)
		}
		// A mean over chains errs no more than the chains do.
		if res.trainRMSE*res.trainRMSE > -res.trainLL+1e-9 {
			t.Errorf("%s: error %.3f above that of the chains, %.3f", c.name, res.trainRMSE,
				math.Sqrt(-res.trainLL))
		}
	}
}

// The paper's data sets are read as its code reads them: 6,172 people with 13 inputs, and 45,222
// with 88.
func TestPaperData(t *testing.T) {
	t.Parallel()
	for _, s := range sets(false) {
		d, err := s.open(lab.Options{})
		if errors.Is(err, lab.ErrNoData) {
			testmode.Missing(t, "data sets of the paper: run "+script)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if d.width != s.width || len(d.rows) != s.rows {
			t.Errorf("%s: %d rows of %d inputs, want %d of %d", s.name, len(d.rows), d.width, s.rows, s.width)
		}
		ones := 0.0
		for _, y := range d.y {
			ones += y
		}
		if share := ones / float64(len(d.y)); math.Abs(share-s.share) > .001 {
			t.Errorf("%s: a share of %.4f is 1, want %.4f", s.name, share, s.share)
		}
	}
}

// Numbers are scaled to 0 to 1 and categories become indicators.
func TestRead(t *testing.T) {
	t.Parallel()
	records, err := parse(strings.NewReader("|note\n3, a, <=50K\n7, b, >50K.\n5, a, ?\n4, a, >50K\n"), 3)
	if err != nil {
		t.Fatal(err)
	}
	d, err := table{numbers: []int{0}, categories: []int{1}, target: 2,
		one:  func(s string) bool { return strings.HasPrefix(s, ">50K") },
		keep: func(r []string) bool { return r[2] != "?" }}.read(records)
	if err != nil {
		t.Fatal(err)
	}
	want := &dataset{width: 3, columns: []int{0, 1}, y: []float64{0, 1, 1}, rows: []row{
		{[]int{1}, []float64{1}}, {[]int{0, 2}, []float64{1, 1}}, {[]int{0, 1}, []float64{.25, 1}}}}
	if !reflect.DeepEqual(d, want) {
		t.Errorf("read %+v, want %+v", d, want)
	}
	if _, err := parse(strings.NewReader("1,2\n"), 3); err == nil {
		t.Error("a line with too few fields is no error")
	}
	for _, word := range []string{"a", "NaN", "-Inf", "1e300", ""} {
		records[1][0] = word
		if _, err := (table{numbers: []int{0}, target: 2, one: func(string) bool { return true },
			keep: func([]string) bool { return true }}).read(records); err == nil {
			t.Errorf("%q in the place of a number is no error", word)
		}
	}
}
