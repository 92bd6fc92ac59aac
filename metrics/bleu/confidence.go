package bleu

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"infill/metrics/corpus"
	"infill/metrics/interval"
)

// Confidence asks for an interval of a score.
//
// Against references, and for self-BLEU's "group" variant, it is a percentile bootstrap (Efron;
// Koehn 2004): the units are drawn with replacement, as many as there are, and the score is taken
// again from their statistics.
//
// The sentences of other self-BLEU are each other's references, so that a unit drawn twice would be
// its own, and one that keeps its statistics would leave out what it does for the others. Its
// interval is a jackknife (Tukey 1958): the score is taken again of the sentences without one block
// of units at a time, and the interval is Student's around the score.
//
// An interval is of the units as a sample of all sentences, not of the chains that made them.
type Confidence struct {
	// Units gives the unit of each hypothesis, which is drawn or left out whole: fillings of one
	// sentence resemble each other, and taking them for independent makes an interval too narrow.
	// Nil makes each hypothesis a unit.
	Units []int
	// Resamples is the number of draws of a bootstrap, 1 to [MaxResamples]; 0 means
	// [DefaultResamples].
	Resamples int
	// Seed makes the draws reproducible.
	Seed uint64
	// Level is the coverage, in (0,1); 0 means [DefaultLevel].
	Level float64
}

// What the zero [Confidence] has, which is sacrebleu's.
const (
	DefaultResamples = 1000
	DefaultLevel     = 0.95
)

// MaxResamples bounds Confidence.Resamples.
const MaxResamples = 1_000_000

// MaxBlocks is the most parts that a jackknife leaves out in turn. More units are put together in
// blocks of neighbours, which bounds the time, and allows for a text whose neighbours are alike.
const MaxBlocks = 50

// Bounds is the result of a [Confidence], in the score's units.
type Bounds struct {
	Low, High, Level float64
	// Units counts the units, and Blocks the parts left out in turn, 0 for a bootstrap.
	Units, Blocks int
	// Resamples and Seed belong to a bootstrap and are 0 for a jackknife. Mean is the mean of the
	// resampled scores, or of those without a block.
	Resamples int
	Seed      uint64
	Mean      float64
}

// ErrFewUnits is the warning of a result without its interval: all hypotheses are of one unit, or
// too few are left without it.
var ErrFewUnits = errors.New("too few sources for an interval")

func (c *Confidence) check() (*Confidence, error) {
	d := *c
	d.Resamples, d.Level = cmp.Or(d.Resamples, DefaultResamples), cmp.Or(d.Level, DefaultLevel)
	if d.Resamples < 1 || d.Resamples > MaxResamples {
		return nil, fmt.Errorf("%w: %d bootstrap resamples (want 1 to %d)", ErrOption, d.Resamples,
			MaxResamples)
	}
	if !(d.Level > 0 && d.Level < 1) {
		return nil, fmt.Errorf("%w: confidence level %v (want between 0 and 1)", ErrOption, d.Level)
	}
	return &d, nil
}

// members are the hypotheses of each of the units of n, in the order in which units first come.
func (c *Confidence) members(n int) ([][]int, error) {
	if c.Units != nil && len(c.Units) != n {
		return nil, fmt.Errorf("%w: %d sentences, %d units", ErrUnequal, n, len(c.Units))
	}
	out := make([][]int, 0, n)
	place := map[int]int{}
	for i := range n {
		if c.Units == nil {
			out = append(out, []int{i})
			continue
		}
		k, known := place[c.Units[i]]
		if !known {
			k = len(out)
			place[c.Units[i]] = k
			out = append(out, nil)
		}
		out[k] = append(out[k], i)
	}
	return out, nil
}

func (c *Confidence) rng() *rand.Rand { return rand.New(rand.NewPCG(c.Seed, 0x2545f4914f6cdd1d)) }

// percentile sorts the resampled scores and cuts the same number off both ends, as sacrebleu does.
func (c *Confidence) percentile(scores []float64, units int) *Bounds {
	slices.Sort(scores)
	cut := int(math.Floor(float64(len(scores)) * (1 - c.Level) / 2 * (1 + 1e-12)))
	cut = min(cut, (len(scores)-1)/2)
	return &Bounds{
		Low: scores[cut], High: scores[len(scores)-1-cut], Mean: sum(scores) / float64(len(scores)),
		Level: c.Level, Units: units, Resamples: c.Resamples, Seed: c.Seed,
	}
}

// ofMean resamples a mean of values, each of a unit.
func (c *Confidence) ofMean(values []float64) (*Bounds, error) {
	if len(values) < 2 {
		return nil, fmt.Errorf("%w: all are of one", ErrFewUnits)
	}
	rng := c.rng()
	scores := make([]float64, c.Resamples)
	for r := range scores {
		total := 0.0
		for range values {
			total += values[rng.IntN(len(values))]
		}
		scores[r] = total / float64(len(values))
	}
	return c.percentile(scores, len(values)), nil
}

// jackknife leaves out blocks of the units of c in turn. The interval is around the score, and
// within [0,1] but for the score itself, which some smoothings let exceed 1.
func (c *Confidence) jackknife(of *corpus.Corpus, score float64,
	measure func(*corpus.Corpus) (float64, error)) (*Bounds, error) {
	units, err := c.members(of.Len())
	if err != nil {
		return nil, err
	}
	if len(units) < 2 {
		return nil, fmt.Errorf("%w: all %d are of one", ErrFewUnits, of.Len())
	}
	without, err := interval.Without(units, MaxBlocks, func(rest [][]int) (float64, error) {
		left := slices.Sorted(slices.Values(slices.Concat(rest...)))
		if len(left) < 2 {
			return 0, fmt.Errorf("%w: without one of them a single sentence is left", ErrFewUnits)
		}
		return measure(of.Select(left))
	})
	if err != nil {
		return nil, err
	}
	half := interval.Jackknife(c.Level, without)
	return &Bounds{Low: max(0, score-half), High: min(max(1, score), score+half),
		Mean: sum(without) / float64(len(without)), Level: c.Level, Units: len(units),
		Blocks: len(without)}, nil
}
