package bleu

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Smoothings lists the smoothing methods by name, the default first. none, floor,
// add-k and exp are sacrebleu's. The names method1 to method7 are NLTK's numbering of Chen &
// Cherry 2014. With m matches of t n-grams of order k, p = m/t unless:
//
//	none     –
//	floor    m = 0: p = value/t                        (value 0.1)
//	add-k    k > 1: p = (m+value)/(t+value)             (value 1)
//	exp      the j-th order with m = 0: p = 1/(2^j t)
//	method1  as floor
//	method2  as add-k with value 1
//	method3  as exp
//	method4  the j-th order with m = 0: p = ln(h)/(2^j value t), h the hypothesis
//	         length in tokens                           (value 5)
//	method5  p'_k = (p'_{k−1} + p_k + p_{k+1})/3 with p'_0 = p_1 + 1, and after the
//	         last order the 5-gram precision
//	method6  k > 2: p'_k = (m + value·π)/(l + value) with π = p'²_{k−1}/p'_{k−2} and
//	         l the number of n-grams of the hypothesis  (value 5)
//	method7  method4, then method5
//
// Methods 5 to 7 are made for one sentence. On a corpus NLTK takes the 5-gram
// precision and l of the last sentence. So does this package, with a warning.
func Smoothings() []string {
	return []string{DefaultSmoothing, "floor", "add-k", "exp",
		"method1", "method2", "method3", "method4", "method5", "method6", "method7"}
}

// DefaultSmoothing is none.
const DefaultSmoothing = "none"

type smoother struct {
	method string
	value  float64
	given  bool // value is not the default
}

func newSmoother(method string, value *float64, order int) (smoother, error) {
	if method = cmp.Or(method, DefaultSmoothing); !slices.Contains(Smoothings(), method) {
		return smoother{}, fmt.Errorf("%w: smoothing %q (known: %s)", ErrOption, method,
			strings.Join(Smoothings(), ", "))
	}
	// values are the defaults of those that have one.
	values := map[string]float64{"floor": 0.1, "method1": 0.1, "add-k": 1, "method4": 5, "method6": 5,
		"method7": 5}
	s := smoother{method: method, value: values[method]}
	if value != nil && s.value == 0 {
		return smoother{}, fmt.Errorf("%w: smoothing %s takes no value", ErrOption, method)
	}
	if method == "method6" && order < 3 {
		return smoother{}, fmt.Errorf("%w: smoothing method6 needs order 3 or more, got %d", ErrOption,
			order)
	}
	if value != nil {
		if !(*value > 0) || math.IsInf(*value, 0) {
			return smoother{}, fmt.Errorf("%w: smoothing value %v (want finite and above 0)", ErrOption,
				*value)
		}
		s.given = *value != s.value
		s.value = *value
	}
	return s, nil
}

// String is the method's part of a signature.
func (s smoother) String() string {
	if s.given {
		return fmt.Sprintf("%s[%g]", s.method, s.value)
	}
	return s.method
}

// needsFive says whether 5-gram counts are needed whatever the order.
func (s smoother) needsFive() bool { return s.method == "method5" || s.method == "method7" }

// lastSentence says whether the method looks at the last sentence of a corpus.
func (s smoother) lastSentence() bool { return s.needsFive() || s.method == "method6" }

// precisions returns the smoothed precisions of orders 1 to order. An order that
// no hypothesis reaches has total 0 under sacrebleu's denominator and gets 0.
func (s smoother) precisions(c *sums, order int) ([]float64, error) {
	p := make([]float64, order)
	zeros := 0 // orders without match so far
	for k := range p {
		m, t := float64(c.match[k]), float64(c.total[k])
		if (s.method == "add-k" || s.method == "method2") && k > 0 {
			v := s.value
			if s.method == "method2" {
				v = 1
			}
			m, t = m+v, t+v
		}
		if t == 0 {
			continue
		}
		p[k] = m / t
		if m > 0 {
			continue
		}
		zeros++
		switch s.method {
		case "floor", "method1":
			p[k] = s.value / t
		case "exp", "method3":
			p[k] = 1 / (math.Pow(2, float64(zeros)) * t)
		case "method4", "method7":
			if c.hyp > 1 {
				p[k] = 1 / (math.Pow(2, float64(zeros)) * s.value / math.Log(float64(c.hyp))) / t
			}
		}
	}
	switch s.method {
	case "method5", "method7":
		s.average(p, c)
	case "method6":
		if err := s.interpolate(p, c); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// average is method 5: each order with its neighbours.
func (s smoother) average(p []float64, c *sums) {
	next := append(slices.Clone(p), float64(c.lastMatch5)/float64(max(1, c.lastLen-4)))
	before := p[0] + 1
	for k := range p {
		p[k] = (before + p[k] + next[k+1]) / 3
		before = p[k]
	}
}

// interpolate is method 6: orders above 2 with a prior from the two below.
func (s smoother) interpolate(p []float64, c *sums) error {
	if p[2] == 0 {
		return fmt.Errorf("method6 needs a matching 3-gram: %w; use another method", errSmoothing)
	}
	for k := 2; k < len(p); k++ {
		prior := 0.0
		if p[k-2] != 0 {
			prior = p[k-1] * p[k-1] / p[k-2]
		}
		l := float64(max(0, c.lastLen-int64(k)))
		p[k] = (float64(c.match[k]) + s.value*prior) / (l + s.value)
	}
	return nil
}
