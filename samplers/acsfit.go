package samplers

// isotonic holds measured acceptances a at abscissae x with weights w, sorted
// by x.
type isotonic struct {
	x, a, w [acsRounds * acsCandidates]float64
	n       int
}

func (f *isotonic) discount(by float64) {
	for i := range f.n {
		f.w[i] *= by
	}
}

// add enters a measurement; there is room for all rounds of a stage.
func (f *isotonic) add(x, a, w float64) {
	i := f.n
	for ; i > 0 && f.x[i-1] > x; i-- {
		f.x[i], f.a[i], f.w[i] = f.x[i-1], f.a[i-1], f.w[i-1]
	}
	f.x[i], f.a[i], f.w[i] = x, a, w
	f.n++
}

// crossing is where the decreasing curve nearest to the measurements in least
// squares (pool adjacent violators) passes the goal, linear between blocks of
// equal value. Without a passage it is the first or last abscissa; above says
// that the curve reaches the goal at all.
func (f *isotonic) crossing(goal float64) (x float64, above bool) {
	b := *f
	b.n = 0
	for i := range f.n {
		b.x[b.n], b.a[b.n], b.w[b.n] = f.x[i], f.a[i], f.w[i]
		b.n++
		for b.n > 1 && b.a[b.n-1] >= b.a[b.n-2] {
			p, q := b.n-2, b.n-1
			w := b.w[p] + b.w[q]
			b.x[p] = (b.w[p]*b.x[p] + b.w[q]*b.x[q]) / w
			b.a[p] = (b.w[p]*b.a[p] + b.w[q]*b.a[q]) / w
			b.w[p] = w
			b.n--
		}
	}
	switch {
	case b.a[0] < goal:
		return f.x[0], false
	case b.a[b.n-1] >= goal:
		return f.x[f.n-1], true
	}
	i := 1
	for b.a[i] >= goal {
		i++
	}
	r := (b.a[i-1] - goal) / (b.a[i-1] - b.a[i])
	return b.x[i-1] + r*(b.x[i]-b.x[i-1]), true
}
