package report

import "math"

// best returns the rows with the best value of column c, by the values as printed.
// There is none where no direction is better, where all values are equal, and where
// the values cannot be compared: their signatures differ, or the interval of the
// best overlaps another one. A number with a warning is never best.
func best(rows []Row, c int) map[int]bool {
	direction := float64(rows[0].Metrics[c].Better)
	var at []int // rows that can be the best
	top := math.Inf(-1)
	for i, r := range rows {
		m := r.Metrics[c]
		if !m.OK() || len(m.Warnings) > 0 {
			continue
		}
		if len(at) > 0 && m.Signature != rows[at[0]].Metrics[c].Signature {
			return nil
		}
		at = append(at, i)
		top = math.Max(top, direction*m.Value)
	}
	if direction == 0 || len(rows) < 2 {
		return nil
	}
	out := map[int]bool{}
	for _, i := range at {
		if m := rows[i].Metrics[c]; m.Text() == decimal(direction*top, m.Decimals) {
			out[i] = true
		}
	}
	if len(out) == len(at) {
		return nil
	}
	for i := range out {
		for _, j := range at {
			if i != j && overlap(rows[i].Metrics[c], rows[j].Metrics[c]) {
				return nil
			}
		}
	}
	return out
}

// surest is the row with the best value of column c, if its difference from every other row is
// without 0. Differences are those of the rows from the second on, from the first. Where those of
// two rows on the same units have intervals apart, that of the rows' own difference is without 0:
// the errors of two numbers together are at least that of their difference.
func surest(rows, differences []Row, c int) map[int]bool {
	m := rows[0].Metrics[c]
	if m.Better == 0 || len(rows) < 2 || len(differences) != len(rows)-1 {
		return nil
	}
	from := []Metric{{}} // of the first, from itself
	top := 0
	for i, d := range differences {
		x, ok := d.Get(m.Key)
		if !ok || !x.HasInterval() || len(x.Warnings) > 0 || i > 0 && x.units != from[1].units {
			return nil
		}
		from = append(from, x)
		if direction := float64(m.Better); direction*x.Value > direction*from[top].Value {
			top = i + 1
		}
	}
	for i := range from {
		less := float64(m.Better) * (rows[top].Metrics[c].Value - rows[i].Metrics[c].Value)
		if i != top && (overlap(from[i], from[top]) || !(less > 0)) {
			return nil
		}
	}
	return map[int]bool{top: true}
}

// overlap reports whether two metrics have intervals that share a value.
func overlap(a, b Metric) bool {
	return a.HasInterval() && b.HasInterval() && a.Low <= b.High && b.Low <= a.High
}
