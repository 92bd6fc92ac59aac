package verify

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"infill/samplers"
)

// TestEquation106 compares differences of energies with the formula of the paper and of its code,
// written out edge by edge, for the same numbers.
func TestEquation106(t *testing.T) {
	t.Parallel()
	const n = 5
	rng := rand.New(rand.NewPCG(3, 1))
	theta := isingField(rand.New(rand.NewPCG(9, 9)), n, 2)
	delta := func(x []int32, equal, different float64) (sum float64) { // Σ over edges
		for i := range x {
			for _, j := range []int{i + 1, i + n} {
				if j == i+1 && j%n == 0 || j >= n*n {
					continue
				}
				if x[i] == x[j] {
					sum += equal
				} else {
					sum += different
				}
			}
		}
		return sum
	}
	potts := potts106(rand.New(rand.NewPCG(9, 9)), n, 4)
	for i := range n * n {
		in := -1.
		if i == 12 || i == 11 || i == 7 { // about the middle
			in = 1
		}
		for v := range 4 {
			if f := potts.Field[4*i+v] - in*float64(v+1)/8; (in > 0 || i == 0) && math.Abs(f) > 1.5 {
				t.Errorf("site %d has the field %g for category %d", i, potts.Field[4*i+v], v)
			}
		}
	}
	for _, c := range []struct {
		name string
		k    int
		t    samplers.Target
		u    func(x []int32) float64
	}{
		{"equation 106", 2, ising106(rand.New(rand.NewPCG(9, 9)), n, 2), func(x []int32) float64 {
			u := delta(x, 1, 0) // λ = 1
			for i, v := range x {
				u += theta[i] * float64(v)
			}
			return u
		}},
		{"public code", 2, isingCode(rand.New(rand.NewPCG(9, 9)), n, 2), func(x []int32) float64 {
			u := delta(x, 2, -2) // λ = 1, from both ends
			for i, v := range x {
				u += theta[i] * float64(2*v-1)
			}
			return u
		}},
		{"Potts", 4, potts, func(x []int32) float64 {
			u := delta(x, 1, 0)
			for i, v := range x {
				u += potts.Field[4*i+int(v)]
			}
			return u
		}},
	} {
		x := make([][]int32, 20)
		for k := range x {
			x[k] = make([]int32, n*n)
			for i := range x[k] {
				x[k][i] = int32(rng.IntN(c.k))
			}
		}
		u := make([]float64, len(x))
		if err := c.t.Energy(context.Background(), x, u); err != nil {
			t.Fatal(err)
		}
		for k := range x {
			if got, want := u[k]-u[0], c.u(x[k])-c.u(x[0]); math.Abs(got-want) > 1e-9 {
				t.Errorf("%s: the energies of two states differ by %g, want %g", c.name, got, want)
			}
		}
	}
}

// TestDLMCModels makes the section's row of small models. Where coordinates are independent DLMC
// gives independent draws, 50,000 at four calls each.
func TestDLMCModels(t *testing.T) {
	t.Parallel()
	found := false
	for j, m := range dlmcModels(10) {
		target := m.make(rand.New(rand.NewPCG(1, uint64(j))))
		if m.name != "categorical, C = 8" {
			continue
		}
		cells, err := dlmcRow(t.Context(), target, 2, 200, 1000, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := over(cells[4].Whole).mean; math.Abs(got/12500-1) > 0.15 {
			t.Errorf("DLMC √ has an ESS of %.0f per call, want 12500", got)
		}
		for _, i := range []int{0, 1, 2, 3} {
			if got := over(cells[i].Whole).mean; !(got > 100 && got < over(cells[4].Whole).mean) {
				t.Errorf("sampler %d has an ESS of %.0f per call", i, got)
			}
		}
		found = true
	}
	if !found {
		t.Error("no such model")
	}
}

// Only an order that was clear, and is another later, counts.
func TestChanged(t *testing.T) {
	t.Parallel()
	cell := func(half, whole float64) dlmcCell {
		return dlmcCell{Half: []float64{half - 1, half, half + 1}, Whole: []float64{whole, whole + 1}}
	}
	for _, c := range []struct {
		cells []dlmcCell
		want  int
	}{
		{[]dlmcCell{cell(10, 10), cell(20, 20), cell(30, 30)}, 0},
		{[]dlmcCell{cell(10, 10), cell(11, 5)}, 0}, // not clear
		{[]dlmcCell{cell(10, 30), cell(20, 20), cell(30, 25)}, 2},
	} {
		if got := changed(c.cells); got != c.want {
			t.Errorf("%d orders changed, want %d", got, c.want)
		}
	}
}
