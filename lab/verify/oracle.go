package verify

import (
	"context"
	"math"

	"infill/lab/papers"
	"infill/samplers"
)

// columns is variable selection by columns, to which U is known at little cost where few columns
// change:
//
//	U = Σ_j s_j Σ_n y_n x_nj − log Π_n (1 + exp(a_n)),   exp(a_n) = Π_j exp(x_nj)^{s_j}
//
// s_j being how many of column j and its copy are in. It is for the paper's data, whose exp(a_n)
// stay in the range of a number.
type columns struct {
	t     *papers.Selection
	exp   [][]float64 // exp(x_nj) of each column
	slope []float64   // Σ y_n x_nj
}

func newColumns(t *papers.Selection) *columns {
	c := &columns{t: t, slope: make([]float64, t.D)}
	for j := range t.D {
		col := make([]float64, t.N)
		for n := range col {
			x := t.X[n*t.D+j]
			col[n] = math.Exp(x)
			c.slope[j] += t.Y[n] * x
		}
		c.exp = append(c.exp, col)
	}
	return c
}

// walker is a place among the sums s.
type walker struct {
	*columns
	sums []byte
	e    []float64 // exp(a_n)
}

// walker begins without any column.
func (c *columns) walker() *walker {
	w := &walker{columns: c, sums: make([]byte, c.t.D), e: make([]float64, c.t.N)}
	for n := range w.e {
		w.e[n] = 1
	}
	return w
}

// to goes to other sums.
func (w *walker) to(sums []byte) {
	for j, s := range sums {
		w.set(j, s)
	}
}

// set changes one sum.
func (w *walker) set(j int, s byte) {
	for ; w.sums[j] < s; w.sums[j]++ {
		for n, f := range w.exp[j] {
			w.e[n] *= f
		}
	}
	for ; w.sums[j] > s; w.sums[j]-- {
		for n, f := range w.exp[j] {
			w.e[n] /= f
		}
	}
}

// energy is U.
func (w *walker) energy() float64 {
	u := 0.0
	for j, s := range w.sums {
		u += float64(s) * w.slope[j]
	}
	const far = 1e150 // a factor more keeps the product a number
	p := 1.0
	for _, e := range w.e {
		if p *= 1 + e; p > far {
			u -= math.Log(p)
			p = 1
		}
	}
	return u - math.Log(p)
}

// oracle has the exact energies for nothing: it computes them once for every value of the sums, and
// from where the chain that asks has been last. It is for one goroutine.
type oracle struct {
	*papers.Selection
	columns *columns
	known   map[string]float64
}

func newOracle(t *papers.Selection) *oracle {
	return &oracle{Selection: t, columns: newColumns(t), known: map[string]float64{}}
}

// Energy implements samplers.Target.
func (o *oracle) Energy(ctx context.Context, x [][]int32, u []float64) error {
	w := o.columns.walker()
	return o.energies(ctx, x, u, func(int) *walker { return w })
}

// ChainEnergy implements samplers.ChainEnergizer, with a walker for each chain.
func (o *oracle) ChainEnergy(ctx context.Context, from samplers.Origins, x [][]int32, u []float64,
	grad [][]float64) error {
	if grad != nil {
		return o.EnergyGrad(ctx, x, u, grad)
	}
	return o.energies(ctx, x, u, func(k int) *walker {
		kept := &from.Memory[from.Chain[k]]
		if *kept == nil {
			*kept = o.columns.walker()
		}
		return (*kept).(*walker)
	})
}

// energies has energies that are not known computed by the walkers of their states.
func (o *oracle) energies(ctx context.Context, x [][]int32, u []float64,
	walkerOf func(k int) *walker) error {
	sums := make([]byte, o.D)
	for k, s := range x {
		for j := range sums {
			sums[j] = byte(s[j] + s[o.D+j])
		}
		v, ok := o.known[string(sums)]
		if !ok {
			if err := ctx.Err(); err != nil {
				return err
			}
			w := walkerOf(k)
			w.to(sums)
			v = w.energy()
			o.known[string(sums)] = v
		}
		u[k] = v
	}
	return nil
}

// well is where nearly all the probability is, if the data are many.
type well struct {
	Sums      []byte    // the likeliest sums
	Marginals []float64 // P(β_i = 1), of the sums within two changed columns
	Gap       float64   // by how many nats the next of these sums is less likely
}

// well goes uphill from the columns that made the labels, and then looks at every change of one
// and of two sums.
func (c *columns) well(ctx context.Context) (*well, error) {
	w := c.walker()
	for j := range w.sums {
		if j*j < c.t.D {
			w.set(j, 1)
		}
	}
	here := w.energy()
	for again := true; again; {
		again = false
		for j := range w.sums {
			old, best := w.sums[j], w.sums[j]
			for s := range byte(3) {
				if s == old {
					continue
				}
				w.set(j, s)
				if u := w.energy(); u > here {
					here, best, again = u, s, true
				}
			}
			w.set(j, best)
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	out := &well{Sums: append([]byte(nil), w.sums...), Gap: math.Inf(1)}
	total, ones := 0.0, make([]float64, 2*c.t.D)
	count := func(u float64) {
		p := math.Exp(u - here)
		for _, s := range w.sums {
			if s == 1 { // it or its copy
				p *= 2
			}
		}
		total += p
		for j, s := range w.sums {
			ones[j] += p * float64(s) / 2
		}
		if u != here {
			out.Gap = min(out.Gap, here-u)
		}
	}
	count(here)
	// others calls f at every other value of sum j.
	others := func(j int, f func()) {
		for s := range byte(3) {
			if s != out.Sums[j] {
				w.set(j, s)
				f()
			}
		}
		w.set(j, out.Sums[j])
	}
	for j := range w.sums {
		others(j, func() {
			count(w.energy())
			for i := range j {
				others(i, func() { count(w.energy()) })
			}
		})
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	for j := range ones {
		ones[j] /= total
	}
	copy(ones[c.t.D:], ones[:c.t.D])
	out.Marginals = ones
	return out, nil
}
