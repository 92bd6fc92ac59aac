package samplers

import "strings"

// unknown makes an *UnknownError with the nearest known name.
func unknown(what, name string, known []string) error {
	return &UnknownError{What: what, Name: name, Suggestion: nearest(name, known), Known: known}
}

func joinNames(names []string) string { return strings.Join(names, ", ") }

// nearest is the known name at the smallest edit distance from name, "" when
// even that would replace half of it.
func nearest(name string, known []string) string {
	best, bestD := "", 1<<30
	in := []rune(strings.ToLower(name))
	if len(in) > 64 {
		return ""
	}
	for _, n := range known {
		if d := editDistance(in, []rune(n)); d < bestD {
			best, bestD = n, d
		}
	}
	if limit := max(1, (len([]rune(best))+1)/2); bestD > limit || bestD >= len(in) && len(in) > 1 {
		return ""
	}
	return best
}

// editDistance counts insertions, deletions, substitutions and exchanges of
// neighbours (optimal string alignment).
func editDistance(a, b []rune) int {
	prev2 := make([]int, len(b)+1)
	prev := make([]int, len(b)+1)
	cur := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
