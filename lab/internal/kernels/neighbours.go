package kernels

import (
	"context"
	"fmt"
	"math"

	"infill/samplers"
)

// maxNeighbours is the largest number of neighbour energies that exact Gibbs,
// block Gibbs, the Hamming ball sampler and LB-1 ask for per chain and step
// when the target has no cheaper way than Energy. Of coordinates with many categories
// restrict the support to a candidate set first.
const maxNeighbours = 1 << 14

// chunkStates bounds how many states go to the target in one call, and
// maxScratch how many coordinates the states in memory have together.
const (
	chunkStates = 1 << 12
	maxScratch  = 1 << 26
)

// asked is one question to the target: all values of coordinate i of chain k.
type asked struct {
	k, i int
	u    []float64 // answer, K(i) entries, −∞ outside the support
}

// neighbourhood asks a target for U at all values of given coordinates, up to a constant for each.
type neighbourhood struct {
	c      *samplers.Chains
	native samplers.Conditioner
	x      [][]int32 // scratch states of Energy
	u      []float64
	used   []int // scratch: question, chain and value of each scratch state
	who    []int
	val    []int32
	nx     [][]int32 // arguments of Conditional
	ni     []int
	nu     [][]float64
}

// exactly is a target that has the conditionals of π, nil for another.
func exactly(t samplers.Target) samplers.Conditioner {
	if c, ok := t.(samplers.Conditioner); ok && c.ExactConditionals() {
		return c
	}
	return nil
}

func newNeighbourhood(c *samplers.Chains) *neighbourhood {
	n := &neighbourhood{c: c}
	if n.native = exactly(c.Target); n.native != nil {
		return n
	}
	chunk := max(1, min(chunkStates, maxScratch/c.Domain.Len()))
	n.x = matrix[int32](chunk, c.Domain.Len())
	n.u = make([]float64, chunk)
	n.used, n.who = make([]int, chunk), make([]int, chunk)
	n.val = make([]int32, chunk)
	return n
}

// fill answers the questions about the states x (one per question). A value
// that the state has already is evaluated too: only differences between the values of one
// coordinate matter to the callers, and a Conditioner gives them up to any constant.
func (n *neighbourhood) fill(ctx context.Context, x [][]int32, qs []asked) error {
	d := n.c.Domain
	if n.native != nil {
		n.nx, n.ni, n.nu = n.nx[:0], n.ni[:0], n.nu[:0]
		for j, q := range qs {
			n.nx, n.ni, n.nu = append(n.nx, x[j]), append(n.ni, q.i), append(n.nu, q.u)
		}
		if err := n.native.Conditional(ctx, n.nx, n.ni, n.nu); err != nil {
			return err
		}
		for _, q := range qs {
			maskOut(d, q.i, q.u)
			n.c.Stats[q.k].Evals += d.Support(q.i)
		}
		return nil
	}
	m := 0
	flush := func() error {
		if m == 0 {
			return nil
		}
		if err := n.c.Evaluate(ctx, n.who[:m], n.x[:m], n.u[:m], nil); err != nil {
			return err
		}
		for s := range m {
			q := qs[n.used[s]]
			q.u[n.val[s]] = n.u[s]
		}
		m = 0
		return nil
	}
	for j, q := range qs {
		maskOut(d, q.i, q.u)
		for v := range d.K(q.i) {
			if !d.Allows(q.i, int32(v)) {
				continue
			}
			if m == len(n.x) {
				if err := flush(); err != nil {
					return err
				}
			}
			copy(n.x[m], x[j])
			n.x[m][q.i] = int32(v)
			n.used[m], n.who[m], n.val[m] = j, q.k, int32(v)
			m++
		}
	}
	return flush()
}

// checkMany refuses more than maxNeighbours energies per chain and step.
func checkMany(sampler string, count float64) error {
	if count > maxNeighbours {
		return tooMany(sampler, count, maxNeighbours, "restrict the support of each coordinate to a "+
			"fixed candidate set")
	}
	return nil
}

// tooMany is the error of a sampler that would need more energies per chain and step than is
// sensible.
func tooMany(sampler string, count float64, most int, remedy string) error {
	return fmt.Errorf("%w: sampler %s would need %.0f energies per chain and step, more than %d; %s",
		samplers.ErrUnsupported, sampler, count, most, remedy)
}

// maskOut sets the entries outside the support to −∞.
func maskOut(d *samplers.Domain, i int, u []float64) {
	for v := range u {
		if !d.Allows(i, int32(v)) {
			u[v] = negInf
		}
	}
}

// clean counts the energies of −∞ and those that are NaN or +∞,
// which it replaces by −∞: none of them is ever drawn. allowed is the support
// mask of the entries, nil for states that are all in the support.
func clean(c *samplers.Chains, k int, u []float64, allowed []bool) {
	for v, e := range u {
		if finite(e) || allowed != nil && !allowed[v] {
			continue
		}
		if math.IsInf(e, -1) {
			c.Stats[k].Zero++
			continue
		}
		u[v] = negInf
		c.Stats[k].NonFinite++
	}
}
