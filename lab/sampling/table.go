package sampling

import (
	"fmt"
	"math"
	"time"

	"infill/lab/internal/chains"
)

const header = "| sampler | ms a step | rows a chain and step | moves | mean U, equal steps | " +
	"five best | distinct | mean U, equal time | five best | distinct | ESS of U a second | " +
	"of a blank |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"

// A line is what the table says of one sampler on one text.
type line struct {
	ms, rows, moved       float64
	steps, time           [3]float64 // mean U, five best, distinct fillings
	perSecond, perSecond1 float64    // effective samples of U and of a blank
}

// line compares a record with that of the first sampler: after the same number of steps
// and after the time that these took it.
func (r *record) line(o options, first *record, tokens []int32) line {
	var l line
	per := r.cpu[r.Steps()].Seconds() / float64(r.Steps())
	l.ms = per * 1000
	l.rows = float64(r.rows) / float64(len(r.Energy)) / float64(r.Steps()+1)
	l.moved = r.moved()
	limit := min(o.steps, r.Steps())
	l.steps = numbers(r.At(limit))
	l.time = numbers(r.At(r.at(first.cpu[min(o.steps, first.Steps())] + time.Millisecond)))
	after := (r.cpu[r.Steps()] - r.cpu[r.Steps()/2]).Seconds()
	u, blank := r.ess(tokens)
	l.perSecond, l.perSecond1 = u/after, blank/after
	return l
}

func numbers(q chains.Quality) [3]float64 {
	return [3]float64{q.Mean, q.Best, float64(q.Distinct)}
}

func (l line) row(name string) string {
	return fmt.Sprintf("| %s | %.3g | %.2f | %.2f | %.2f | %.2f | %.1f | %.2f | %.2f | %.1f | "+
		"%.3g | %.3g |", name, l.ms, l.rows, l.moved, l.steps[0], l.steps[1], l.steps[2],
		l.time[0], l.time[1], l.time[2], l.perSecond, l.perSecond1)
}

// A summary is the mean of lines, of effective samples a second the geometric one.
type summary struct {
	n   float64
	sum line
}

func (s *summary) add(l line) {
	s.n++
	s.sum.ms += l.ms
	s.sum.rows += l.rows
	s.sum.moved += l.moved
	for i := range l.steps {
		s.sum.steps[i] += l.steps[i]
		s.sum.time[i] += l.time[i]
	}
	s.sum.perSecond += math.Log(l.perSecond)
	s.sum.perSecond1 += math.Log(l.perSecond1)
}

func (s *summary) line() line {
	l := s.sum
	l.ms, l.rows, l.moved = l.ms/s.n, l.rows/s.n, l.moved/s.n
	for i := range l.steps {
		l.steps[i] /= s.n
		l.time[i] /= s.n
	}
	l.perSecond, l.perSecond1 = math.Exp(l.perSecond/s.n), math.Exp(l.perSecond1/s.n)
	return l
}
