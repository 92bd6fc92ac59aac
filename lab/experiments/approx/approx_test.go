package approx

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"infill/lab/experiments/lab/labtest"
	"infill/samplers"
)

// A graph of additions has the sum of its inputs, one of multiplications their product, and the
// errors of units agree with closed forms.
func TestGraph(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	var adds, multiplies graph
	for i := range multiplies {
		multiplies[i] = true
	}
	for range 100 {
		var d draw
		d.fill(rng)
		sum, product := 0.0, 1.0
		for _, v := range d.input {
			sum, product = sum+v, product*v
		}
		if got := adds.run(&d, 0); math.Abs(got-sum) > 1e-12 {
			t.Fatalf("sum %v, want %v", got, sum)
		}
		if got := multiplies.run(&d, 0); math.Abs(got-product) > 1e-15 {
			t.Fatalf("product %v, want %v", got, product)
		}
		units := rng.Uint32N(1 << nodes)
		all := 1.0
		for i, e := range d.err {
			if units>>i&1 != 0 {
				all *= 1 + e
			}
		}
		if got, want := relative(multiplies.run(&d, units), multiplies.run(&d, 0)), 100*math.Abs(all-1); math.Abs(got-want) > 1e-9 {
			t.Fatalf("relative error %v of a product, want %v", got, want)
		}
		// Node 4 sums the inputs 4 to 7: nodes 9 and 10 are below it.
		part := d.input[4] + d.input[5] + d.input[6] + d.input[7]
		want := 100 * math.Abs(d.err[4]*part/sum)
		if got := relative(adds.run(&d, 1<<4), sum); math.Abs(got-want) > 1e-9 {
			t.Fatalf("relative error %v of a sum, want %v", got, want)
		}
	}
}

// An approximate unit errs by 10 % on average, in any place of a product.
func TestErrorsOfUnits(t *testing.T) {
	t.Parallel()
	var g graph
	for i := range g {
		g[i] = true
	}
	draws := make([]draw, 20000)
	rng := rand.New(rand.NewPCG(1, 3))
	for i := range draws {
		draws[i].fill(rng)
	}
	for _, e := range g.errors(draws, subsets(1)) {
		if math.Abs(e-10) > .2 {
			t.Errorf("a unit errs by %.2f %%, want 10", e)
		}
	}
	// Many sets together have the same errors as each by itself, in any order.
	odd := graphOf(1, 3)
	sets := append(subsets(5), 1<<14, 0, 7, 7, 1<<nodes-1)
	for s, e := range odd.errors(draws[:2], sets) {
		want := 0.0
		for i := range 2 {
			want += relative(odd.run(&draws[i], sets[s]), odd.run(&draws[i], 0)) / 2
		}
		if e != want {
			t.Fatalf("set %b errs by %v, by itself %v", sets[s], e, want)
		}
	}
	for k, want := range map[int]int{3: 455, 5: 3003, 8: 6435} {
		if got := len(subsets(k)); got != want {
			t.Errorf("%d sets of %d nodes, want %d", got, k, want)
		}
	}
}

// Estimates are differences of the errors of a draw, with the temperature, and two units on one
// node have probability 0.
func TestEstimates(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := graphOf(1, 0)
	tg := newTarget(g, 3, .5)
	tg.Heat(.2)
	x, out := [][]int32{{2, 9, 14}}, [][]float64{make([]float64, 3*nodes)}
	if err := tg.EstimateRatios(ctx, x, 1, []*rand.Rand{rand.New(rand.NewPCG(4, 4))}, out, nil); err != nil {
		t.Fatal(err)
	}
	tg.draws = make([]draw, 1)
	tg.draws[0].fill(rand.New(rand.NewPCG(4, 4)))
	u := make([]float64, 2)
	for c := range 3 {
		for v := range int32(nodes) {
			y := append([]int32(nil), x[0]...)
			y[c] = v
			if err := tg.Energy(ctx, [][]int32{x[0], y}, u); err != nil {
				t.Fatal(err)
			}
			want, got := u[1]-u[0], out[0][c*nodes+int(v)]
			if got != want && !(math.Abs(got-want) < 1e-9) {
				t.Errorf("unit %d to node %d: %v, want %v", c, v, got, want)
			}
		}
	}
}

