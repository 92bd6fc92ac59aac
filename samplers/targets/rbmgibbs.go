package targets

import (
	"context"
	"math"
	"math/rand/v2"
)

// BlockGibbs draws all hidden units given the visible ones and then all visible
// ones given the hidden ones, the classical sampler of RBMs; v is replaced.
func (r *RBM) BlockGibbs(rng *rand.Rand, v []int32) {
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
			if rng.Float64() < sigmoid(logit[i]) {
				v[i] = 1
			}
			continue
		}
		row := logit[i*r.K : (i+1)*r.K]
		z := logSumExp(row)
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

// Anneal implements samplers.Annealer, along the path of Salakhutdinov and Murray (ICML 2008)
//
//	log p_β(v) = (1−β) Σ_i log q_i(v_i) + β Σ_i b_i[v_i]
//	             + Σ_j [log(1 + exp(β a_j)) − (1−β) log 2],  a_j = c_j + Σ_i W_j,i[v_i]
//
// The machine of β has the hidden biases βc, the weights βW and visible biases between q's and b. A
// sweep of block Gibbs leaves it invariant.
func (r *RBM) Anneal(_ context.Context, logq [][]float64, from, to float64, x [][]int32,
	rng []*rand.Rand, gain []float64) error {
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
			g += softplus(to*a) - softplus(from*a)
			if rng[k].Float64() < sigmoid(to*a) {
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
	return nil
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
