package bayesnet

import (
	"fmt"
	"slices"
)

// folded is a data set in a form that is quick to go through whole. Columns with few values are
// put together into groups, such as age and education, whose combinations are the group's levels.
// A unit's input is then a sum of few table entries. Rows with equal inputs are one.
type folded struct {
	groups []group
	dense  []dense
	n, sum []float64 // of each row: the number of rows that it stands for, and the sum of their y
	square float64   // Σ y² over all
	rows   int       // that it stands for
}

// A group has one of its levels in each row.
type group struct {
	of     []uint16
	levels []row // the inputs of each level
}

// A dense column is an input with too many values for a table.
type dense struct {
	input int
	value []float64
}

const mostLevels = 2048 // of a group

// A cell is an entry that is not 0, and {-1, 0} where a row has none in a column.
type cell struct {
	input int
	value float64
}

func (c cell) row() row {
	if c.input < 0 {
		return row{}
	}
	return row{[]int{c.input}, []float64{c.value}}
}

// fold folds all rows of in.
func fold(in *inputs) *folded {
	f := &folded{rows: len(in.rows)}
	columns := len(in.columns)
	numbers, cells := make([]map[cell]int, columns), make([][]cell, columns) // levels of each column
	levelsOf := make([][]int, len(in.rows))                                  // of each row, by column
	for c := range numbers {
		numbers[c] = map[cell]int{}
	}
	for r, v := range in.rows {
		levelsOf[r] = make([]int, columns)
		j := 0
		for c := range columns {
			x := cell{-1, 0}
			if j < len(v.index) && (c+1 == columns || v.index[j] < in.columns[c+1]) {
				x = cell{v.index[j], v.value[j]}
				j++
			}
			levelsOf[r][c] = numberOf(numbers[c], x, func() { cells[c] = append(cells[c], x) })
		}
	}
	merged := map[string]int{}
	var first []int // row of each of the rows that stay
	for r, levels := range levelsOf {
		at := numberOf(merged, fmt.Sprint(levels), func() {
			first, f.n, f.sum = append(first, r), append(f.n, 0), append(f.sum, 0)
		})
		f.n[at]++
		f.sum[at] += in.y[r]
		f.square += in.y[r] * in.y[r]
	}
	for c := range columns {
		if len(cells[c]) > mostLevels {
			d := dense{in.columns[c], make([]float64, len(first))}
			for at, r := range first {
				d.value[at] = cells[c][levelsOf[r][c]].value
			}
			f.dense = append(f.dense, d)
			continue
		}
		g := group{of: make([]uint16, len(first))}
		for _, x := range cells[c] {
			g.levels = append(g.levels, x.row())
		}
		for at, r := range first {
			g.of[at] = uint16(levelsOf[r][c])
		}
		if last := len(f.groups) - 1; last >= 0 {
			if both, ok := f.groups[last].and(g); ok {
				f.groups[last] = both
				continue
			}
		}
		f.groups = append(f.groups, g)
	}
	return f
}

// numberOf is the number of a key, in the order in which keys come. add is called for a new one.
func numberOf[K comparable](numbers map[K]int, key K, add func()) int {
	n, ok := numbers[key]
	if !ok {
		n = len(numbers)
		numbers[key] = n
		add()
	}
	return n
}

// and is the group of two, unless it would have too many levels.
func (g group) and(h group) (group, bool) {
	both := group{of: make([]uint16, len(g.of))}
	numbers := map[[2]uint16]int{}
	for r := range g.of {
		pair := [2]uint16{g.of[r], h.of[r]}
		at, ok := numbers[pair]
		if !ok {
			if at = len(numbers); at == mostLevels {
				return group{}, false
			}
			numbers[pair] = at
			a, b := g.levels[pair[0]], h.levels[pair[1]]
			both.levels = append(both.levels, row{slices.Concat(a.index, b.index),
				slices.Concat(a.value, b.value)})
		}
		both.of[r] = uint16(at)
	}
	return both, true
}
