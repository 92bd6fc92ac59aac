package show

import "infill/report/measure"

// surest is the row with the best value of column c, if the interval of its difference from every
// other row is without 0. differences compares the rows from the second on with the first. Where
// two rows on the same units have differences with intervals apart, that of their own difference is
// without 0: the errors of two numbers together are at least the difference's.
func surest(rows, differences []measure.Row, c int) map[int]bool {
	m := rows[0].Metrics[c]
	if m.Better == 0 || len(rows) < 2 || len(differences) != len(rows)-1 {
		return nil
	}
	from := []measure.Metric{{}} // of the first, from itself
	top := 0
	for i, d := range differences {
		x, ok := d.Get(m.Key)
		if !ok || !x.HasInterval() || len(x.Warnings) > 0 || i > 0 && x.Units != from[1].Units {
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
func overlap(a, b measure.Metric) bool {
	return a.HasInterval() && b.HasInterval() && a.Low <= b.High && b.Low <= a.High
}
