// Package targetstest checks what targets say of themselves against their energies.
package targetstest

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"infill/samplers"
)

// Abilities checks gradients and conditionals against differences of energies. exact names the
// targets whose Δ equals the difference.
func Abilities(t *testing.T, all map[string]samplers.Gradienter, exact map[string]bool) {
	t.Helper()
	ctx := context.Background()
	for name, target := range all {
		rng := rand.New(rand.NewPCG(5, 5))
		d := target.Domain()
		for range 20 {
			x := make([]int32, d.Len())
			for i := range x {
				x[i] = int32(rng.IntN(d.K(i)))
			}
			u, ug := make([]float64, 1), make([]float64, 1)
			g := [][]float64{make([]float64, d.GradLen())}
			if err := target.Energy(ctx, [][]int32{x}, u); err != nil {
				t.Fatal(err)
			}
			if err := target.EnergyGrad(ctx, [][]int32{x}, ug, g); err != nil {
				t.Fatal(err)
			}
			if math.Abs(u[0]-ug[0]) > 1e-10 {
				t.Fatalf("%s: energy %g, with gradient %g", name, u[0], ug[0])
			}
			for i := range x {
				diff := make([]float64, d.K(i))
				for v := range diff {
					y := append([]int32(nil), x...)
					y[i] = int32(v)
					e := make([]float64, 1)
					if err := target.Energy(ctx, [][]int32{y}, e); err != nil {
						t.Fatal(err)
					}
					diff[v] = e[0] - u[0]
					if exact[name] {
						if got := delta(d, g[0], i, x[i], int32(v)); math.Abs(got-diff[v]) > 1e-9 {
							t.Fatalf("%s: Δ_%d(%d) = %g, energies differ by %g", name, i, v, got, diff[v])
						}
					}
				}
				out := [][]float64{make([]float64, d.K(i))}
				if n, ok := target.(samplers.Conditioner); ok && n.ExactConditionals() {
					if err := n.Conditional(ctx, [][]int32{x}, []int{i}, out); err != nil {
						t.Fatal(err)
					}
					compareShifted(t, name+" conditional", out[0], diff)
				}
			}
		}
	}
}

func delta(d *samplers.Domain, g []float64, i int, from, to int32) float64 {
	o := d.GradOffset(i)
	if d.Coord(i).Kind == samplers.Nominal {
		return g[o+int(to)] - g[o+int(from)]
	}
	return g[o] * (d.Value(i, to) - d.Value(i, from))
}

func compareShifted(t *testing.T, name string, got, want []float64) {
	t.Helper()
	for v := range got {
		if math.Abs(got[v]-got[0]-(want[v]-want[0])) > 1e-9 {
			t.Fatalf("%s: %v, want %v up to a constant", name, got, want)
		}
	}
}

// Smooth checks the gradient of a target whose energy is a formula on real numbers, by finite
// differences of that formula.
func Smooth(t *testing.T, name string, target samplers.Gradienter, f func([]float64) float64) {
	t.Helper()
	const h = 1e-5
	d := target.Domain()
	x := make([]int32, d.Len())
	v := make([]float64, d.Len())
	for i := range x {
		x[i] = int32(i % 2)
		v[i] = float64(x[i])
	}
	u, g := make([]float64, 1), [][]float64{make([]float64, d.GradLen())}
	if err := target.EnergyGrad(context.Background(), [][]int32{x}, u, g); err != nil {
		t.Fatal(err)
	}
	if math.Abs(u[0]-f(v)) > 1e-9 {
		t.Errorf("%s: U = %g, formula %g", name, u[0], f(v))
	}
	for i := range v {
		old := v[i]
		v[i] = old + h
		up := f(v)
		v[i] = old - h
		down := f(v)
		v[i] = old
		if want := (up - down) / (2 * h); math.Abs(g[0][i]-want) > 1e-5 {
			t.Errorf("%s: gradient %d is %g, finite difference %g", name, i, g[0][i], want)
		}
	}
}
