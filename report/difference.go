package report

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"infill/internal/fanout"
	"infill/internal/student"
	"infill/metrics/bleu"
)

// A table of rows that can be paired: samplers on the same sentences, or files made from the same
// texts.
type pairable struct {
	*plan
	rows  int
	name  func(row int) string
	has   func(row, unit int) bool // a sentence made from the unit
	units int                      // sources of sentences
	// of measures a row on some of the units. Its columns do not depend on them.
	of func(p *plan, row int, units []int) (Row, error)
}

// differences are what the metrics of every row but the first have over those of the first, on the
// units that both have. There are none where no two rows have two in common.
//
// Most of what a metric varies by is the choice of the units, which rows share. The interval is a
// jackknife of the difference over the units, in at most [bleu.MaxBlocks] blocks, so that it is not
// widened by that.
func (t *pairable) differences() ([]Row, error) {
	if t.bleu.Confidence == nil || t.rows < 2 {
		return nil, nil
	}
	single := *t.plan // without the intervals of each row
	single.bleu.Confidence = nil
	t.plan = &single
	var out []Row
	some := false
	for row := 1; row < t.rows; row++ {
		var common []int
		for u := range t.units {
			if t.has(0, u) && t.has(row, u) {
				common = append(common, u)
			}
		}
		d, err := t.pair(row, common)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.name(row), err)
		}
		out = append(out, d)
		some = some || len(common) > 1
	}
	if !some {
		return nil, nil
	}
	return out, nil
}

// pair is the difference of a row from the first, on some units.
func (t *pairable) pair(row int, units []int) (Row, error) {
	both := func(units []int) (mine, first Row, err error) {
		if mine, err = t.of(t.plan, row, units); err == nil {
			first, err = t.of(t.plan, 0, units)
		}
		return mine, first, err
	}
	mine, first, err := both(units)
	if err != nil {
		return Row{}, err
	}
	n := min(len(units), bleu.MaxBlocks)
	without := make([][]float64, len(mine.Metrics)) // a block, by metric
	for j := range without {
		without[j] = make([]float64, n)
	}
	err = fanout.Each(runtime.GOMAXPROCS(0), n, func(k int) error {
		low, high := k*len(units)/n, (k+1)*len(units)/n
		a, b, err := both(slices.Concat(units[:low], units[high:]))
		if err != nil {
			return err
		}
		for j := range a.Metrics {
			without[j][k] = a.Metrics[j].Value - b.Metrics[j].Value
		}
		return nil
	})
	if err != nil {
		return Row{}, err
	}
	out := Row{Name: t.name(row)}
	for j, m := range mine.Metrics {
		if t.SelfBLEU == string(bleu.FirstN) && m.Key == keySelfBLEU {
			// Others take the place of those that are left out, so that nothing is learnt of them.
			continue
		}
		of := first.Metrics[j]
		m.less, m.unlike, m.Detail, m.Warnings = true, m.Signature != of.Signature, "", nil
		m.Value -= of.Value
		if half := student.Jackknife(t.level(), without[j]); finite(half) && m.OK() {
			m.Low, m.High = m.Value-half, m.Value+half
		}
		if m.Signature != "" {
			m.Signature = fmt.Sprintf("%s|less:%s|jk:%d|units:%d|ci:%g|v:1",
				strings.TrimSuffix(m.Signature, "|v:1"), t.name(0), n, len(units), t.level())
		}
		out.Metrics = append(out.Metrics, m)
	}
	return out, nil
}

// level is the coverage of the intervals.
func (p *plan) level() float64 { return cmp.Or(p.Level, bleu.DefaultLevel) }

// among are the units as a set.
func among(units []int) map[int]bool {
	out := make(map[int]bool, len(units))
	for _, u := range units {
		out[u] = true
	}
	return out
}

// differenceNote says what the differences of rows are from.
func differenceNote(rows []Row, level float64) string {
	return fmt.Sprintf("difference from %s on the same sentences, ± half of an interval of level %g",
		rows[0].Name, level)
}

// differenceTitle heads differences from the first of the rows.
func differenceTitle(rows []Row) string { return "Differences from " + rows[0].Name }

// differenceCaption says what they are, and which are marked.
func differenceCaption(rows []Row, level float64) string {
	return "D" + differenceNote(rows, level)[1:] + ". Bold: the interval is without 0, and the " +
		"numbers can be compared."
}

// apart says whether a difference of what can be compared has an interval without 0.
func (m Metric) apart() bool {
	return m.less && !m.unlike && m.HasInterval() && (m.Low > 0 || m.High < 0)
}
