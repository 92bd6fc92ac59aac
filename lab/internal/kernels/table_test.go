package kernels

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"infill/internal/testmode"
	"infill/samplers"
)

// tableTarget is a small random target whose energies, gradients and masked
// conditionals are tables, so that everything about it can be enumerated. Its
// gradients are the multilinear extension's plus a perturbation that depends on
// the state: an exact sampler must correct for both.
type tableTarget struct {
	dom    *samplers.Domain
	states [][]int32
	u      []float64
	grad   [][]float64
	mask   [][]float64 // [state][GradLen of the all-nominal layout]
	moff   []int
	logZ   float64
	evals  int // states evaluated by Energy and EnergyGrad
}

// maxSmall bounds the states of a random small domain, so that the kernels of
// all samplers on it are enumerated in a moment.
const maxSmall = 125

// smallDomain cycles through nominal, ordinal, binary and mixed domains with
// 2–4 coordinates of 2–5 categories, some with a support mask. With four
// coordinates, those that come after two large ones may have to be small.
func smallDomain(rng *rand.Rand, which int) *samplers.Domain {
	n := 2 + rng.IntN(3)
	coords := make([]samplers.Coord, n)
	states := 1
	for i := range coords {
		k := 2 + rng.IntN(4)
		if n == 4 {
			k = min(k, maxSmall>>(n-1-i)/states)
		}
		states *= k
		switch which % 4 {
		case 0:
			coords[i] = samplers.Coord{Kind: samplers.Nominal, K: k}
		case 1:
			coords[i] = samplers.Coord{Kind: samplers.Ordinal, K: k, Low: -1, Step: 0.5 + rng.Float64()}
		case 2:
			coords[i] = samplers.Coord{Kind: samplers.Binary, Low: float64(-rng.IntN(2)), Step: 1 + float64(rng.IntN(2))}
		default:
			coords[i] = []samplers.Coord{
				{Kind: samplers.Binary, Low: -1, Step: 2},
				{Kind: samplers.Nominal, K: k},
				{Kind: samplers.Ordinal, K: k, Step: 1},
			}[rng.IntN(3)]
		}
		if coords[i].Kind != samplers.Binary && k > 2 && rng.IntN(3) == 0 {
			a := make([]bool, k)
			for v := range a {
				a[v] = true
			}
			a[rng.IntN(k)] = false
			coords[i].Allowed = a
		}
	}
	d, err := samplers.NewDomain(coords...)
	if err != nil {
		panic(err)
	}
	return d
}

func newTable(rng *rand.Rand, d *samplers.Domain, rough, blur float64) *tableTarget {
	t := &tableTarget{dom: d}
	total := 1
	for i := range d.Len() {
		t.moff = append(t.moff, 0)
		if i > 0 {
			t.moff[i] = t.moff[i-1] + d.K(i-1)
		}
		total *= d.K(i)
	}
	mlen := t.moff[d.Len()-1] + d.K(d.Len()-1)
	t.u = make([]float64, total)
	for s := range total {
		x := make([]int32, d.Len())
		r := s
		for i := range x {
			x[i] = int32(r % d.K(i))
			r /= d.K(i)
		}
		t.states = append(t.states, x)
		t.u[s] = rough * rng.NormFloat64()
		if d.Check(x) != nil {
			t.u[s] = negInf
		}
	}
	t.logZ = logSumExp(t.u)
	for s, x := range t.states {
		g := make([]float64, d.GradLen())
		m := make([]float64, mlen)
		for i := range x {
			gi := g[d.GradOffset(i):]
			if d.Coord(i).Kind == samplers.Nominal {
				for v := range d.K(i) {
					gi[v] = t.at(x, i, v) + blur*rng.NormFloat64()
				}
			} else {
				v := (int(x[i]) + 1) % d.K(i)
				diff := d.Value(i, int32(v)) - d.Value(i, x[i])
				if e := t.at(x, i, v); finite(e) && finite(t.u[s]) {
					gi[0] = (e - t.u[s]) / diff
				}
				gi[0] += blur * rng.NormFloat64()
			}
			// The masked conditional may not depend on x_i: only fill it in
			// where x_i is 0 and copy it to the others afterwards.
			for v := range d.K(i) {
				m[t.moff[i]+v] = rng.NormFloat64()
			}
		}
		t.grad = append(t.grad, g)
		t.mask = append(t.mask, m)
	}
	for s, x := range t.states {
		for i := range x {
			src := t.mask[t.index(x)-t.stride(i)*int(x[i])]
			copy(t.mask[s][t.moff[i]:t.moff[i]+d.K(i)], src[t.moff[i]:])
		}
	}
	return t
}

