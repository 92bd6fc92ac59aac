package bleu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Bootstrap asks for a percentile bootstrap interval (Efron; Koehn 2004): the
// hypotheses are drawn with replacement, as many as there are, and the score is
// taken again from their statistics. For self-BLEU each sentence keeps its
// statistics against the whole set: drawing a sentence twice must not make it its
// own reference.
type Bootstrap struct {
	// Resamples is the number of draws, 1 to [MaxResamples]; 0 means
	// [DefaultResamples].
	Resamples int
	// Seed makes the draws reproducible.
	Seed uint64
	// Level is the coverage, in (0,1); 0 means [DefaultLevel].
	Level float64
}

// What the zero [Bootstrap] has, which is sacrebleu's.
const (
	DefaultResamples = 1000
	DefaultLevel     = 0.95
)

// MaxResamples bounds Bootstrap.Resamples.
const MaxResamples = 1_000_000

// Interval is the result of a [Bootstrap], in the score's units.
type Interval struct {
	Low, High float64
	// Mean is the mean of the resampled scores.
	Mean      float64
	Level     float64
	Resamples int
	Seed      uint64
}

func (b *Bootstrap) check() (*Bootstrap, error) {
	c := *b
	if c.Resamples == 0 {
		c.Resamples = DefaultResamples
	}
	if c.Level == 0 {
		c.Level = DefaultLevel
	}
	if c.Resamples < 1 || c.Resamples > MaxResamples {
		return nil, fmt.Errorf("%w: %d bootstrap resamples (want 1 to %d)", ErrOption, c.Resamples,
			MaxResamples)
	}
	if !(c.Level > 0 && c.Level < 1) {
		return nil, fmt.Errorf("%w: confidence level %v (want between 0 and 1)", ErrOption, c.Level)
	}
	return &c, nil
}

func (b *Bootstrap) rng() *rand.Rand {
	return rand.New(rand.NewPCG(b.Seed, 0x2545f4914f6cdd1d))
}

// interval sorts the resampled scores and cuts the same number off both ends, as
// sacrebleu does.
func (b *Bootstrap) interval(scores []float64) *Interval {
	slices.Sort(scores)
	cut := int(math.Floor(float64(len(scores)) * (1 - b.Level) / 2 * (1 + 1e-12)))
	cut = min(cut, (len(scores)-1)/2)
	return &Interval{
		Low: scores[cut], High: scores[len(scores)-1-cut], Mean: sum(scores) / float64(len(scores)),
		Level: b.Level, Resamples: b.Resamples, Seed: b.Seed,
	}
}

// interval resamples the rows of st.
func (st *Stats) interval(set *settings) (*Interval, error) {
	b := set.Bootstrap
	rng := b.rng()
	scores := make([]float64, b.Resamples)
	s := newSums(st.Orders)
	for r := range scores {
		s.reset()
		for range st.N {
			s.add(st, rng.IntN(st.N), set.Denominator)
		}
		score, _, err := s.score(set, nil)
		if err != nil {
			return nil, fmt.Errorf("bootstrap resample %d: %w", r+1, err)
		}
		scores[r] = score
	}
	return b.interval(scores), nil
}

// ofMean resamples a mean of values.
func (b *Bootstrap) ofMean(values []float64) *Interval {
	rng := b.rng()
	scores := make([]float64, b.Resamples)
	for r := range scores {
		total := 0.0
		for range values {
			total += values[rng.IntN(len(values))]
		}
		scores[r] = total / float64(len(values))
	}
	return b.interval(scores)
}
