package papers

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"infill/lab/internal/check"
	"infill/lab/internal/domain"
	"infill/lab/internal/stable"
	"infill/lab/targets"
	"infill/samplers"
)

// RBM is a restricted Boltzmann machine with its hidden units summed out,
//
//	U(v) = Σ_i b_i[v_i] + Σ_j log(1 + exp(c_j + Σ_i W_j,i[v_i]))
//
// over D visible units of K categories and H binary hidden units. With K = 2
// and Binary coordinates, category 0 contributes nothing: the usual binary RBM
// with v ∈ {0,1}.
type RBM struct {
	D, K, H int
	// B has D·K entries, C has H, W has H rows of D·K entries; in a binary RBM
	// K counts as 1: the entries of v_i = 1.
	B, C, W []float64

	dom    *samplers.Domain
	width  int // entries per visible unit: K, or 1 when binary
	binary bool
}

// NewRBM makes an RBM of zeros; k = 2 with binary set gives {0,1} coordinates.
func NewRBM(d, k, h int, binary bool) (*RBM, error) {
	most := check.MaxSites // categories
	if binary {
		most = 2
	}
	err := check.Shape("RBM", check.Whole("visible units", d, 1, check.MaxSites),
		check.Whole("categories", k, 2, most),
		check.Whole("hidden units", h, 1, check.MaxSites),
		check.Product("visible units × categories × hidden units", d, k, h))
	if err != nil {
		return nil, err
	}
	r := &RBM{D: d, K: k, H: h, width: k, binary: binary, dom: domain.Categories(d, k)}
	if binary {
		r.width, r.dom = 1, domain.Bits(d)
	}
	r.B, r.C, r.W = make([]float64, d*r.width), make([]float64, h), make([]float64, h*d*r.width)
	return r, nil
}

// Randomise draws W, B and C from normal distributions of the given standard
// deviations.
func (r *RBM) Randomise(rng *rand.Rand, sdW, sdB float64) {
	for i := range r.W {
		r.W[i] = sdW * rng.NormFloat64()
	}
	for i := range r.B {
		r.B[i] = sdB * rng.NormFloat64()
	}
	for i := range r.C {
		r.C[i] = sdB * rng.NormFloat64()
	}
}

// Domain implements samplers.Target.
func (r *RBM) Domain() *samplers.Domain { return r.dom }

// entry is the index of visible unit i in state v, −1 when it contributes
// nothing.
func (r *RBM) entry(i int, v int32) int {
	if r.binary {
		if v == 0 {
			return -1
		}
		return i
	}
	return i*r.K + int(v)
}

// entries lists the entries of all visible units that contribute to state v.
func (r *RBM) entries(v []int32, list []int) []int {
	list = list[:0]
	for i, s := range v {
		if e := r.entry(i, s); e >= 0 {
			list = append(list, e)
		}
	}
	return list
}

// visible is Σ_i b_i[v_i] of the state with these entries.
func (r *RBM) visible(entries []int) float64 {
	sum := 0.0
	for _, e := range entries {
		sum += r.B[e]
	}
	return sum
}

// activations sets a[j] to c_j + Σ_i W_j,i[v_i] of the state with these entries, for all hidden
// units. Four rows of W at a time are four sums that do not wait for each other.
func (r *RBM) activations(entries []int, a []float64) {
	d, j := len(r.B), 0
	for ; j+4 <= r.H; j += 4 {
		w0, w1, w2, w3 := r.W[j*d:][:d], r.W[(j+1)*d:][:d], r.W[(j+2)*d:][:d], r.W[(j+3)*d:][:d]
		a0, a1, a2, a3 := r.C[j], r.C[j+1], r.C[j+2], r.C[j+3]
		for _, e := range entries {
			a0 += w0[e]
			a1 += w1[e]
			a2 += w2[e]
			a3 += w3[e]
		}
		a[j], a[j+1], a[j+2], a[j+3] = a0, a1, a2, a3
	}
	for ; j < r.H; j++ {
		w := r.W[j*d:][:d]
		a[j] = r.C[j]
		for _, e := range entries {
			a[j] += w[e]
		}
	}
}

// addRows adds Σ_j p_j W_j to g. It takes four rows at a time, so that g is read and written a
// quarter of the times, and leaves out rows of p_j = 0.
func (r *RBM) addRows(p, g []float64) {
	d := len(g)
	var q [4]float64
	var w [4][]float64
	n := 0
	for j, v := range p {
		if v == 0 {
			continue
		}
		q[n], w[n] = v, r.W[j*d:][:d]
		if n++; n < 4 {
			continue
		}
		n = 0
		q0, q1, q2, q3 := q[0], q[1], q[2], q[3]
		w0, w1, w2, w3 := w[0][:d], w[1][:d], w[2][:d], w[3][:d]
		for e, v := range g {
			g[e] = v + q0*w0[e] + q1*w1[e] + q2*w2[e] + q3*w3[e]
		}
	}
	for j := range n {
		for e, v := range w[j] {
			g[e] += q[j] * v
		}
	}
}

// scratch takes lists to work in: of a state's entries and of the hidden units' activations.
func (r *RBM) scratch() (list *[]int, act *[]float64) { return takeInts(r.D), takeFloats(r.H) }

// Energy implements samplers.Target.
func (r *RBM) Energy(_ context.Context, x [][]int32, u []float64) error {
	kept, numbers := r.scratch()
	defer listsOfInts.Put(kept)
	defer listsOfFloats.Put(numbers)
	act := (*numbers)[:r.H]
	for k, v := range x {
		list := r.entries(v, *kept)
		r.activations(list, act)
		u[k] = r.visible(list)
		for _, a := range act {
			u[k] += stable.Softplus(a)
		}
	}
	return nil
}

