package bayesnet

import "math"

// A network has one layer of hidden units:
//
//	f(x) = σ(b₂ + Σ_h v_h tanh(b_h + Σ_k w_kh x_k))
//
// The weights stand in a list: w by input and then by unit, b, v, b₂. The paper does not speak of
// the sigmoid σ, but the public code has it.
type network struct{ width, hidden int }

func newNetwork(width, hidden int) network { return network{width, hidden} }

// weights is the number of weights.
func (n network) weights() int { return (n.width+2)*n.hidden + 1 }

// inputs are rows with inputs of mean 0 and deviation 1 over the training data: (x_k −
// mean_k)·scale_k.
type inputs struct {
	columns     []int
	rows        []row
	y           []float64
	mean, scale []float64
}

// standardise scales inputs. A constant input becomes 0.
func standardise(train *dataset) *inputs {
	in := &inputs{columns: train.columns, rows: train.rows, y: train.y,
		mean: make([]float64, train.width), scale: make([]float64, train.width)}
	n := float64(len(train.rows))
	for _, r := range train.rows {
		for j, k := range r.index {
			in.mean[k] += r.value[j] / n
			in.scale[k] += r.value[j] * r.value[j] / n
		}
	}
	for k, m := range in.mean {
		v := in.scale[k] - m*m
		in.scale[k] = 0
		if v > 1e-12 {
			in.scale[k] = 1 / math.Sqrt(v)
		}
	}
	return in
}

// other are other rows with the same scales.
func (in *inputs) other(d *dataset) *inputs {
	return &inputs{columns: in.columns, rows: d.rows, y: d.y, mean: in.mean, scale: in.scale}
}

// A pass evaluates a network at given weights, for one row after another.
type pass struct {
	n        network
	in       *inputs
	w        []float64 // as they are
	scaled   []float64 // w·scale
	constant []float64 // b − Σ_k w_k mean_k scale_k, by unit
	act      []float64 // tanh of the last row's units
	d        []float64 // scratch: derivatives by unit
	sumD     []float64 // Σ over rows of derivatives, by unit
}

// at makes a pass for weights.
func (n network) at(in *inputs, w []float64) *pass {
	h := n.hidden
	p := &pass{n: n, in: in, w: w, scaled: make([]float64, n.width*h), constant: make([]float64, h),
		act: make([]float64, h), d: make([]float64, h), sumD: make([]float64, h)}
	copy(p.constant, w[n.width*h:])
	for k := range n.width {
		s, m := in.scale[k], in.mean[k]
		for u := range h {
			v := w[k*h+u] * s
			p.scaled[k*h+u] = v
			p.constant[u] -= v * m
		}
	}
	return p
}

// row is the output for row r. Activations stay in act.
func (p *pass) row(r int) float64 {
	h := p.n.hidden
	copy(p.act, p.constant)
	for j, k := range p.in.rows[r].index {
		x := p.in.rows[r].value[j]
		for u, w := range p.scaled[k*h : (k+1)*h] {
			p.act[u] += w * x
		}
	}
	v := p.w[(p.n.width+1)*h:]
	o := v[h]
	for u, a := range p.act {
		p.act[u] = math.Tanh(a)
		o += v[u] * p.act[u]
	}
	return 1 / (1 + math.Exp(-o))
}

// output is f for row r.
func (n network) output(in *inputs, r int, w []float64) float64 { return n.at(in, w).row(r) }

// gradient adds scale·∇(f − y)² of row r to g, after a call of row that gave f. Parts of it wait
// in sumD for a call of finish.
func (p *pass) gradient(r int, f, scale float64, g []float64) {
	h, width := p.n.hidden, p.n.width
	out := scale * 2 * (f - p.in.y[r]) * f * (1 - f)
	v, gv := p.w[(width+1)*h:], g[(width+1)*h:]
	gv[h] += out
	for u, a := range p.act {
		gv[u] += out * a
		p.d[u] = out * v[u] * (1 - a*a)
		p.sumD[u] += p.d[u]
	}
	for j, k := range p.in.rows[r].index {
		x := p.in.rows[r].value[j]
		for u, d := range p.d {
			g[k*h+u] += d * x
		}
	}
}

// finish completes the gradient: what the means of the inputs and their scales do.
func (p *pass) finish(g []float64) {
	h := p.n.hidden
	for k := range p.n.width {
		s, m := p.in.scale[k], p.in.mean[k]
		for u, d := range p.sumD {
			g[k*h+u] = (g[k*h+u] - m*d) * s
		}
	}
	for u, d := range p.sumD {
		g[p.n.width*h+u] += d
	}
	clear(p.sumD)
}
