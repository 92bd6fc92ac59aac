package text

import "strings"

// EditDistance is the Levenshtein distance between two texts: the least number of characters
// (Unicode code points) to be inserted, deleted or replaced. Case does not count. A distance of
// most or more is returned as most.
func EditDistance(a, b string, most int) int {
	x, y := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	most = min(most, max(len(x), len(y))+1)
	if diff := len(x) - len(y); diff >= most || -diff >= most {
		return most
	}
	// A way of fewer than most changes stays within a band of that width around the diagonal
	// (Ukkonen, Information and Control 64, 1985). Cells outside count as most.
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = min(j, most)
	}
	for i, r := range x {
		from, to := max(0, i+1-most), min(len(y), i+1+most)
		diagonal, least := row[from], most
		if from == 0 {
			row[0] = min(i+1, most)
			least = row[0]
		} else {
			row[from] = most
		}
		for j := from; j < to; j++ {
			above := row[j+1]
			cost := diagonal
			if r != y[j] {
				cost = 1 + min(diagonal, row[j], above)
			}
			diagonal, row[j+1] = above, min(cost, most)
			least = min(least, row[j+1])
		}
		if least >= most {
			return most
		}
	}
	return row[len(y)]
}
