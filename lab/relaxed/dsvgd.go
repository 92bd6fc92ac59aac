package relaxed

import (
	"context"
	"fmt"
	"math"
	"slices"

	"infill/lab/internal/adam"
	"infill/samplers"
)

// DSVGD is the discrete Stein variational gradient descent of Han and others (2020), a baseline of
// DLP. The chains of a run are particles of one system. They move along
//
//	φ(z_i) = Σ_j w_j·(k(z_j, z_i)·∇log ρ(z_j) + ∇_{z_j} k(z_j, z_i)),   w_j ∝ ρ(z_j)/p(z_j), Σ w = 1
//
// with the kernel k(x, y) = exp(−‖x − y‖²/(2h)), h = median ‖z_i − z_j‖²/(2 ln(n+1)), and the
// steps of Adam, as in the public code of Grathwohl and others (2021).
//
// It is NOT exact. The law p is a fixed point in the limit of many particles, where φ is a Stein
// identity. A finite system ends near some set of points, and no number of steps makes its error
// smaller. It draws random numbers for its starts only. A step costs each particle one gradient of
// the extension, one energy where its state changes, and n kernels.
type DSVGD struct {
	Rate        float64   // of Adam, above 0; its public code has .01
	Temperature float64   // t, above 0; 2 in the public code
	Extension   Extension // of the target's U
}

// Info implements samplers.Sampler.
func (s *DSVGD) Info() samplers.Info {
	return samplers.Info{Name: "dsvgd", Title: "Discrete Stein variational gradient descent",
		Cost: "1 gradient of the extension, 1 energy where the state changes, n kernels"}
}

// Attach implements samplers.Sampler. It has the same errors as RMALA's Attach.
func (s *DSVGD) Attach(c *samplers.Chains) (samplers.Kernel, error) {
	if !(s.Rate > 0) || math.IsInf(s.Rate, 1) {
		return nil, fmt.Errorf("%w: sampler %s: rate is %g, want a number above 0",
			samplers.ErrParam, s.Info().Name, s.Rate)
	}
	sp, err := newSpace(c, s.Info().Name, s.Extension, s.Temperature)
	if err != nil {
		return nil, err
	}
	k := &dsvgdKernel{space: sp, climb: make([]adam.Optimiser, c.Len())}
	for i := range k.climb {
		k.climb[i].Rate = s.Rate
	}
	for range c.Len() {
		k.score = append(k.score, make([]float64, c.Domain.Len()))
		k.phi = append(k.phi, make([]float64, c.Domain.Len()))
	}
	k.w, k.rho = make([]float64, c.Len()), make([]float64, c.Len())
	return k, nil
}

type dsvgdKernel struct {
	*space
	climb      []adam.Optimiser // of each particle
	score, phi [][]float64
	rho        []float64 // U(Γ̃(z))
	w          []float64
	far        []float64 // squared distances of all pairs, row by row below the diagonal
	sorted     []float64 // the same in order
	ask        [][]int32
	at         []int
	u          []float64
}

// Prepare implements samplers.Kernel.
func (s *dsvgdKernel) Prepare(ctx context.Context) error {
	if err := s.c.StartEnergies(ctx); err != nil {
		return err
	}
	if err := s.begin(); err != nil {
		return err
	}
	for k, z := range s.z {
		s.rho[k] = s.surrogate(z, s.score[k])
	}
	return nil
}

// Step implements samplers.Kernel.
func (s *dsvgdKernel) Step(ctx context.Context) error {
	weights(s.rho, s.c.U, s.w)
	s.far = distances(s.z, s.far[:0])
	direction(s.z, s.score, s.w, s.far, s.bandwidth(), s.phi)
	for k := range s.climb {
		s.climb[k].Ascend(s.z[k], s.phi[k])
	}
	s.ask, s.at = s.ask[:0], s.at[:0]
	for k, z := range s.z {
		changed := s.state(z, s.c.X[k])
		s.c.Last[k] = samplers.Move{Moved: changed > 0, Accepted: changed > 0, Prob: 1, Hamming: changed,
			Flips: changed}
		if changed > 0 {
			s.ask, s.at = append(s.ask, s.c.X[k]), append(s.at, k)
		}
		s.rho[k] = s.surrogate(z, s.score[k])
		s.c.Stats[k].Evals++
	}
	if len(s.ask) == 0 {
		return nil
	}
	s.u = append(s.u[:0], make([]float64, len(s.ask))...)
	if err := s.c.Evaluate(ctx, s.at, s.ask, s.u, nil); err != nil {
		return err
	}
	for j, k := range s.at {
		s.c.U[k] = s.u[j]
	}
	return nil
}

// bandwidth is h of the kernel: the median over all pairs, each particle with itself among them,
// by 2 ln(n+1).
func (s *dsvgdKernel) bandwidth() float64 {
	n := len(s.z)
	s.sorted = append(s.sorted[:0], s.far...)
	slices.Sort(s.sorted)
	// In the list of all n² ordered pairs n zeros come first, and then every distance twice.
	at := func(i int) float64 {
		if i < n {
			return 0
		}
		return s.sorted[(i-n)/2]
	}
	median := (at((n*n-1)/2) + at(n*n/2)) / 2
	return median / (2 * math.Log(float64(n+1)))
}

// weights sets w to softmax(rho − u). The normal density is in both ρ and p and falls out. An
// energy of −∞ has no weight, because ρ/p is not a number there.
func weights(rho, u, w []float64) {
	top := math.Inf(-1)
	for k := range w {
		w[k] = rho[k] - u[k]
		if math.IsInf(u[k], -1) || math.IsNaN(w[k]) {
			w[k] = math.Inf(-1)
		}
		top = math.Max(top, w[k])
	}
	sum := 0.0
	for k := range w {
		w[k] = math.Exp(w[k] - top)
		sum += w[k]
	}
	for k := range w {
		w[k] /= sum
	}
}

// distances appends ‖z_i − z_j‖² for all j < i.
func distances(z [][]float64, far []float64) []float64 {
	for i, x := range z {
		for _, y := range z[:i] {
			sum := 0.0
			for l, v := range x {
				sum += (v - y[l]) * (v - y[l])
			}
			far = append(far, sum)
		}
	}
	return far
}

// direction sets phi to φ at every particle.
func direction(z, score [][]float64, w, far []float64, h float64, phi [][]float64) {
	gamma := 1 / (2*h + 1e-8) // particles may all be in one place
	at := 0
	for i, x := range z {
		own := phi[i]
		for l, v := range score[i] {
			own[l] = w[i] * v // k(x, x) = 1, without a slope
		}
		for j, y := range z[:i] {
			k := math.Exp(-gamma * far[at])
			at++
			wi, wj, slope := w[i]*k, w[j]*k, 2*gamma
			for l, v := range x {
				pull := slope * (v - y[l])
				own[l] += wj * (score[j][l] + pull)
				phi[j][l] += wi * (score[i][l] - pull)
			}
		}
	}
}
