package facility

import (
	"fmt"
	"math"
	"math/rand/v2"

	"infill/samplers"
)

// An Instance is a problem of facility location with random demands. Sites are the facilities that
// may be opened. Costs have no unit.
type Instance struct {
	Number    int         `json:"instance"`
	Open      []float64   `json:"open"`      // c_i of each site
	Ship      [][]float64 `json:"ship"`      // c_ij of site i and customer j, for a unit of demand
	Mean      []int       `json:"mean"`      // of each customer's demand, in units
	Capacity  []int       `json:"capacity"`  // K_i of each site, in units
	Outsource []float64   `json:"outsource"` // g_i of each site, for a unit above its capacity
	// Lots, if it is above 0, makes demands either Lots times their mean, with probability 1/Lots,
	// or none. They are Poisson variables otherwise.
	Lots int `json:"lots,omitempty"`
}

// Draw makes instance number n of a size. It is a function of its arguments.
//
// The paper gives no numbers and refers to two others, which were not at hand. So: sites and
// customers are points of a grid of 100×100, shipping costs their distance, demands have means of
// 5 to 15 units, three times as many units of capacity as the mean demand are there altogether,
// and opening a site costs 300 to 700. A unit above the capacity costs 60 to 120. The cost of a
// solution is then near the paper's.
func Draw(sites, customers, n int) *Instance {
	rng := samplers.NewStream(uint64(n), fmt.Sprintf("facility %d×%d", sites, customers), 0)
	between := func(lo, hi int) int { return lo + rng.IntN(hi-lo+1) }
	points := func(n int) [][2]float64 {
		p := make([][2]float64, n)
		for i := range p {
			p[i] = [2]float64{float64(rng.IntN(100)), float64(rng.IntN(100))}
		}
		return p
	}
	at, home := points(sites), points(customers)
	in := &Instance{Number: n}
	total := 0
	for range customers {
		in.Mean = append(in.Mean, between(5, 15))
		total += in.Mean[len(in.Mean)-1]
	}
	for i := range sites {
		in.Open = append(in.Open, float64(between(300, 700)))
		usual := 3 * float64(total) / float64(sites)
		in.Capacity = append(in.Capacity, int(math.Round(usual*(.8+.4*rng.Float64()))))
		in.Outsource = append(in.Outsource, float64(between(60, 120)))
		ship := make([]float64, customers)
		for j := range ship {
			ship[j] = math.Round(math.Hypot(at[i][0]-home[j][0], at[i][1]-home[j][1]))
		}
		in.Ship = append(in.Ship, ship)
	}
	return in
}

// A Plan says which sites are open and which of them serves each customer. Demand at a closed site
// is outsourced whole.
//
// As a state of the sampler it is a list of numbers: 0 or 1 for each site, and then the site of
// each customer.
func (in *Instance) split(plan []int32) (open, site []int32) {
	return plan[:len(in.Open)], plan[len(in.Open):]
}

// capacity is K_i·y_i.
func (in *Instance) capacity(i int, open []int32) float64 {
	return float64(in.Capacity[i]) * float64(open[i])
}

// Cost is f(x, y; d) of equation 32, for demands d.
func (in *Instance) Cost(plan []int32, demand []float64) float64 {
	open, site := in.split(plan)
	f, load := 0.0, make([]float64, len(open))
	for j, i := range site {
		f += in.Ship[i][j] * demand[j]
		load[i] += demand[j]
	}
	for i, l := range load {
		f += in.Open[i]*float64(open[i]) + in.Outsource[i]*math.Max(0, l-in.capacity(i, open))
	}
	return f
}

// Expected is the mean of Cost over the demands, exactly.
func (in *Instance) Expected(plan []int32) float64 {
	open, site := in.split(plan)
	f, served := 0.0, make([][]int, len(open))
	for j, i := range site {
		f += in.Ship[i][j] * float64(in.Mean[j])
		served[i] = append(served[i], in.Mean[j])
	}
	for i, means := range served {
		k := int(in.capacity(i, open))
		f += in.Open[i] * float64(open[i])
		if in.Lots > 0 {
			f += in.Outsource[i] * inLots(means, in.Lots, k)
			continue
		}
		load := 0 // a sum of Poisson variables is one
		for _, m := range means {
			load += m
		}
		f += in.Outsource[i] * overflow(float64(load), k)
	}
	return f
}

// inLots is E max(0, D − k) of the sum D of independent variables that are lots·mean with
// probability 1/lots and else 0. The law of D is built up by one of them after another.
func inLots(means []int, lots, k int) float64 {
	p, top := []float64{1}, 0
	for _, m := range means {
		next := make([]float64, top+lots*m+1)
		for d, w := range p {
			next[d] += w * (1 - 1/float64(lots))
			next[d+lots*m] += w / float64(lots)
		}
		p, top = next, top+lots*m
	}
	o := 0.0
	for d, w := range p {
		o += w * float64(max(0, d-k))
	}
	return o
}

// overflow is E max(0, D − k) of a Poisson variable D with the given mean:
//
//	mean − k + Σ_{n<k} (k−n) P(D=n)
func overflow(mean float64, k int) float64 {
	if mean == 0 {
		return 0
	}
	o, log := mean-float64(k), -mean
	for n := range k {
		o += float64(k-n) * math.Exp(log)
		log += math.Log(mean) - math.Log(float64(n+1))
	}
	return math.Max(0, o)
}

// demands draws one demand for each customer.
func (in *Instance) demands(rng *rand.Rand, d []float64) {
	for j, m := range in.Mean {
		switch {
		case in.Lots == 0:
			d[j] = float64(poisson(rng, float64(m)))
		case rng.IntN(in.Lots) == 0:
			d[j] = float64(in.Lots * m)
		default:
			d[j] = 0
		}
	}
}

// poisson draws by inversion, which takes about mean multiplications.
func poisson(rng *rand.Rand, mean float64) int {
	u, p, n := rng.Float64(), math.Exp(-mean), 0
	for u > p && p > 0 {
		u -= p
		n++
		p *= mean / float64(n)
	}
	return n
}
