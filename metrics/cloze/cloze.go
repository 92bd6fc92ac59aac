// Package cloze counts the words that come back where words of a text were blanked out and filled
// again.
//
// A benchmark fills the same lines in several ways. [Count] compares the fillings of a line with
// the words that stood there. [Share] makes shares of the counts of all lines, with intervals, and
// [Less] the differences of two ways on the same lines.
package cloze

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"infill/metrics/interval"
)

// A measure is a share that is counted.
type measure int

const (
	// words is the share of the blanks whose word stands there in the first filling.
	words measure = iota
	// wordsAmong is the share of the blanks whose word stands there in one of the fillings that count.
	// It need not be the same filling for all blanks of a line.
	wordsAmong
	// lines is the share of the lines whose first filling has all words.
	lines
	// linesAmong is the share of the lines that have a filling with all words among those that count.
	linesAmong

	measures // is their number
)

// Counts are what came back of one line, or of several.
type Counts struct {
	Words int               // blanks
	Lines int               // lines that have some
	Back  [measures]float64 // blanks or lines that came back, by measure as in Figures
}

// Count compares the fillings of a line, the best first, with the words that were blanked out. The
// first few count, among of them at most. A filling is one word for every blank. same reports
// whether a word that was filled in is the one that stood there, nil compares their bytes. A line
// without fillings has nothing back. The error is a filling with another number of words.
func Count(original []string, fillings [][]string, among int,
	same func(filled, original string) bool) (Counts, error) {
	if same == nil {
		same = func(filled, original string) bool { return filled == original }
	}
	c := Counts{Words: len(original)}
	if len(original) == 0 {
		return c, nil
	}
	c.Lines = 1
	back := make([]bool, len(original))
	for k, f := range fillings[:min(max(among, 0), len(fillings))] {
		if len(f) != len(original) {
			return Counts{}, fmt.Errorf("filling %d has %d words for %d blanks", k+1, len(f), len(original))
		}
		right := 0
		for i, w := range f {
			if same(w, original[i]) {
				right++
				back[i] = true
			}
		}
		whole := 0.
		if right == len(original) {
			whole, c.Back[linesAmong] = 1, 1
		}
		if k == 0 {
			c.Back[words], c.Back[lines] = float64(right), whole
		}
	}
	for _, b := range back {
		if b {
			c.Back[wordsAmong]++
		}
	}
	return c, nil
}

// Measures of a line with one gap of several words.
const (
	gapFirst  measure = iota // whether the first filling is what stood there
	gapAmong                 // whether one of those that count is
	gapLength                // whether the first has as many words as stood there
	gapWords                 // F1 of the words of the first, in any order
)

// CountGap is Count of a line with one gap, which may have other numbers of words than its
// fillings. The measures are whether the first filling is what stood there, whether one of those
// that count is, whether the first has as many words, and F1 of its words: twice the words that it
// has in common with what stood there, wherever they stand, by the words of both.
func CountGap(original string, fillings []string, among int,
	same func(filled, original string) bool) Counts {
	c := Counts{Words: 1, Lines: 1}
	want := strings.Fields(original)
	for k, f := range fillings[:min(max(among, 0), len(fillings))] {
		got := strings.Fields(f)
		whole := slices.EqualFunc(got, want, same)
		if whole {
			c.Back[gapAmong] = 1
		}
		if k > 0 {
			continue
		}
		if whole {
			c.Back[gapFirst] = 1
		}
		if len(got) == len(want) {
			c.Back[gapLength] = 1
		}
		left, common := slices.Clone(want), 0
		for _, w := range got {
			if i := slices.IndexFunc(left, func(o string) bool { return same(w, o) }); i >= 0 {
				left, common = slices.Delete(left, i, i+1), common+1
			}
		}
		if all := len(got) + len(want); all > 0 {
			c.Back[gapWords] = 2 * float64(common) / float64(all)
		}
	}
	return c
}

// of is the number of things that a measure is a share of.
func (c *Counts) of(m measure) int {
	if m == words || m == wordsAmong {
		return c.Words
	}
	return c.Lines
}

// A figure is a share, 0 to 1, or a difference of shares, with its interval. Without an interval
// Low and High are NaN: of fewer than two lines, and where no line differs from another. Without
// blanks all are NaN.
type figure struct{ Value, Low, High float64 }

// Figures holds a figure for each measure: the blanks whose word came back in the first filling,
// those with the word in one of the fillings that count, and the same for lines with all words.
// For gaps they are the measures of CountGap.
type Figures [measures]figure

// ErrUnpaired is returned for differences between counts of other lines.
var ErrUnpaired = errors.New("the lines are not the same")

// Share is the figures of lines, by their counts. Level is the coverage of the intervals, in (0,1).
// They are over the lines: where all have equally many blanks, Student's interval of the mean of
// their shares, and in general the jackknife of the share of all blanks. They end at 0 and 1.
func Share(lines []Counts, level float64) Figures {
	return figures(level, 0, func(m measure) []float64 { return without(lines, m) })
}

// Less is the figures of some lines less those of the same lines filled in another way, with
// intervals of the paired difference. The error is ErrUnpaired for lines with other blanks.
func Less(lines, other []Counts, level float64) (Figures, error) {
	if len(lines) != len(other) {
		return Figures{}, fmt.Errorf("%w: there are %d and %d", ErrUnpaired, len(lines), len(other))
	}
	for k := range lines {
		if lines[k].Words != other[k].Words {
			return Figures{}, fmt.Errorf("%w: number %d has %d and %d blanks", ErrUnpaired, k+1,
				lines[k].Words, other[k].Words)
		}
	}
	return figures(level, -1, func(m measure) []float64 {
		out, minus := without(lines, m), without(other, m)
		for k := range out {
			out[k] -= minus[k]
		}
		return out
	}), nil
}

// without has a measure of all lines, and then without each of them in turn.
func without(lines []Counts, m measure) []float64 {
	back, of := 0., 0
	for k := range lines {
		back += lines[k].Back[m]
		of += lines[k].of(m)
	}
	out := []float64{back / float64(of)}
	for k := range lines {
		out = append(out, (back-lines[k].Back[m])/float64(of-lines[k].of(m)))
	}
	return out
}

// figures makes figures of what a function says of all lines, and without each of them. No value
// can be below least or above 1, and an interval ends there.
func figures(level, least float64, of func(m measure) []float64) Figures {
	var out Figures
	for m := range measures {
		all := of(m)
		value, parts := all[0], all[1:]
		out[m] = figure{value, math.NaN(), math.NaN()}
		alike := len(slices.Compact(slices.Clone(parts))) < 2
		if half := interval.Jackknife(level, parts); !alike && !math.IsNaN(half) {
			out[m].Low, out[m].High = max(least, value-half), min(1, value+half)
		}
	}
	return out
}
