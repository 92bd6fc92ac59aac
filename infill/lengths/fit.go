package lengths

import (
	"math"
	"runtime"
	"sync"
)

// An example is a gap and its length.
type example struct {
	gap   GapFunc
	n     int // pieces
	words int
	read  []float32
}

// shrink is the weight of ½‖W‖² beside the sum of the losses, for values of variance 1: weights are
// kept small, since there are more of them than gaps.
const shrink = 3000.0

// Bounds of the fit.
const (
	fitSteps = 300
	fitEnd   = 1e-4 // largest slope of the mean loss at which it ends
	fitPairs = 10   // steps that L-BFGS remembers
	fitChunk = 256  // examples that one goroutine takes at a time
)

// fit finds the shares that the examples are likeliest under.
func fit(all []*example) *Shares {
	x, mean, scale := standard(all)
	p := &problem{x: x, y: make([]int, len(all)), width: len(mean), shrink: shrink / float64(len(all))}
	s := &Shares{width: len(mean) / len(reads), prior: make([]float32, classes)}
	for c := range s.prior {
		s.prior[c] = 1 / float32(len(all)+classes) // no length is impossible
	}
	s.words = make([]float32, mostWords*classes)
	seen := make([]float32, classes)
	for i, e := range all {
		p.y[i] = class(e.n)
		s.prior[class(e.n)] += 1 / float32(len(all)+classes)
		s.words[(e.words-1)*classes+class(e.n)]++
		seen[class(e.n)]++
	}
	for i, n := range s.words { // nor is a number of words
		s.words[i] = (n + .5) / (seen[i%classes] + .5*mostWords)
	}
	w := p.minimum(fitSteps, fitEnd)
	s.weight, s.bias = make([]float32, classes*len(mean)), make([]float32, classes)
	for c := range classes {
		row := w[c*(len(mean)+1):]
		bias := row[len(mean)]
		for k := range mean {
			v := row[k] / scale[k]
			s.weight[c*len(mean)+k] = float32(v)
			bias -= v * mean[k]
		}
		s.bias[c] = float32(bias)
	}
	return s
}

// standard are the values that examples have, with mean 0 and variance 1.
func standard(all []*example) (x [][]float32, mean, scale []float64) {
	n, width := float64(len(all)), len(all[0].read)
	mean, scale = make([]float64, width), make([]float64, width)
	for _, e := range all {
		for k, v := range e.read {
			mean[k] += float64(v) / n
		}
	}
	for _, e := range all {
		for k, v := range e.read {
			d := float64(v) - mean[k]
			scale[k] += d * d / n
		}
	}
	for k := range scale {
		if scale[k] = math.Sqrt(scale[k]); scale[k] == 0 {
			scale[k] = 1
		}
	}
	x = make([][]float32, len(all))
	for i, e := range all {
		x[i] = make([]float32, width)
		for k, v := range e.read {
			x[i][k] = float32((float64(v) - mean[k]) / scale[k])
		}
	}
	return x, mean, scale
}

// problem is the mean of −log P(y|x) and shrink/2 · ‖W‖², of weights W [classes, width + 1]. The
// last column has the biases, which do not count among ‖W‖².
type problem struct {
	x      [][]float32
	y      []int
	width  int
	shrink float64
}

// at is the value and its slope.
func (p *problem) at(w []float64) (loss float64, slope []float64) {
	chunks := (len(p.x) + fitChunk - 1) / fitChunk
	losses, slopes := make([]float64, chunks), make([][]float64, chunks)
	var group sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for c := range chunks {
		free <- struct{}{}
		group.Go(func() {
			losses[c], slopes[c] = p.part(w, c*fitChunk, min((c+1)*fitChunk, len(p.x)))
			<-free
		})
	}
	group.Wait()
	slope = make([]float64, len(w))
	for c := range chunks { // in their order, so that threads change no bit
		loss += losses[c]
		for i, v := range slopes[c] {
			slope[i] += v
		}
	}
	for i, v := range w {
		if i%(p.width+1) < p.width {
			loss += p.shrink / 2 * v * v
			slope[i] += p.shrink * v
		}
	}
	return loss, slope
}

// part are the sums over some examples.
func (p *problem) part(w []float64, from, to int) (loss float64, slope []float64) {
	slope = make([]float64, len(w))
	logit := make([]float64, classes)
	for i := from; i < to; i++ {
		x := p.x[i]
		for c := range logit {
			row := w[c*(p.width+1) : (c+1)*(p.width+1)]
			sum := row[p.width]
			for k, v := range x {
				sum += row[k] * float64(v)
			}
			logit[c] = sum
		}
		norm := logSum(logit)
		loss += (norm - logit[p.y[i]]) / float64(len(p.x))
		for c := range logit {
			d := math.Exp(logit[c] - norm)
			if c == p.y[i] {
				d--
			}
			d /= float64(len(p.x))
			row := slope[c*(p.width+1) : (c+1)*(p.width+1)]
			for k, v := range x {
				row[k] += d * float64(v)
			}
			row[p.width] += d
		}
	}
	return loss, slope
}

// minimum finds the weights of the least value by L-BFGS (Liu and Nocedal 1989) from zero, each
// step halved until the value falls by a part of what the slope promises. The value is convex.
func (p *problem) minimum(steps int, end float64) []float64 {
	w := make([]float64, classes*(p.width+1))
	loss, slope := p.at(w)
	var moved, turned [][]float64 // the last steps, and what they changed of the slope
	for range steps {
		if steepest(slope) < end {
			break
		}
		d := direction(slope, moved, turned)
		down := dot(d, slope)
		size, next := 1.0, make([]float64, len(w))
		var value float64
		var there []float64
		for {
			for i := range next {
				next[i] = w[i] + size*d[i]
			}
			if value, there = p.at(next); value <= loss+1e-4*size*down || size < 1e-10 {
				break
			}
			size /= 2
		}
		if !(value < loss) {
			break // as near as the numbers allow
		}
		step, turn := make([]float64, len(w)), make([]float64, len(w))
		for i := range w {
			step[i], turn[i] = next[i]-w[i], there[i]-slope[i]
		}
		moved, turned = append(moved, step), append(turned, turn)
		if len(moved) > fitPairs {
			moved, turned = moved[1:], turned[1:]
		}
		w, loss, slope = next, value, there
	}
	return w
}

// direction is minus the slope times what the last steps say of the inverse of the curvature.
func direction(slope []float64, moved, turned [][]float64) []float64 {
	d := make([]float64, len(slope))
	for i, v := range slope {
		d[i] = -v
	}
	along := make([]float64, len(moved))
	for j := len(moved) - 1; j >= 0; j-- {
		along[j] = dot(moved[j], d) / dot(moved[j], turned[j])
		add(d, -along[j], turned[j])
	}
	if j := len(moved) - 1; j >= 0 {
		scale := dot(moved[j], turned[j]) / dot(turned[j], turned[j])
		for i := range d {
			d[i] *= scale
		}
	}
	for j := range moved {
		add(d, along[j]-dot(turned[j], d)/dot(moved[j], turned[j]), moved[j])
	}
	return d
}

func steepest(slope []float64) (most float64) {
	for _, v := range slope {
		most = max(most, math.Abs(v))
	}
	return most
}

func dot(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// add adds f · b to a.
func add(a []float64, f float64, b []float64) {
	for i, v := range b {
		a[i] += f * v
	}
}

// class is the class of a length, from 0.
func class(n int) int { return min(n, classes) - 1 }
