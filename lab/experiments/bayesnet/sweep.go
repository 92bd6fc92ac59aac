package bayesnet

import "math"

// A sweep evaluates a network on folded rows. It keeps what the units gave, and computes again only
// those units whose weights are others than in the call before. It is for one goroutine.
type sweep struct {
	*folded
	w      []float64          // weights of the call before, nil before the first
	act    []float32          // of each unit and each row: its output
	arg    []float64          // of each row: the argument of the network's output
	d      []float64          // of each row: the derivative by arg
	tables [][]float64        // a number for each level of each group
	sums   [][][lanes]float64 // derivatives of some units by the levels of each group
}

const (
	chunk = 1024 // rows whose numbers stay in the processor's first cache
	lanes = 4    // units whose derivatives are summed together
)

func (f *folded) sweep(hidden int) *sweep {
	n := len(f.n)
	s := &sweep{folded: f, act: make([]float32, hidden*n), arg: make([]float64, n),
		d: make([]float64, n)}
	for _, g := range f.groups {
		s.tables = append(s.tables, make([]float64, len(g.levels)))
		s.sums = append(s.sums, make([][lanes]float64, len(g.levels)))
	}
	return s
}

// others marks the units with other weights than in the call before.
func (s *sweep) others(n network, w []float64, mark []bool) {
	for i, v := range w[:len(w)-1] {
		if s.w == nil || s.w[i] != v {
			mark[i%n.hidden] = true
		}
	}
}

// energy is Σ (f − y)² over all rows, and its gradient times scale is added to g, unless that is
// nil. Hyperbolic tangents are within 1e-7 of the true ones.
func (s *sweep) energy(p *pass, scale float64, g []float64) float64 {
	h := p.n.hidden
	last, bias := (p.n.width+1)*h, len(p.w)-1 // where v begins, and b₂
	mark := make([]bool, h)
	s.others(p.n, p.w, mark)
	old := s.w
	if old == nil {
		old = make([]float64, len(p.w))
	}
	for r := range s.arg {
		s.arg[r] += p.w[bias] - old[bias]
	}
	for u, other := range mark {
		if other {
			s.unit(p, u, old[last+u], p.w[last+u])
		}
	}
	s.w = append(s.w[:0], p.w...)
	e := s.square
	for r, o := range s.arg {
		y := 1 / (1 + math.Exp(-o))
		e += y * (s.n[r]*y - 2*s.sum[r])
		s.d[r] = scale * 2 * (s.n[r]*y - s.sum[r]) * y * (1 - y)
	}
	if g != nil {
		s.backward(p, g)
	}
	return e
}

// unit computes the outputs of unit u, and what they change in arg. was and is are its v before and
// now.
func (s *sweep) unit(p *pass, u int, was, is float64) {
	for j, g := range s.groups {
		for l, v := range g.levels {
			t := 0.0
			for i, k := range v.index {
				t += p.scaled[k*p.n.hidden+u] * v.value[i]
			}
			s.tables[j][l] = t
		}
	}
	var buffer [chunk]float64
	size := len(s.n)
	for from := 0; from < size; from += chunk {
		to := min(from+chunk, size)
		z := buffer[:to-from]
		s.arguments(z, p, u, from)
		tanhs(z)
		arg, act := s.arg[from:to], s.act[u*size+from:u*size+to]
		for r, x := range z {
			t := float32(x)
			arg[r] += is*float64(t) - was*float64(act[r])
			act[r] = t
		}
	}
}

// arguments fills z with the arguments of unit u for rows from number from on.
func (s *sweep) arguments(z []float64, p *pass, u, from int) {
	for r := range z {
		z[r] = p.constant[u]
	}
	for _, d := range s.dense {
		w := p.scaled[d.input*p.n.hidden+u]
		for r, v := range d.value[from : from+len(z)] {
			z[r] += w * v
		}
	}
	j := 0
	for ; j+1 < len(s.groups); j += 2 { // two at a time, to store half as often
		t, v := s.tables[j], s.tables[j+1]
		a, b := s.groups[j].of[from:from+len(z)], s.groups[j+1].of[from:from+len(z)]
		for r, l := range a {
			z[r] += t[l] + v[b[r]]
		}
	}
	if j < len(s.groups) {
		t := s.tables[j]
		for r, l := range s.groups[j].of[from : from+len(z)] {
			z[r] += t[l]
		}
	}
}

// backward adds the gradient to g, for some units at a time: sums of one level wait for each other,
// and those of several units do not.
func (s *sweep) backward(p *pass, g []float64) {
	h := p.n.hidden
	gv := g[(p.n.width+1)*h:]
	for _, d := range s.d {
		gv[h] += d
	}
	for first := 0; first < h; first += lanes {
		many := min(lanes, h-first)
		for _, t := range s.sums {
			clear(t)
		}
		for from := 0; from < len(s.n); from += chunk {
			s.chunk(p, g, first, many, from, min(from+chunk, len(s.n)))
		}
		for j, gr := range s.groups {
			for l, level := range gr.levels {
				for i, k := range level.index {
					for u := range many {
						g[k*h+first+u] += s.sums[j][l][u] * level.value[i]
					}
				}
			}
		}
	}
	p.finish(g)
}

// chunk adds what the rows of a chunk do to the derivatives of some units.
func (s *sweep) chunk(p *pass, g []float64, first, many, from, to int) {
	h, size := p.n.hidden, len(s.n)
	v, gv := p.w[(p.n.width+1)*h:], g[(p.n.width+1)*h:]
	var buffer [chunk][lanes]float64
	d, out := buffer[:to-from], s.d[from:to]
	for i := range many {
		u := first + i
		sum, sumV := 0.0, 0.0
		for r, t := range s.act[u*size+from : u*size+to] {
			a := float64(t)
			sumV += out[r] * a
			x := out[r] * v[u] * (1 - a*a)
			d[r][i] = x
			sum += x
		}
		gv[u] += sumV
		p.sumD[u] += sum
	}
	for j := range s.groups {
		t := s.sums[j]
		for r, l := range s.groups[j].of[from:to] {
			into, x := &t[l], &d[r]
			into[0] += x[0]
			into[1] += x[1]
			into[2] += x[2]
			into[3] += x[3]
		}
	}
	for _, c := range s.dense {
		var sum [lanes]float64
		for r, v := range c.value[from:to] {
			x := &d[r]
			sum[0] += x[0] * v
			sum[1] += x[1] * v
			sum[2] += x[2] * v
			sum[3] += x[3] * v
		}
		for i := range many {
			g[c.input*h+first+i] += sum[i]
		}
	}
}
