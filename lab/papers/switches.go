package papers

import (
	"math"

	"infill/lab/internal/stable"
)

// switches adds up, for every column at once, what the terms of many observations change by when
// the column is switched on, so that a becomes a + x, or off:
//
//	y x − log(1 + exp(a + x)) + log(1 + exp(a)),   −y x − log(1 + exp(a − x)) + log(1 + exp(a))
//
// It multiplies up 1 + exp(a + x), exp(x) + exp(a), which is exp(x) times 1 + exp(a − x), and
// 1 + exp(a), and takes logarithms where the products could leave the range of a number.
type switches struct {
	weight        []float64 // how often each column is in a
	on, off       []float64 // products
	sumOn, sumOff []float64 // all terms but the last, less the logarithms of former products
	here, base    float64   // the product of 1 + exp(a), and the logarithms of former ones
	size          float64   // bounds the logarithms of the products
}

// newSwitches needs scratch of 5·d numbers. It gives no pointer, which would be an allocation.
func newSwitches(scratch []float64, d int) switches {
	part := func(i int) []float64 { return scratch[i*d : (i+1)*d] }
	return switches{weight: part(0), on: part(1), off: part(2), sumOn: part(3), sumOff: part(4)}
}

// begin forgets all, for a new state. Coordinates j and d + j are of column j.
func (p *switches) begin(x []int32) {
	clear(p.sumOn)
	clear(p.sumOff)
	for j := range p.weight {
		p.weight[j] = float64(x[j] + x[len(p.weight)+j])
	}
	p.base = 0
	p.reset()
}

func (p *switches) reset() {
	p.here, p.size = 1, 0
	for j := range p.on {
		p.on[j], p.off[j] = 1, 1
	}
}

// add adds an observation; exp has exp(x), and most is the largest |x|.
func (p *switches) add(row, exp []float64, most, y float64) {
	a := 0.0
	for j, w := range p.weight[:len(row)] {
		a += w * row[j]
	}
	sumOn, sumOff := p.sumOn[:len(row)], p.sumOff[:len(row)]
	size := math.Ln2 + math.Abs(a) + most
	if !(size < maxLog/2) {
		p.base += stable.Softplus(a)
		for j, x := range row {
			sumOn[j] += y*x - stable.Softplus(a+x)
			sumOff[j] -= y*x + stable.Softplus(a-x)
		}
		return
	}
	if !(p.size+size < maxLog) {
		p.flush()
	}
	p.size += size
	e := math.Exp(a)
	p.here *= 1 + e
	on, off := p.on[:len(row)], p.off[:len(row)]
	for j, up := range exp[:len(row)] {
		on[j] *= 1 + e*up
		off[j] *= up + e
	}
	if y == 0 {
		for j, x := range row {
			sumOff[j] += x
		}
		return
	}
	for j, x := range row {
		sumOn[j] += y * x
		sumOff[j] += (1 - y) * x
	}
}

// flush takes the logarithms.
func (p *switches) flush() {
	p.base += math.Log(p.here)
	for j, f := range p.on {
		p.sumOn[j] -= math.Log(f)
		p.sumOff[j] -= math.Log(p.off[j])
	}
	p.reset()
}

// ratio is the sum for column j where a coordinate of value v is switched. It holds after flush.
func (p *switches) ratio(j int, v int32) float64 {
	if v == 0 {
		return p.sumOn[j] + p.base
	}
	return p.sumOff[j] + p.base
}
