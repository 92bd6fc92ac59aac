package papers

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"infill/lab/internal/stable"
	"infill/lab/targets"
	"infill/samplers"
)

// annealed is a small machine of k categories, {0,1} for 2, with strong weights, and a q whose
// categories differ.
func annealed(t *testing.T, k int) (r *RBM, logq [][]float64) {
	t.Helper()
	r, err := NewRBM(4, k, 3, k == 2)
	if err != nil {
		t.Fatal(err)
	}
	rng := samplers.NewStream(uint64(k), "annealed", 0)
	r.Randomise(rng, 1, 0.7)
	for range r.D {
		q := make([]float64, k)
		for v := range q {
			q[v] = rng.NormFloat64()
		}
		z := stable.LogSumExp(q)
		for v := range q {
			q[v] -= z
		}
		logq = append(logq, q)
	}
	return r, logq
}

// joint is the probability of v and of hidden states h, bit by bit, in the machine of β, as the path
// has it: 2^−H at β = 0 for each h.
func joint(r *RBM, logq [][]float64, beta float64, v []int32, h int) float64 {
	list := r.entries(v, nil)
	l := beta*r.visible(list) - (1-beta)*float64(r.H)*math.Ln2
	for i, s := range v {
		l += (1 - beta) * logq[i][s]
	}
	for j := range r.H {
		if h>>j&1 == 1 {
			l += beta * r.C[j]
			for _, e := range list {
				l += beta * r.W[j*len(r.B)+e]
			}
		}
	}
	return math.Exp(l)
}

// marginal sums joint over h.
func marginal(r *RBM, logq [][]float64, beta float64, v []int32) float64 {
	sum := 0.0
	for h := range 1 << r.H {
		sum += joint(r, logq, beta, v, h)
	}
	return sum
}

// TestAnneal holds the gains of an RBM against sums over the hidden units, the ends of its path
// against q and exp(U), and its steps against the probabilities of a sweep of block Gibbs.
func TestAnneal(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	const n = 10000
	for _, k := range []int{2, 3} {
		r, logq := annealed(t, k)
		e, err := targets.Enumerate(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		u, v := []float64{0}, make([]int32, r.D)
		for s := range e.P {
			e.State(s, v)
			if err := r.Energy(ctx, [][]int32{v}, u); err != nil {
				t.Fatal(err)
			}
			q := 0.0
			for i, c := range v {
				q += logq[i][c]
			}
			if got := math.Log(marginal(r, logq, 1, v)); math.Abs(got-u[0]) > 1e-9 {
				t.Errorf("the path ends at %v, U is %v", got, u[0])
			}
			if got := math.Log(marginal(r, logq, 0, v)); math.Abs(got-q) > 1e-9 {
				t.Errorf("the path begins at %v, log q is %v", got, q)
			}
		}
		for _, way := range [][2]float64{{0, 0.3}, {0.3, 0.8}, {0.5, 1}, {1, 0.6}, {0.2, 0}} {
			from, to := way[0], way[1]
			start := []int32{1, 0, int32(k - 1), 1}
			x, rng := make([][]int32, n), make([]*rand.Rand, n)
			for i := range x {
				x[i] = append([]int32(nil), start...)
				rng[i] = samplers.NewStream(7, "anneal", i)
			}
			gain := make([]float64, n)
			r.Anneal(logq, from, to, x, rng, gain)
			want := math.Log(marginal(r, logq, to, start) / marginal(r, logq, from, start))
			if math.Abs(gain[0]-want) > 1e-9 || gain[n-1] != gain[0] {
				t.Errorf("k=%d, %v: gain %v and %v, want %v", k, way, gain[0], gain[n-1], want)
			}
			count := make([]float64, len(e.P))
			for _, v := range x {
				count[e.Index(v)]++
			}
			for s := range count {
				e.State(s, v)
				p := 0.0
				for h := range 1 << r.H {
					all := 0.0
					w := make([]int32, r.D)
					for o := range e.P {
						e.State(o, w)
						all += joint(r, logq, to, w, h)
					}
					p += joint(r, logq, to, start, h) / marginal(r, logq, to, start) *
						joint(r, logq, to, v, h) / all
				}
				if math.Abs(count[s]-n*p) > 5*math.Sqrt(n*p)+5 {
					t.Errorf("k=%d, %v: state %v comes %v times, want %.1f", k, way, v, count[s], n*p)
				}
			}
		}
	}
}

// TestAnnealedLogZ holds the normaliser against the sum over hidden states, and the
// last states against the marginals. A q that is 0 at a category that π has is the exception: the
// chains from q can only go there with their last step.
func TestAnnealedLogZ(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, k := range []int{2, 3} {
		r, logq := annealed(t, k)
		want, err := r.LogZ()
		if err != nil {
			t.Fatal(err)
		}
		e, err := targets.Enumerate(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.AnnealedLogZ(ctx, logq, 2000, 10, 4)
		if err != nil {
			t.Fatal(err)
		}
		if !(got.Error > 0 && got.Error < 0.05) || math.Abs(got.LogZ-want) > 4*got.Error {
			t.Errorf("k=%d: log Z %v ± %v, want %v", k, got.LogZ, got.Error, want)
		}
		sum := 0.0
		for _, l := range got.LogW {
			sum += math.Exp(l - want)
		}
		for i := range r.D {
			share := make([]float64, k)
			for c, v := range got.X {
				share[v[i]] += math.Exp(got.LogW[c]-want) / sum
			}
			for s, p := range e.Marginal(i) {
				if math.Abs(share[s]-p) > 4.5*math.Sqrt(.25/got.ESS) {
					t.Errorf("k=%d: P(v_%d = %d) is %v, want %v", k, i, s, share[s], p)
				}
			}
		}
		logq[0][0], logq[1][k-1] = math.Inf(-1), math.Inf(-1)
		if got, err = r.AnnealedLogZ(ctx, logq, 2000, 10, 4); err != nil || math.IsNaN(got.LogZ) {
			t.Fatalf("k=%d, q of 0: %+v, %v", k, got, err)
		}
		seen := map[[2]int]bool{}
		for _, v := range got.X {
			seen[[2]int{0, int(v[0])}], seen[[2]int{1, int(v[1])}] = true, true
		}
		if len(seen) != 2*k {
			t.Errorf("k=%d, q of 0: the last step reaches %v", k, seen)
		}
	}
}
