package samplers

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
)

// Rows proposes from the conditionals of the current state that the target gives, its rows
// f_i(·) = f(· | θ_{−i}), which are known from its energy. A set S of coordinates,
// each in it with probability ρ and never empty, is drawn from its rows, all at once:
//
//	q(θ→θ') ∝ Π_i [ρ f_i(θ'_i) + (1−ρ) 1{θ'_i = θ_i}]   for θ' ≠ θ
//
// accepted with probability min(1, π(θ')q(θ'→θ)/(π(θ)q(θ→θ'))), in which the rows at
// θ' are those that its energy has given. The sum over all S that lead to θ' is in q,
// so that nothing but the two states enters the ratio: it is exact, whatever the rows are.
// Cost: one energy with its rows a step, and nothing when the draw is the state itself.
type Rows struct {
	// Rate is ρ, from 1e-12 to 1. As it goes to 0 one coordinate changes at a time, chosen uniformly.
	Rate             float64
	TargetAcceptance float64 // among proposals that differ from the state
}

// leastRate is the smallest Rate. Far below it 1−ρ is 1 in floating point, and no set is drawn.
const leastRate = 1e-12

// The rate of Rows lies between 1, every coordinate, and this, which is one
// coordinate a step but for one step in a hundred on a pair.
const minRate = 0.01

// startRate is where an automatic rate starts.
const startRate = 0.5

func (s *Rows) Attach(c *Chains) (Kernel, error) {
	if s.Rate != 0 && !(s.Rate >= leastRate && s.Rate <= 1) {
		return nil, &ParamError{rowsInfo.Name, "rate", fmt.Sprint(s.Rate),
			fmt.Sprintf("a number from %g to 1, or 0 for automatic", leastRate)}
	}
	o := *s
	if err := rowsInfo.complete(&o); err != nil {
		return nil, err
	}
	p := &rowsProposer{dom: c.Domain,
		scales: scales{now: make([]float64, c.Len()), read: (*scaleTuner).value}}
	for i, n := range c.Domain.free {
		if n > 1 {
			p.free = append(p.free, i)
		}
	}
	for k := range p.now {
		p.now[k] = s.Rate
		if s.Rate == 0 {
			p.now[k] = startRate
			p.tune = append(p.tune, newScaleTuner(startRate, 0, o.TargetAcceptance, minRate, 1,
				c.Burnin))
		}
		p.cur = append(p.cur, newRowSums(len(p.free)))
		p.next = append(p.next, newRowSums(len(p.free)))
	}
	return newMH(c, p, mhOptions{MHOptions: MHOptions{Rows: true}})
}

// rowsProposer is the proposal of Rows. For U = Σ_i log f_i and a small ρ the ratio is the same as
// in GibbsMH. Where the coordinates do not depend on each other everything is accepted. In the
// gradient of the one-hot extension of U = Σ_i log f_i the row is the term that comes without
// differentiating f: this is the discrete Langevin proposal (DLP, equation 2, and appendix B for
// categories) of that term with its whole weight in place of the half, and with a probability of
// staying in place of the step size.
type rowsProposer struct {
	scales // ρ
	dom    *Domain
	free   []int     // coordinates that have more than one category
	cur    []rowSums // at the state of each chain
	next   []rowSums // at its proposal
}

// rowSums are the normalisers of the rows of one state, by number of the free
// coordinate: log Σ_v f_i(v) is max + log sum.
type rowSums struct {
	max, sum []float64
}

func newRowSums(n int) rowSums {
	return rowSums{max: make([]float64, n), sum: make([]float64, n)}
}

// fill normalises the rows of a state. A row that is not a distribution makes the sum NaN.
func (p *rowsProposer) fill(s *rowSums, rows []float64) {
	sums := p.dom.sums(rows)
	for j, i := range p.free {
		s.max[j], s.sum[j] = sums[2*i], sums[2*i+1]
	}
}

// logQ is log q(x→y), by the rows at x.
func (p *rowsProposer) logQ(k int, s *rowSums, rows []float64, x, y []int32) float64 {
	rho, same := p.now[k], true
	lq := 0.0
	for j, i := range p.free {
		l, sum := p.dom.row(rows, i)[y[i]]-s.max[j], s.sum[j]
		switch {
		case y[i] != x[i]:
			lq += math.Log(rho/sum) + l
			same = false
		case sum != sum: // see Propose: not in the set
			lq += math.Log(1 - rho)
		default:
			lq += math.Log(rho*math.Exp(l)/sum + (1 - rho))
		}
	}
	none := math.Pow(1-rho, float64(len(p.free))) // no coordinate is in the set
	if same {
		lq = math.Log(math.Max(math.SmallestNonzeroFloat64, math.Exp(lq)-none))
	}
	return lq - math.Log1p(-none)
}

// Enter implements keeper.
func (p *rowsProposer) Enter(k int, _ []int32, rows []float64) { p.fill(&p.cur[k], rows) }

// Propose implements Proposal. Where a row in the set is not a distribution nothing can
// be drawn: a state can be left, then, by the sets without that coordinate.
func (p *rowsProposer) Propose(k int, x []int32, rows []float64, rng *rand.Rand,
	y []int32) float64 {
	if len(p.free) == 0 {
		return 0
	}
	rho, s, none := p.now[k], &p.cur[k], true
	for j, i := range p.free {
		// As long as the set is empty, the coordinates that are left have to fill it.
		some := 1.0
		if none {
			some -= math.Pow(1-rho, float64(len(p.free)-j))
		}
		if rng.Float64()*some >= rho {
			continue
		}
		if none = false; s.sum[j] != s.sum[j] {
			return math.NaN()
		}
		y[i] = drawRow(rng, p.dom.row(rows, i), s.max[j], s.sum[j])
	}
	return p.logQ(k, s, rows, x, y)
}

