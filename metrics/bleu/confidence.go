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

// A bounding finds the interval that settings ask for, of a score.
type bounding func(set *settings, score float64) (*Bounds, error)

// members are the hypotheses of each of the units of n, in the order in which units first come.
// The error is ErrFewUnits for fewer than two.
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
	if len(out) < 2 {
		return nil, fmt.Errorf("%w: all %d are of one", ErrFewUnits, n)
	}
	return out, nil
}

// bootstrap takes a score again of units that are drawn with replacement, as many as there are. It
// sorts the scores and cuts the same number off both ends, as sacrebleu does.
func (c *Confidence) bootstrap(units int, score func(drawn []int) (float64, error)) (*Bounds,
	error) {
	rng := rand.New(rand.NewPCG(c.Seed, 0x2545f4914f6cdd1d))
	scores, drawn := make([]float64, c.Resamples), make([]int, units)
	for r := range scores {
		for k := range drawn {
			drawn[k] = rng.IntN(units)
		}
		var err error
		if scores[r], err = score(drawn); err != nil {
			return nil, fmt.Errorf("bootstrap resample %d: %w", r+1, err)
		}
	}
	slices.Sort(scores)
	cut := int(math.Floor(float64(len(scores)) * (1 - c.Level) / 2 * (1 + 1e-12)))
	cut = min(cut, (len(scores)-1)/2)
	return &Bounds{
		Low: scores[cut], High: scores[len(scores)-1-cut], Mean: sum(scores) / float64(len(scores)),
		Level: c.Level, Units: units, Resamples: c.Resamples, Seed: c.Seed,
	}, nil
}

// jackknife has self score the sentences without blocks of their units in turn. The interval is
// around the score, and within [0,1] but for the score itself, which some smoothings let exceed 1.
func jackknife(of *corpus.Corpus, sig signature,
	self func(*corpus.Corpus, *settings, signature) (*Result, error)) bounding {
	return func(set *settings, score float64) (*Bounds, error) {
		units, err := set.Confidence.members(of.Len())
		if err != nil {
			return nil, err
		}
		plain := *set
		plain.Confidence = nil
		without, err := interval.Without(units, MaxBlocks, func(rest [][]int) (float64, error) {
			left := slices.Sorted(slices.Values(slices.Concat(rest...)))
			if len(left) < 2 {
				return 0, fmt.Errorf("%w: without one of them a single sentence is left", ErrFewUnits)
			}
			r, err := self(of.Select(left), &plain, sig)
			if err != nil {
				return 0, err
			}
			return r.Score, nil
		})
		if err != nil {
			return nil, err
		}
		level := set.Confidence.Level
		half := interval.Jackknife(level, without)
		return &Bounds{Low: max(0, score-half), High: min(max(1, score), score+half),
			Mean: sum(without) / float64(len(without)), Level: level, Units: len(units),
			Blocks: len(without)}, nil
	}
}
