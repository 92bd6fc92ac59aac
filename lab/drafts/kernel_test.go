package drafts

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A table is a model of few states: three blanks of two or three values.
type table struct {
	u      []float64
	masked [][][]float32
}

var sizes = []int32{2, 3, 2}

func index(x []int32) int { return int((x[0]*sizes[1]+x[1])*sizes[2] + x[2]) }

func states() (all [][]int32) {
	for a := range sizes[0] {
		for b := range sizes[1] {
			for c := range sizes[2] {
				all = append(all, []int32{a, b, c})
			}
		}
	}
	return all
}

func (t *table) rows(_ context.Context, x []int32) (float64, [][]float32, error) {
	return t.u[index(x)], t.masked[index(x)], nil
}

// newTable draws a table. With exact rows these are the conditionals of exp(U). Otherwise they are
// drawn, and U is their sum, as a masked language model has it.
func newTable(rng *rand.Rand, exact bool) *table {
	t := &table{u: make([]float64, len(states())), masked: make([][][]float32, len(states()))}
	for s := range t.u {
		t.u[s] = 1.5 * rng.NormFloat64()
	}
	known := map[[2]int][]float32{}
	for s, x := range states() {
		for i := range x {
			y := slices.Clone(x)
			y[i] = 0
			key := [2]int{i, index(y)}
			if known[key] == nil {
				row := make([]float32, sizes[i])
				for v := range row {
					row[v] = float32(rng.NormFloat64())
					if y[i] = int32(v); exact {
						row[v] = float32(t.u[index(y)])
					}
				}
				known[key] = row
			}
			t.masked[s] = append(t.masked[s], known[key])
		}
		if !exact {
			t.u[s] = 0
			for i, v := range x {
				t.u[s] += float64(t.masked[s][i][v])
			}
		}
	}
	return t
}

// matrix follows every choice that a step can make and gives the probabilities of where it leads.
func matrix(t *testing.T, step func(x []int32, draw pick) []int32) [][]float64 {
	t.Helper()
	p := make([][]float64, len(states()))
	for s, x := range states() {
		p[s] = make([]float64, len(states()))
		var path []int
		for done := false; !done; {
			at, prob, width := 0, 1.0, []int(nil)
			y := step(slices.Clone(x), func(w []float64) int {
				if at == len(path) {
					path = append(path, 0)
				}
				sum := 0.0
				for _, v := range w {
					sum += v
				}
				v := path[at]
				prob *= w[v] / sum
				width = append(width, len(w))
				at++
				return v
			})
			if prob > 0 {
				p[s][index(y)] += prob
			}
			for done = true; len(path) > 0; path = path[:len(path)-1] {
				if path[len(path)-1]++; path[len(path)-1] < width[len(path)-1] {
					done = false
					break
				}
			}
		}
	}
	return p
}

// unbalanced is by how much at most detailed balance with exp(u) fails, and a row's sum is not 1.
func unbalanced(p [][]float64, u []float64) (flow, sum float64) {
	z := 0.0
	for _, v := range u {
		z += math.Exp(v)
	}
	for i := range p {
		total := 0.0
		for j := range p {
			total += p[i][j]
			flow = math.Max(flow, math.Abs(math.Exp(u[i])*p[i][j]-math.Exp(u[j])*p[j][i])/z)
		}
		sum = math.Max(sum, math.Abs(total-1))
	}
	return flow, sum
}

// Every step is reversible for the large model, whatever the small one is, and one that leaves the
// small model out of its test is not.
func TestDraftsAreReversible(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(5, 5))
	for _, exact := range []bool{true, false} {
		large, small := newTable(rng, false), newTable(rng, exact)
		for _, c := range []struct {
			steps, blanks int
			temp          float64
		}{{1, 1, 1}, {2, 1, 1.5}, {1, 2, 1.5}, {1, 3, 1}, {2, 2, .7}} {
			d := &drafts{large: large, small: small, steps: c.steps, blanks: c.blanks, temp: c.temp}
			p := matrix(t, func(x []int32, draw pick) []int32 {
				y, _, err := d.step(ctx, x, draw)
				if err != nil {
					t.Fatal(err)
				}
				return y
			})
			flow, sum := unbalanced(p, large.u)
			if flow > 1e-12 || sum > 1e-12 {
				t.Errorf("%+v, exact rows %v: balance off by %v, rows by %v", c, exact, flow, sum)
			}
			wrong := matrix(t, func(x []int32, draw pick) []int32 {
				y := x
				for range d.steps {
					var err error
					if y, err = d.move(ctx, y, draw); err != nil {
						t.Fatal(err)
					}
				}
				a := math.Min(1, math.Exp(large.u[index(y)]-large.u[index(x)]))
				if draw([]float64{1 - a, a}) == 1 {
					return y
				}
				return x
			})
			if flow, _ := unbalanced(wrong, large.u); flow < 1e-3 {
				t.Errorf("%+v, exact rows %v: the wrong test goes unnoticed, %v", c, exact, flow)
			}
		}
	}
}

// A small model that is the large one has all its proposals accepted.
func TestDraftsOfTheSameModel(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(6, 6))
	m := newTable(rng, false)
	d := &drafts{large: m, small: m, steps: 3, blanks: 2, temp: 1}
	x, moved := []int32{0, 0, 0}, 0
	for range 200 {
		y, prob, err := d.step(context.Background(), x, drawer(rng))
		if err != nil {
			t.Fatal(err)
		}
		if !math.IsNaN(prob) {
			if moved++; prob < 1-1e-12 || slices.Equal(x, y) {
				t.Fatalf("probability %v of going from %v to %v", prob, x, y)
			}
		}
		x = y
	}
	if moved < 20 {
		t.Errorf("%d proposals in 200 steps", moved)
	}
}
