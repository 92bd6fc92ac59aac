package measure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"infill/metrics/bleu"
	"infill/metrics/interval"
)

// A pairable table has rows on the same units: samplers on sentences, or files on the texts that
// their records were made from.
type pairable struct {
	names   []string // of the rows
	units   int
	has     func(row, unit int) bool // a sentence made from the unit
	without string                   // what it means that a row has no unit
	// of measures a row on some of the units. Its columns do not depend on them.
	of func(p *plan, row int, units []int) (Row, error)
}

// differences are what the metrics of every row but the first have over those of the first, on the
// units that both have. A row that has less than two of these is left out, and a note says so.
//
// Most of what a metric varies by is the choice of the units, which rows share. The interval is a
// jackknife of the difference over the units, in at most [bleu.MaxBlocks] blocks, so that it is not
// widened by that.
func (p *plan) differences(t *pairable) (rows []Row, notes []string, err error) {
	if p.BLEU.Confidence == nil {
		return nil, nil, nil
	}
	single := *p // without the intervals of each row
	single.BLEU.Confidence = nil
	var before []int // the units of the row before
	var first []Row  // the first row on them
	for row := 1; row < len(t.names); row++ {
		var common []int
		for u := range t.units {
			if t.has(0, u) && t.has(row, u) {
				common = append(common, u)
			}
		}
		if len(common) < 2 {
			notes = append(notes, t.unpaired(row, len(common)))
			continue
		}
		if first == nil || !slices.Equal(common, before) {
			if first, err = single.parts(t, 0, common); err != nil {
				return nil, nil, err
			}
			before = common
		}
		mine, err := single.parts(t, row, common)
		if err != nil {
			return nil, nil, err
		}
		rows = append(rows, p.less(t, mine, first, len(common)))
	}
	return rows, notes, nil
}

// unpaired says why a row has no differences.
func (t *pairable) unpaired(row, common int) string {
	for _, r := range []int{0, row} {
		some := false
		for u := range t.units {
			some = some || t.has(r, u)
		}
		if !some {
			return fmt.Sprintf("no differences of %s: %s %s", t.names[row], t.names[r], t.without)
		}
	}
	return fmt.Sprintf("no differences of %s: it has %d source%s of sentences in common with %s, and "+
		"two are needed", t.names[row], common, either(common, "", "s"), t.names[0])
}

// parts are a row on some units, and on them without each block.
func (p *plan) parts(t *pairable, row int, units []int) ([]Row, error) {
	of := func(part []int) (Row, error) { return t.of(p, row, part) }
	whole, err := of(units)
	out, err2 := interval.Without(units, bleu.MaxBlocks, of)
	if err = cmp.Or(err, err2); err != nil {
		return nil, fmt.Errorf("%s: %w", t.names[row], err)
	}
	return append([]Row{whole}, out...), nil
}

// less is the difference of a row from the first, from the parts of both.
func (p *plan) less(t *pairable, mine, first []Row, units int) Row {
	out := Row{Name: mine[0].Name}
	for j, m := range mine[0].Metrics {
		if p.BLEU.Variant == "first" && m.Key == keySelfBLEU {
			// Others take the place of those that are left out, so that nothing is learnt of them.
			continue
		}
		of := first[0].Metrics[j]
		m.Less, m.Detail = true, ""
		m.Value -= of.Value
		m.Warnings = slices.Clone(m.Warnings)
		for _, w := range of.Warnings {
			if !slices.Contains(m.Warnings, w) {
				m.Warnings = append(m.Warnings, w)
			}
		}
		without := make([]float64, 0, len(mine))
		for k := range mine[1:] {
			without = append(without, mine[k+1].Metrics[j].Value-first[k+1].Metrics[j].Value)
		}
		switch half := interval.Jackknife(p.level(), without); {
		case finite(half) && m.OK():
			m.Low, m.High = m.Value-half, m.Value+half
		case m.OK():
			m.warn(fmt.Errorf("%w: without one of them there is no number", bleu.ErrFewUnits))
		}
		if m.Signature != of.Signature {
			m.Warnings = append(m.Warnings, "the numbers of sentences differ, so that what depends on "+
				"them does not compare")
			if of.Join(m.Signature, "N") {
				m.Signature = of.Signature
			}
		}
		if m.Signature != "" {
			m.Signature = fmt.Sprintf("%s|less:%s|jk:%d|units:%d|ci:%g|v:1",
				strings.TrimSuffix(m.Signature, "|v:1"), strings.ReplaceAll(t.names[0], "|", "/"),
				len(without), units, p.level())
		}
		m.Units = units
		out.Metrics = append(out.Metrics, m)
	}
	return out
}

// level is the coverage of the intervals that were asked for.
func (p *plan) level() float64 { return cmp.Or(p.BLEU.Confidence.Level, bleu.DefaultLevel) }

// among are the groups as a set.
func among(groups []int) map[int]bool {
	out := make(map[int]bool, len(groups))
	for _, g := range groups {
		out[g] = true
	}
	return out
}