func (t *tableTarget) stride(i int) int {
	s := 1
	for j := range i {
		s *= t.dom.K(j)
	}
	return s
}

func (t *tableTarget) index(x []int32) int {
	s := 0
	for i := len(x) - 1; i >= 0; i-- {
		s = s*t.dom.K(i) + int(x[i])
	}
	return s
}

// at is U(x with x_i = v).
func (t *tableTarget) at(x []int32, i, v int) float64 {
	return t.u[t.index(x)+t.stride(i)*(v-int(x[i]))]
}

func (t *tableTarget) pi(s int) float64 { return math.Exp(t.u[s] - t.logZ) }

func (t *tableTarget) Domain() *samplers.Domain { return t.dom }

func (t *tableTarget) Energy(_ context.Context, x [][]int32, u []float64) error {
	for k := range x {
		u[k] = t.u[t.index(x[k])]
		t.evals++
	}
	return nil
}

func (t *tableTarget) EnergyGrad(_ context.Context, x [][]int32, u []float64, g [][]float64) error {
	for k := range x {
		s := t.index(x[k])
		u[k] = t.u[s]
		copy(g[k], t.grad[s])
		t.evals++
	}
	return nil
}

func (t *tableTarget) ExactConditionals() bool { return false }

func (t *tableTarget) Conditional(
	_ context.Context, x [][]int32, i []int, lp [][]float64,
) error {
	for k := range x {
		m := t.mask[t.index(x[k])]
		copy(lp[k], m[t.moff[i[k]]:][:t.dom.K(i[k])])
	}
	return nil
}

// rowTable gives the rows of a state at once.
type rowTable struct{ *tableTarget }

func (t rowTable) EnergyRows(ctx context.Context, x [][]int32, u []float64, rows, _ [][]float64) error {
	for k := range x {
		copy(rows[k], t.mask[t.index(x[k])])
	}
	return t.Energy(ctx, x, u)
}

// support lists the states of positive probability.
func (t *tableTarget) support() []int {
	var out []int
	for s, u := range t.u {
		if !math.IsInf(u, -1) {
			out = append(out, s)
		}
	}
	return out
}

// repeats is how often a test is repeated: all times where the long tests run,
// else quick times. Each repetition is a test of its own, as strict either way.
func repeats(all, quick int) int {
	if testmode.All() {
		return all
	}
	return quick
}

// eachTable runs f on n random targets or, in the usual run, on the first 12 of
// them: three of each kind of domain.
func eachTable(t *testing.T, n int, f func(t *testing.T, rng *rand.Rand, tab *tableTarget)) {
	t.Helper()
	for j := range repeats(n, min(n, 12)) {
		rng := rand.New(rand.NewPCG(uint64(j), 7))
		f(t, rng, newTable(rng, smallDomain(rng, j), 0.5+rng.Float64(), 0.7*rng.Float64()))
	}
}

// bare gives energies only.
type bare struct{ t *tableTarget }

func (b bare) Domain() *samplers.Domain { return b.t.dom }

func (b bare) Energy(ctx context.Context, x [][]int32, u []float64) error {
	return b.t.Energy(ctx, x, u)
}

// flat is a uniform target on any domain.
type flat struct{ d *samplers.Domain }

func (f flat) Domain() *samplers.Domain { return f.d }

func (f flat) Energy(_ context.Context, x [][]int32, u []float64) error {
	clear(u)
	return nil
}

// conditionerTable gives exact conditionals, with a constant of its own for each state and
// coordinate, as the interface allows.
type conditionerTable struct{ *tableTarget }

func (t conditionerTable) Conditional(
	_ context.Context, x [][]int32, i []int, lp [][]float64,
) error {
	for k := range x {
		for v := range lp[k] {
			lp[k][v] = t.at(x[k], i[k], v) - float64(t.index(x[k])+i[k])
		}
	}
	return nil
}

func (t conditionerTable) ExactConditionals() bool { return true }