// The states of a set have the same rates, whichever unit is on which node.
func TestStatesOfASet(t *testing.T) {
	t.Parallel()
	tg := newTarget(graphOf(1, 2), 4, 1)
	x := [][]int32{{1, 4, 8, 13}, {13, 1, 4, 8}}
	out := [][]float64{make([]float64, 4*nodes), make([]float64, 4*nodes)}
	rng := []*rand.Rand{rand.New(rand.NewPCG(5, 5)), rand.New(rand.NewPCG(5, 5))}
	if err := tg.EstimateRatios(context.Background(), x, 3, rng, out, nil); err != nil {
		t.Fatal(err)
	}
	for c := range 4 {
		for v := range nodes {
			got, want := out[1][(c+1)%4*nodes+v], out[0][c*nodes+v]
			if got != want && !(math.Abs(got-want) < 1e-9) {
				t.Errorf("from node %d to %d: %v, in another order %v", x[0][c], v, got, want)
			}
		}
	}
}

// With enough draws a step the chain comes to the best of all sets, or to one nearly as good.
func TestFindsTheOptimum(t *testing.T) {
	t.Parallel()
	found := 0
	const graphs = 4
	for n := range graphs {
		s := settings{steps: 200, draws: 2000, batches: []int{100}}
		p, err := s.place(context.Background(), graphOf(1, n), 3, 1, n)
		if err != nil {
			t.Fatal(err)
		}
		got, opt := p["SGDLD, 100 draws"], p["OPT"]
		if got < opt || got > 1.5*opt || p["mean of all sets"] < 1.5*opt {
			t.Errorf("graph %d: %v", n, p)
		}
		if got < 1.02*opt {
			found++
		}
	}
	if found < graphs/2 {
		t.Errorf("the optimum of %d graphs of %d found", found, graphs)
	}
}

// Differences to noC are graph by graph: their error is not that of the graphs.
func TestAgainst(t *testing.T) {
	t.Parallel()
	results := make([]placed, 2*len(columns))
	for i, graph := range []float64{10, 20} {
		results[i*len(columns)] = placed{"OPT": graph, "SGDLD-noC, 1 draw": graph + 3,
			"SGDLD, 1 draw": graph + 1, "SLS, 1 draw": 2 * graph, meanOfAll: 3 * graph}
	}
	text := settings{batches: []int{1}}.table(results, 0)
	for _, row := range []string{
		"| SGDLD, 1 draw | 16.00 ± 5.00 | 6.7 | −2.00 ± 0.00 | 2.95 | 6.5 |",
		"| SLS, 1 draw | 30.00 ± 10.00 | 100.0 | 12.00 ± 5.00 | – | – |",
	} {
		if !strings.Contains(text, row) {
			t.Errorf("no row %q in\n%s", row, text)
		}
	}
}

// The quick case is a function of the seed, whatever the threads.
func TestQuick(t *testing.T) {
	t.Parallel()
	labtest.Quick(t, Experiment, 1, 2)
}

// The samplers know no state with two units on a node, from any start.
func TestNoNodeTwice(t *testing.T) {
	t.Parallel()
	tg := newTarget(graphOf(1, 1), 8, 5)
	x := [][]int32{{0, 1, 2, 3, 4, 5, 6, 7}}
	run, err := samplers.Start(context.Background(), &samplers.SGDLD{Jump: 1}, tg, x, samplers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = run.Steps(context.Background(), 500, func(r *samplers.Run) error {
		if _, ok := units(r.X[0]); !ok {
			t.Fatalf("state %v", r.X[0])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if run.Stats[0].NonFinite > 0 || run.Stats[0].Moved < 500 {
		t.Errorf("%+v", run.Stats[0])
	}
}