// drawRow draws a category from a row, given its largest entry and its sum.
func drawRow(rng *rand.Rand, row []float64, most, sum float64) int32 {
	t, s, v := rng.Float64()*sum, 0.0, 0
	for w, l := range row {
		if d := l - most; d > negligible {
			// By rounding, t can reach the sum: then the last category that has weight.
			v = w
			if s += expNeg(d); s > t {
				break
			}
		}
	}
	return int32(v)
}

// Reverse implements Proposal.
func (p *rowsProposer) Reverse(k int, x, y []int32, rows []float64) float64 {
	p.fill(&p.next[k], rows)
	return p.logQ(k, &p.next[k], rows, y, x)
}

// Accepted implements keeper.
func (p *rowsProposer) Accepted(k int) { p.cur[k], p.next[k] = p.next[k], p.cur[k] }

// Adapt implements Adapter. A draw that is the state says nothing of the rate. Nor does
// one of probability zero: where a constraint parts the states, a small rate would leave
// no way from one part to another.
func (p *rowsProposer) Adapt(k int, m Move) {
	if m.Moved && m.Prob > 0 {
		p.scales.Adapt(k, m)
	}
}

// Tuning implements Adapter.
func (p *rowsProposer) Tuning(k int) map[string]float64 {
	return map[string]float64{"rate": p.now[k]}
}

func (s *Rows) Info() Info { return rowsInfo }

var rowsInfo = Info{
	Name: "rows", Title: "Conditionals of several coordinates, corrected",
	Exact: true, Corrected: true,
	Doc: "draws several coordinates at once from the conditionals of the state, " +
		"which its energy has given, with a Metropolis–Hastings correction",
	Needs: []Need{NeedRows, NeedEnergies},
	Cost:  "1 energy with all conditionals, none when the draw is the state",
	Params: []Param{
		{
			Name: "rate", Default: "auto", Min: leastRate, Max: 1, Auto: true,
			Doc: "probability ρ of drawing a coordinate again; auto adapts it in the burn-in",
			Set: func(s Sampler, v Value) { s.(*Rows).Rate = v.Number },
		},
		acceptParam(usualAcceptance, func(s *Rows) *float64 { return &s.TargetAcceptance }),
	},
}

// NeedRows is NeedGradient for the rows of all states (RowConditioner), in the place of gradients,
// with −∞ outside the support, and behind them what SumRow says of each. A Conditioner that gives
// them one by one will do.
func (c *Chains) NeedRows() error {
	t, ok := c.Target.(Conditioner)
	if !ok {
		return &abilityError{c.name, "conditionals (EnergyRows or Conditional)",
			"dmala needs gradients in their place"}
	}
	if c.Domain.RowLen() > maxCategories {
		return &abilityError{c.name, "fewer categories",
			"gibbs-mh asks for one conditional at a time"}
	}
	s := &rowSource{c: c, cond: t, at: make([]int, c.Len()), row: make([][]float64, c.Len())}
	s.rows, _ = t.(RowConditioner)
	c.rows, c.gradients = s, false
	c.Grad = matrix[float64](len(c.X), c.Domain.RowLen()+2*c.Domain.Len())
	return nil
}

// rowSource gives the rows of states where Evaluate is asked for gradients: both are what
// a proposal knows of a state besides its energy.
type rowSource struct {
	c    *Chains
	rows RowConditioner // nil: cond is asked for one coordinate after the other
	cond Conditioner
	at   []int
	row  [][]float64
	only [][]float64 // scratch: rows and sums apart
	sums [][]float64
}

// fill does what EnergyGrad does, with rows and their sums.
func (s *rowSource) fill(ctx context.Context, chain []int, x [][]int32, u []float64,
	rows [][]float64) error {
	d := s.c.Domain
	if s.rows == nil {
		if err := s.each(ctx, chain, x, u, rows); err != nil {
			return err
		}
	}
	s.only, s.sums = s.only[:0], s.sums[:0]
	for k := range x {
		sums := d.sums(rows[k])
		clear(sums)
		s.only, s.sums = append(s.only, rows[k][:d.RowLen()]), append(s.sums, sums)
	}
	if s.rows != nil {
		if err := s.rows.EnergyRows(ctx, x, u, s.only, s.sums); err != nil {
			return err
		}
	}
	for k := range x {
		if math.IsInf(u[k], -1) {
			continue // nobody reads them
		}
		for i, sums := range s.sums[k] {
			if i%2 == 0 || sums != 0 && d.coords[i/2].Allowed == nil {
				continue
			}
			row := d.row(rows[k], i/2)
			maskOut(d, i/2, row)
			s.sums[k][i-1], s.sums[k][i] = SumRow(row)
		}
	}
	return nil
}

// each asks for the conditionals of one coordinate after the other.
func (s *rowSource) each(ctx context.Context, chain []int, x [][]int32, u []float64,
	rows [][]float64) error {
	if err := s.c.evaluate(ctx, chain, x, u, nil); err != nil {
		return err
	}
	d, n := s.c.Domain, len(x)
	for i := range d.coords {
		for k := range x {
			s.at[k], s.row[k] = i, d.row(rows[k], i)
		}
		if err := s.cond.Conditional(ctx, x, s.at[:n], s.row[:n]); err != nil {
			return err
		}
	}
	return nil
}
