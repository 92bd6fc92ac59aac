package verify

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// TestGradientFlow holds DLMC's theorem 3.1 and appendix B.4 on 2⁴ states, for four balancing
// functions g, with w of single flips: with the conductance of equation 20, which is the logarithmic
// mean of equation 100, the gradient flow 18 is the jump process 21. Along it KL(ρ‖π) falls by its
// squared length, and along the divergence of any other field by their inner product: it is the
// steepest way in the metric of equation 16.
func TestGradientFlow(t *testing.T) {
	t.Parallel()
	const n = 16
	balancing := map[string]func(float64) float64{"sqrt": math.Sqrt,
		"ratio": func(a float64) float64 { return a / (1 + a) },
		"min":   func(a float64) float64 { return math.Min(a, 1) },
		"max":   func(a float64) float64 { return math.Max(a, 1) }}
	rng := rand.New(rand.NewPCG(3, 1))
	law := func() (p [n]float64) {
		sum := 0.0
		for i := range p {
			p[i] = math.Exp(rng.NormFloat64())
			sum += p[i]
		}
		for i := range p {
			p[i] /= sum
		}
		return p
	}
	kl := func(p, q [n]float64) (d float64) {
		for i := range p {
			d += p[i] * math.Log(p[i]/q[i])
		}
		return d
	}
	for name, g := range balancing {
		pi, rho := law(), law()
		c, force, other := [n][n]float64{}, [n][n]float64{}, [n][n]float64{}
		for i := range n {
			for j := range i {
				other[i][j] = rng.NormFloat64()
				other[j][i] = -other[i][j]
			}
		}
		var flow, jumps, away [n]float64
		squared, inner := 0.0, 0.0
		for i := range n {
			for j := range n {
				if bits.OnesCount(uint(i^j)) != 1 {
					continue
				}
				there, back := g(pi[j]/pi[i])*rho[i], g(pi[i]/pi[j])*rho[j]
				force[i][j] = math.Log(rho[i]/pi[i]) - math.Log(rho[j]/pi[j])
				c[i][j] = (there - back) / force[i][j]
				if mean := (there - back) / math.Log(there/back); math.Abs(c[i][j]-mean) > 1e-12 {
					t.Errorf("%s: conductance %v, by equation 100 %v", name, c[i][j], mean)
				}
				flow[j] += c[i][j] * force[i][j]
				jumps[j] += there - back
				away[j] += c[i][j] * other[i][j]
				squared += c[i][j] * force[i][j] * force[i][j] / 2
				inner += c[i][j] * force[i][j] * other[i][j] / 2
			}
		}
		for j := range n {
			if math.Abs(flow[j]-jumps[j]) > 1e-14 {
				t.Errorf("%s, state %d: flow %v, jump process %v", name, j, flow[j], jumps[j])
			}
		}
		slope := func(way [n]float64) float64 {
			const h = 1e-6
			fore, aft := rho, rho
			for i := range way {
				fore[i], aft[i] = rho[i]+h*way[i], rho[i]-h*way[i]
			}
			return (kl(fore, pi) - kl(aft, pi)) / (2 * h)
		}
		if got := slope(flow); math.Abs(got+squared) > 1e-7 || squared <= 0 {
			t.Errorf("%s: KL falls by %v, want %v", name, got, -squared)
		}
		if got := slope(away); math.Abs(got+inner) > 1e-7 {
			t.Errorf("%s: along another field by %v, want %v", name, got, -inner)
		}
	}
}
