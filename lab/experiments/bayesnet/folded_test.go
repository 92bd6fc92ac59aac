package bayesnet

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"infill/lab/experiments/lab"
)

// records has columns of few values, which fold into groups, one of many values, and equal rows.
func records(rng *rand.Rand, rows int, many bool) *dataset {
	var all [][]string
	for range rows {
		number := fmt.Sprint(rng.IntN(9))
		if many {
			number = fmt.Sprint(rng.Float64())
		}
		all = append(all, []string{number, fmt.Sprint(rng.IntN(80)), fmt.Sprint(rng.IntN(5)),
			string(rune('a' + rng.IntN(7))), string(rune('a' + rng.IntN(3))),
			string(rune('a' + rng.IntN(2))), fmt.Sprint(rng.IntN(2))})
	}
	d, err := table{numbers: []int{0, 1, 2}, categories: []int{3, 4, 5}, target: 6,
		one:  func(s string) bool { return s == "1" },
		keep: func([]string) bool { return true }}.read(all)
	if err != nil {
		panic(err)
	}
	return d
}

// Folded rows have the energy and the gradient of the rows one by one.
func TestFolded(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 1))
	for _, c := range []struct {
		rows                  int
		many                  bool
		groups, dense, merged int // merged: at least so many rows are not the first of theirs
	}{{4000, true, 2, 1, 0}, {4000, false, 2, 0, 1}} {
		d := records(rng, c.rows, c.many)
		in := standardise(d)
		f := fold(in)
		if len(f.groups) < c.groups || len(f.dense) != c.dense || len(f.n) > c.rows-c.merged {
			t.Errorf("%d groups, %d dense columns and %d rows of %d", len(f.groups), len(f.dense), len(f.n),
				c.rows)
		}
		n := newNetwork(d.width, 6)
		p := newPosterior(n, in, f, 100)
		s := p.sweep()
		w := make([]float64, n.weights())
		for i := range w {
			w[i] = float64(2*rng.IntN(2) - 1)
		}
		// At first all is computed, later what has changed: nothing, one weight after another, many.
		for _, flips := range []int{0, 0, 1, 1, 1, 40, 1} {
			for range flips {
				w[rng.IntN(len(w))] *= -1
			}
			got, want := make([]float64, len(w)), make([]float64, len(w))
			u, v := p.whole(s, w, got), p.energy(w, want, c.rows, each)
			if math.Abs(u-v) > 1e-5 || math.Abs(u-p.whole(s, w, nil)) > 1e-12 {
				t.Errorf("U is %v, one by one %v", u, v)
			}
			for i := range want {
				if math.Abs(got[i]-want[i]) > 1e-4 {
					t.Errorf("gradient %d is %v, one by one %v", i, got[i], want[i])
				}
			}
		}
		w[len(w)-1] *= -1 // the last one, of no unit
		if u, v := p.whole(s, w, nil), p.energy(w, nil, c.rows, each); math.Abs(u-v) > 1e-5 {
			t.Errorf("U is %v, one by one %v", u, v)
		}
	}
}

// Hyperbolic tangents are near the true ones.
func TestTanh(t *testing.T) {
	t.Parallel()
	x := []float64{math.Inf(1), math.Inf(-1), 1e300}
	for i := range 400001 {
		x = append(x, float64(i-200000)/10000)
	}
	got := append([]float64(nil), x...)
	tanhs(got)
	for i, v := range got {
		if want := math.Tanh(x[i]); math.Abs(v-want) > 1e-8 {
			t.Fatalf("tanh %v is %v, want %v", x[i], v, want)
		}
	}
}

func BenchmarkSweep(b *testing.B) {
	s := sets(false)[1]
	if testing.Short() {
		s = sets(false)[0]
	}
	d, err := s.open(lab.Options{})
	if err != nil {
		b.Skip(err)
	}
	task := s.task(d, 1)
	b.Logf("%d rows folded to %d, %d groups, %d dense", len(d.rows), len(task.folded.n),
		len(task.folded.groups), len(task.folded.dense))
	p := newPosterior(task.net, task.train, task.folded, 100)
	kept, w := p.sweep(), make([]float64, task.net.weights())
	for i := range w {
		w[i] = float64(i*i%3%2*2 - 1)
	}
	for _, c := range []struct {
		name   string
		others int // units
		g      []float64
	}{{"one unit", 1, nil}, {"all units", task.net.hidden, nil},
		{"one unit and gradient", 1, make([]float64, len(w))}} {
		b.Run(c.name, func(b *testing.B) {
			for range b.N {
				for u := range c.others {
					w[u] *= -1
				}
				p.whole(kept, w, c.g)
			}
		})
	}
}
