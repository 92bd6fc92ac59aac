package papers

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"infill/lab/internal/stable"
	"infill/samplers"
)

// RBMGibbs is the block Gibbs sampler of restricted Boltzmann machines (Hinton 2002): a step draws
// all hidden units given the visible ones, and then all visible ones given the hidden ones. It
// leaves π invariant and has no parameters. A general sampler sees the energy of the visible units
// alone and cannot do this. The target must be an *RBM, and Start returns a samplers.ErrUnsupported
// for another. A step counts as one evaluation, and no energies are asked for.
type RBMGibbs struct{}

// Attach implements samplers.Sampler.
func (g RBMGibbs) Attach(c *samplers.Chains) (samplers.Kernel, error) {
	r, ok := c.Target.(*RBM)
	if !ok {
		return nil, fmt.Errorf("%w: sampler %s needs hidden units that can be drawn, those of a "+
			"targets.RBM; block-gibbs is for all targets", samplers.ErrUnsupported, g.Info().Name)
	}
	return &rbmKernel{c: c, r: r, old: make([]int32, r.D)}, nil
}

// Info implements samplers.Sampler.
func (g RBMGibbs) Info() samplers.Info {
	return samplers.Info{Name: "rbm-gibbs", Title: "Block Gibbs of a Boltzmann machine", Exact: true,
		Doc:  "draws all hidden units given the visible ones, and back",
		Cost: "1 conditional of all units"}
}

type rbmKernel struct {
	c   *samplers.Chains
	r   *RBM
	old []int32
}

// Prepare implements samplers.Kernel. Every step reads the whole machine, so nothing is kept.
func (k *rbmKernel) Prepare(context.Context) error { return nil }

// Step implements samplers.Kernel.
func (k *rbmKernel) Step(context.Context) error {
	for i, v := range k.c.X {
		copy(k.old, v)
		k.r.sweep(k.c.RNG[i], v)
		k.c.Stats[i].Evals++
		m := samplers.Move{Prob: 1}
		for j, s := range v {
			if s != k.old[j] {
				m.Flips++
			}
		}
		if m.Hamming = m.Flips; m.Flips > 0 {
			m.Moved, m.Accepted = true, true
			k.c.U[i] = math.NaN()
		}
		k.c.Last[i] = m
	}
	return nil
}

// sweep draws all hidden units given the visible ones and then all visible ones given the hidden
// ones; v is replaced.
func (r *RBM) sweep(rng *rand.Rand, v []int32) {
	on, numbers := takeFloats(r.H), takeFloats(len(r.B))
	defer listsOfFloats.Put(on)
	defer listsOfFloats.Put(numbers)
	logit, h := append(*numbers, r.B...), (*on)[:r.H]
	r.Hidden(v, h)
	for j, p := range h {
		h[j] = 0
		if rng.Float64() < p {
			h[j] = 1
		}
	}
	r.addRows(h, logit)
	r.drawVisible(rng, logit, v)
}

func (r *RBM) drawVisible(rng *rand.Rand, logit []float64, v []int32) {
	for i := range v {
		if r.binary {
			v[i] = 0
			if rng.Float64() < stable.Sigmoid(logit[i]) {
				v[i] = 1
			}
			continue
		}
		row := logit[i*r.K : (i+1)*r.K]
		z := stable.LogSumExp(row)
		t := rng.Float64()
		v[i] = int32(r.K - 1)
		for s, l := range row {
			if t -= math.Exp(l - z); t < 0 {
				v[i] = int32(s)
				break
			}
		}
	}
}

// Anneal takes states from p_from to p_to on the path of Salakhutdinov and Murray (ICML 2008)
//
//	log p_β(v) = (1−β) Σ_i log q_i(v_i) + β Σ_i b_i[v_i]
//	             + Σ_j [log(1 + exp(β a_j)) − (1−β) log 2],  a_j = c_j + Σ_i W_j,i[v_i]
//
// The machine of β has the hidden biases βc, the weights βW and visible biases between q's and b. A
// sweep of block Gibbs leaves it invariant. gain[k] is log p_to(x[k]) − log p_from(x[k]) before
// that. logq is normalised.
func (r *RBM) Anneal(logq [][]float64, from, to float64, x [][]int32, rng []*rand.Rand,
	gain []float64) {
	kept, numbers := r.scratch()
	defer listsOfInts.Put(kept)
	defer listsOfFloats.Put(numbers)
	base, logits := takeFloats(len(r.B)), takeFloats(len(r.B))
	defer listsOfFloats.Put(base)
	defer listsOfFloats.Put(logits)
	act, biases := (*numbers)[:r.H], r.annealedBiases(logq, to, (*base)[:0])
	for k, v := range x {
		list := r.entries(v, *kept)
		r.activations(list, act)
		g := r.visible(list)
		for i, s := range v {
			g -= logq[i][s]
		}
		g = (to - from) * (g + float64(r.H)*math.Ln2)
		for j, a := range act {
			g += stable.Softplus(to*a) - stable.Softplus(from*a)
			if rng[k].Float64() < stable.Sigmoid(to*a) {
				act[j] = to
			} else {
				act[j] = 0
			}
		}
		gain[k] = g
		logit := append((*logits)[:0], biases...)
		r.addRows(act, logit)
		r.drawVisible(rng[k], logit, v)
	}
}

// annealedBiases appends the visible biases of the machine of β to b, up to a constant for each
// unit.
func (r *RBM) annealedBiases(logq [][]float64, beta float64, b []float64) []float64 {
	if beta == 1 {
		return append(b, r.B...) // whatever q is, also 0
	}
	for i, q := range logq {
		if r.binary {
			b = append(b, (1-beta)*(q[1]-q[0])+beta*r.B[i])
			continue
		}
		for s, l := range q {
			b = append(b, (1-beta)*l+beta*r.B[i*r.K+s])
		}
	}
	return b
}