// EnergyGrad implements samplers.Gradienter: b + Wᵀσ(c + Wv).
func (r *RBM) EnergyGrad(_ context.Context, x [][]int32, u []float64, grad [][]float64) error {
	kept, numbers := r.scratch()
	defer listsOfInts.Put(kept)
	defer listsOfFloats.Put(numbers)
	act := (*numbers)[:r.H]
	for k, v := range x {
		list := r.entries(v, *kept)
		r.activations(list, act)
		u[k] = r.visible(list)
		for j, a := range act {
			// softplus and sigmoid, which have an exponential in common.
			e := math.Exp(-math.Abs(a))
			u[k] += max(a, 0) + math.Log1p(e)
			if act[j] = 1 / (1 + e); a < 0 {
				act[j] = e / (1 + e)
			}
		}
		copy(grad[k], r.B)
		r.addRows(act, grad[k][:len(r.B)])
	}
	return nil
}

// ExactConditionals implements samplers.Conditioner.
func (r *RBM) ExactConditionals() bool { return true }

// Conditional implements samplers.Conditioner by the energies of a coordinate's categories. It
// takes the time of one energy, and not of one for each category.
func (r *RBM) Conditional(_ context.Context, x [][]int32, i []int, u [][]float64) error {
	kept, numbers := r.scratch()
	defer listsOfInts.Put(kept)
	defer listsOfFloats.Put(numbers)
	act := (*numbers)[:r.H]
	for k, v := range x {
		i, u := i[k], u[k]
		list := r.entries(v, *kept)
		if e := r.entry(i, v[i]); e >= 0 {
			at := slices.Index(list, e)
			list = slices.Delete(list, at, at+1)
		}
		r.activations(list, act)
		rest := r.visible(list)
		for s := range u {
			u[s] = rest
			if e := r.entry(i, int32(s)); e >= 0 {
				u[s] += r.B[e]
			}
		}
		for j, a := range act {
			for s := range u {
				b := a
				if e := r.entry(i, int32(s)); e >= 0 {
					b += r.W[j*len(r.B)+e]
				}
				u[s] += stable.Softplus(b)
			}
		}
	}
	return nil
}

// Hidden sets p[j] to the probability that hidden unit j is on given state v. p has H entries.
func (r *RBM) Hidden(v []int32, p []float64) {
	kept := takeInts(r.D)
	defer listsOfInts.Put(kept)
	r.activations(r.entries(v, *kept), p)
	for j, a := range p {
		p[j] = stable.Sigmoid(a)
	}
}

// AddParameterGradient adds scale times the sum over states of ∂U/∂B, ∂U/∂C and ∂U/∂W to b, c and
// w, which have the layouts of B, C and W. The gradient of a log-likelihood is its mean over the
// data less that over the model.
func (r *RBM) AddParameterGradient(x [][]int32, scale float64, b, c, w []float64) {
	kept, p := takeInts(r.D), make([]float64, r.H)
	defer listsOfInts.Put(kept)
	for _, v := range x {
		list := r.entries(v, *kept)
		for _, e := range list {
			b[e] += scale
		}
		r.activations(list, p)
		for j, a := range p {
			on := scale * stable.Sigmoid(a)
			c[j] += on
			row := w[j*len(b) : (j+1)*len(b)]
			for _, e := range list {
				row[e] += on
			}
		}
	}
}

// LogZ is the exact normaliser by summing over the 2^H hidden states; H is at
// most 20.
func (r *RBM) LogZ() (float64, error) {
	z, _, err := r.sumHidden(false)
	return z, err
}

// Marginals returns P(v_i = s) at i·K + s by summing over hidden states.
func (r *RBM) Marginals() ([]float64, error) {
	_, m, err := r.sumHidden(true)
	return m, err
}

func (r *RBM) sumHidden(marginals bool) (logZ float64, marg []float64, err error) {
	if r.H > 20 {
		return 0, nil, fmt.Errorf("%w: 2^%d hidden states, at most 2^20", targets.ErrTooLarge, r.H)
	}
	n := 1 << r.H
	lw := make([]float64, n)
	logit := make([]float64, len(r.B))
	row := make([]float64, r.K)
	visit := func(h int, f func(i int, row []float64)) float64 {
		copy(logit, r.B)
		sum := 0.0
		for j := range r.H {
			if h>>j&1 == 1 {
				sum += r.C[j]
				for e, w := range r.W[j*len(r.B) : (j+1)*len(r.B)] {
					logit[e] += w
				}
			}
		}
		for i := range r.D {
			if r.binary {
				row[0], row[1] = 0, logit[i]
			} else {
				copy(row, logit[i*r.K:(i+1)*r.K])
			}
			sum += stable.LogSumExp(row)
			if f != nil {
				f(i, row)
			}
		}
		return sum
	}
	for h := range n {
		lw[h] = visit(h, nil)
	}
	logZ = stable.LogSumExp(lw)
	if marginals {
		marg = make([]float64, r.D*r.K)
		for h := range n {
			w := math.Exp(lw[h] - logZ)
			visit(h, func(i int, row []float64) {
				z := stable.LogSumExp(row)
				for s, l := range row {
					marg[i*r.K+s] += w * math.Exp(l-z)
				}
			})
		}
	}
	return logZ, marg, nil
}
