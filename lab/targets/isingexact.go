package targets

import (
	"fmt"
	"math"
	"math/bits"

	"infill/lab/internal/stable"
)

// maxTransfer bounds the terms that Exact adds up, to some seconds of them.
const maxTransfer = 1 << 28

// Exact returns log Z and E[s_i] for every site by transfer matrices between
// rows, at a cost of rows·8^cols terms where the last row is linked to the first, and rows·4^cols
// elsewhere. Errors: ErrTooLarge for more than 2^28 of them.
func (t *Ising) Exact() (logZ float64, mean []float64, err error) {
	ring := t.Periodic && t.Rows >= 3 // two rows are linked once even when periodic
	power := 2.
	if ring {
		power = 3
	}
	terms := float64(t.Rows) * math.Exp2(power*float64(t.Cols))
	if terms > maxTransfer {
		return 0, nil, fmt.Errorf("%w: %d rows of %d columns are %.3g terms, at most %d", ErrTooLarge,
			t.Rows, t.Cols, terms, maxTransfer)
	}
	c := t.rowChain()
	starts := []int{anyPattern}
	if ring {
		starts = make([]int, 1<<t.Cols)
		for p := range starts {
			starts[p] = p
		}
	}
	w := make([]float64, len(starts))
	for i, p0 := range starts {
		w[i] = c.forward(p0)
	}
	logZ = stable.LogSumExp(w)
	mean = make([]float64, t.Rows*t.Cols)
	for _, p0 := range starts {
		if ring {
			c.forward(p0)
		}
		c.backward(p0)
		for r := range t.Rows {
			for p, f := range c.fwd[r] {
				w := math.Exp(f + c.bwd[r][p] - logZ)
				for i := range t.Cols {
					mean[r*t.Cols+i] += w * spinOf(p, i)
				}
			}
		}
	}
	return logZ, mean, nil
}

// A rowChain is the model as a chain of rows, whose states are patterns: bit c of one is the spin
// of column c.
type rowChain struct {
	row      [][]float64 // energy within each row, by its pattern
	link     []float64   // energy between two rows, by the columns in which they differ
	fwd, bwd [][]float64 // log-weights of what comes up to a row, and after it
	tmp      []float64
}

// anyPattern stands for a chain whose ends are not linked, and whose first row is free.
const anyPattern = -1

func spinOf(p, c int) float64 { return float64(p>>c&1)*2 - 1 }

func (t *Ising) rowChain() *rowChain {
	m := 1 << t.Cols
	c := &rowChain{row: rowsOf(t.Rows, m), fwd: rowsOf(t.Rows, m), bwd: rowsOf(t.Rows, m),
		link: make([]float64, m), tmp: make([]float64, m)}
	for r, row := range c.row {
		for p := range row {
			for col := range t.Cols {
				i := r*t.Cols + col
				row[p] += t.Field[i] * spinOf(p, col)
				for _, j := range t.adj[t.start[i]:t.start[i+1]] {
					if int(j)/t.Cols == r {
						row[p] += t.Coupling * spinOf(p, col) * spinOf(p, int(j)%t.Cols)
					}
				}
			}
		}
	}
	for differ := range c.link {
		c.link[differ] = 2 * t.Coupling * float64(t.Cols-2*bits.OnesCount(uint(differ)))
	}
	return c
}

func rowsOf(n, m int) [][]float64 {
	out := make([][]float64, n)
	for r := range out {
		out[r] = make([]float64, m)
	}
	return out
}

// forward fills fwd for a first row of pattern p0, which the last row is linked to, and returns the
// log-weight of the chain.
func (c *rowChain) forward(p0 int) float64 {
	for p, u := range c.row[0] {
		if c.fwd[0][p] = u; p0 != anyPattern && p != p0 {
			c.fwd[0][p] = math.Inf(-1)
		}
	}
	for r := 1; r < len(c.row); r++ {
		for q, u := range c.row[r] {
			for p, f := range c.fwd[r-1] {
				c.tmp[p] = f + c.link[p^q]
			}
			c.fwd[r][q] = u + stable.LogSumExp(c.tmp)
		}
	}
	for p, f := range c.fwd[len(c.fwd)-1] {
		c.tmp[p] = f + c.end(p, p0)
	}
	return stable.LogSumExp(c.tmp)
}

// backward fills bwd for the same.
func (c *rowChain) backward(p0 int) {
	last := len(c.row) - 1
	for p := range c.bwd[last] {
		c.bwd[last][p] = c.end(p, p0)
	}
	for r := last - 1; r >= 0; r-- {
		for p := range c.bwd[r] {
			for q, u := range c.row[r+1] {
				c.tmp[q] = u + c.bwd[r+1][q] + c.link[p^q]
			}
			c.bwd[r][p] = stable.LogSumExp(c.tmp)
		}
	}
}

// end is the energy between a last row of pattern p and the first.
func (c *rowChain) end(p, p0 int) float64 {
	if p0 == anyPattern {
		return 0
	}
	return c.link[p^p0]
}
