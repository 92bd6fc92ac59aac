package verify

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"infill/lab/papers"
	"infill/samplers"
)

// smallSelection is the experiment with fewer rows and columns.
func smallSelection(t *testing.T) selection {
	t.Helper()
	data := must(papers.NewSelection(rand.New(rand.NewPCG(1, 9)), 4000, 3))
	sums, err := data.Sums(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return selection{t: data, truth: data.MarginalsOf(sums), well: digits(sums), batch: 200, chains: 4,
		pilot: 4, updates: 60, full: 2, burnin: 100, at: []int{1, 5}, seed: 1}
}

// TestSelection runs every sampler of the section on a small problem. The oracle that flips two
// coordinates swaps a column for its copy for nothing, so it alone must come to the exact marginals.
func TestSelection(t *testing.T) {
	t.Parallel()
	s := smallSelection(t)
	var out bytes.Buffer
	got, err := s.compare(t.Context(), &out, &env{log: &bytes.Buffer{}})
	if err != nil {
		t.Fatal(err)
	}
	for name, g := range got {
		for _, errors := range g.Errors {
			for _, v := range errors {
				if !(v >= 0 && v <= 6) {
					t.Errorf("%s: error %g", name, v)
				}
			}
		}
		// Of the first 60 states at most one has all the weight, and each has some.
		if h := g.Heaviest; len(h) != 2 || !(h[0] >= 1./60 && h[0] <= 1) {
			t.Errorf("%s: the heaviest states have the shares %g", name, h)
		}
		if stays := strings.HasPrefix(name, "DLMC"); g.Visited < 2 && !stays || g.chains() != 4 {
			t.Errorf("%s: %d states, %d chains", name, g.Visited, g.chains())
		}
	}
	two, one := got["RWM of two flips, oracle"], got["RWM of one flip, oracle"]
	if two.Together[1] > 0.4 || two.Together[1] > one.Together[1] {
		t.Errorf("the errors are %.2f with two flips and %.2f with one\n%s", two.Together[1], one.Together[1], &out)
	}
	fast, constant := got["SGDLD-.6"].Jump, got["noP-.6"].Jump
	if math.Abs(constant-fast) > 0.06 {
		t.Errorf("jump distances are %.2f with Polyak's steps and %.2f with constant time", fast, constant)
	}
	if r := rhats(got["SGDLD-.6"], s.updates); r[0] == "–" || r[2] != "–" {
		t.Errorf("R-hat after 2, 5, 10 and 20 of 5 steps is %v", r)
	}
}

// TestOracle: it has the energies of the target, for one chain, for many, and for none.
func TestOracle(t *testing.T) {
	t.Parallel()
	data := must(papers.NewSelection(rand.New(rand.NewPCG(1, 3)), 50, 3))
	for _, chains := range []int{0, 1, 60} {
		x := newOracle(data)
		from := samplers.Origins{Memory: make([]any, chains)}
		states := starts(data.Domain(), 60, 1)
		for k := range states {
			from.Chain = append(from.Chain, k*chains/60)
		}
		u, want := make([]float64, 60), make([]float64, 60)
		for range 2 {
			var err error
			if chains == 0 {
				err = x.Energy(t.Context(), states, u)
			} else {
				err = x.ChainEnergy(t.Context(), from, states, u, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := data.Energy(t.Context(), states, want); err != nil {
				t.Fatal(err)
			}
			for k := range u {
				if math.Abs(u[k]-want[k]) > 1e-9 {
					t.Errorf("%v: %g, want %g", states[k], u[k], want[k])
				}
			}
			slices.Reverse(states)
		}
	}
}

// TestWell: with two columns the sums within two changes are all there are, and the marginals those
// of the target. With many rows of three columns the rest is nothing.
func TestWell(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ n, d int }{{40, 2}, {300, 2}, {4000, 3}} {
		data := must(papers.NewSelection(rand.New(rand.NewPCG(1, 4)), c.n, c.d))
		sums, err := data.Sums(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got, err := newColumns(data).well(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range data.MarginalsOf(sums) {
			if !(math.Abs(got.Marginals[i]-want) < 1e-9) {
				t.Errorf("%+v: P(β_%d = 1) is %g, want %g", c, i, got.Marginals[i], want)
			}
		}
		if !slices.Equal(got.Sums, digits(sums)) {
			t.Errorf("%+v: the best sums are %v, want %v", c, got.Sums, digits(sums))
		}
		slices.Sort(sums)
		if gap := sums[len(sums)-1] - sums[len(sums)-2]; !(math.Abs(got.Gap-gap) < 1e-6) {
			t.Errorf("%+v: the gap is %g, want %g", c, got.Gap, gap)
		}
	}
}

// TestSelectionBias: with h the error of all chains together falls, and without the cache it stays,
// since it is then the error of single mini-batches however small h is.
func TestSelectionBias(t *testing.T) {
	t.Parallel()
	data := must(papers.NewSelection(rand.New(rand.NewPCG(1, 9)), 100, 3))
	sums, err := data.Sums(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := selection{t: data, truth: data.MarginalsOf(sums), well: digits(sums), batch: 10, chains: 40,
		updates: 100, at: []int{10, 40}, seed: 1}
	var out bytes.Buffer
	got, err := s.bias(t.Context(), &out, &env{log: &bytes.Buffer{}})
	if err != nil {
		t.Fatal(err)
	}
	last := func(name string) float64 { return got[name].Together[1] }
	if last("SGDLD-.02") > last("SGDLD-.6")/2 || last("noC-.02") < last("noC-.6")*0.7 {
		t.Error(out.String())
	}
}
