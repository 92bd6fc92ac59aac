package verify

import (
	"math"
	"math/rand/v2"
)

// gaussBernSites are the coordinates of the model of section 4, and gaussBernStates its states.
const gaussBernSites, gaussBernStates = 4, 1 << 4

// quenched has what an endless chain of section 4 does, without any chain. It is made of
// independent mini-batches and of the definitions alone, so that the chains can be held against it.
//
// With Polyak's steps a chain leaves its state with probability h at every update, whatever the
// mini-batches are. So it stays for m updates with probability (1 − h)^(m−1) h, and only means over
// sequences of mini-batches are needed, by the number m of them in the cache.
type quenched struct {
	jumps  [][gaussBernStates][gaussBernSites]float64 // E[R(x→y)/Z(x)], y by the coordinate
	weight [][gaussBernStates]float64                 // E[1/Z(x)]
	gibbs  [gaussBernStates][gaussBernSites]float64   // E[P(flip)] of the Gibbs sampler, m = 1
}

// newQuenched averages over sequences of estimates, each of batch draws of u. The longest sequences
// have the number of estimates given, and all sequences together the number of draws. Most are
// short, because the first estimates scatter most. p is π.
func newQuenched(rng *rand.Rand, p []float64, batch, estimates, draws int) *quenched {
	q := &quenched{jumps: make([][gaussBernStates][gaussBernSites]float64, estimates),
		weight: make([][gaussBernStates]float64, estimates)}
	lengths := []int{1, min(4, estimates), min(16, estimates), estimates}
	count := make([]float64, estimates)
	for _, length := range lengths {
		for range max(1, draws/(len(lengths)*length*batch)) {
			var psi [gaussBernStates]float64
			for m := range length {
				for range batch {
					addPsi(rng, p, &psi)
				}
				q.add(m, &psi)
				count[m]++
			}
		}
	}
	for x := range gaussBernStates {
		for m, n := range count {
			q.weight[m][x] /= n
			for i := range q.jumps[m][x] {
				q.jumps[m][x][i] /= n
			}
		}
		for i := range q.gibbs[x] {
			q.gibbs[x][i] /= count[0]
		}
	}
	return q
}

// add adds what the sums of ψ over m + 1 estimates give.
func (q *quenched) add(m int, psi *[gaussBernStates]float64) {
	for x := range psi {
		var rates [gaussBernSites]float64
		z := 0.0
		for i := range rates {
			rates[i] = math.Sqrt(psi[x^1<<i] / psi[x])
			z += rates[i]
		}
		for i, r := range rates {
			q.jumps[m][x][i] += r / z
			if m == 0 {
				q.gibbs[x][i] += r * r / (1 + r*r) / gaussBernSites
			}
		}
		q.weight[m][x] += 1 / z
	}
}

// addPsi draws u from its marginal and adds ψ(x | u) of all states. The log-odds of x given u are
// W^½u + b, and so N(Wx' + b, W) for x' ~ π, with W = ½(I + 11ᵀ) and b = −½W·1.
func addPsi(rng *rand.Rand, p []float64, psi *[gaussBernStates]float64) {
	from, at := 0, rng.Float64()
	for at -= p[0]; at > 0 && from < len(p)-1; at -= p[from] {
		from++
	}
	ones := 0
	for i := range gaussBernSites {
		ones += from >> i & 1
	}
	shared := rng.NormFloat64()
	products := [gaussBernStates]float64{1}
	for i := range gaussBernSites {
		mean := float64(ones+from>>i&1)/2 - 0.5*(gaussBernSites+1)/2
		odds := mean + (rng.NormFloat64()+shared)/math.Sqrt2
		one := 1 / (1 + math.Exp(-odds))
		for x := range 1 << i {
			products[x|1<<i] = products[x] * one
			products[x] *= 1 - one
		}
	}
	for x, v := range products {
		psi[x] += v
	}
}

// law is the law of the weighted states of an endless chain of SGDLD. Without the cache h does not
// matter: the states come in the order of the jumps, and all weights are in proportion to h.
func (q *quenched) law(h float64, cache bool) []float64 {
	var jumps [gaussBernStates][gaussBernSites]float64
	var weight [gaussBernStates]float64
	there := 1.0 // probability that the chain is still there
	for m := range q.jumps {
		leaves := h * there
		if !cache {
			leaves = 1
		} else if m == len(q.jumps)-1 {
			leaves = there
		}
		for x := range jumps {
			for i, r := range q.jumps[m][x] {
				jumps[x][i] += leaves * r
			}
			weight[x] += leaves * q.weight[m][x] // there·h/Z
		}
		if !cache {
			break
		}
		there -= leaves
	}
	return weighted(stationary(square(&jumps)), weight[:])
}

// gibbsLaw is the law of the Gibbs sampler.
func (q *quenched) gibbsLaw() []float64 { return stationary(square(&q.gibbs)) }

// square is a transition matrix of flips with these probabilities.
func square(flips *[gaussBernStates][gaussBernSites]float64) [][]float64 {
	out := make([][]float64, gaussBernStates)
	for x := range out {
		out[x] = make([]float64, gaussBernStates)
		stays := 1.0
		for i, p := range flips[x] {
			out[x][x^1<<i] = p
			stays -= p
		}
		out[x][x] = stays
	}
	return out
}

// weighted is a law with weights.
func weighted(p, w []float64) []float64 {
	sum := 0.0
	for i := range p {
		p[i] *= w[i]
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}
