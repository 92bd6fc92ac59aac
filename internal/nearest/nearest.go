// Package nearest finds the name that somebody meant, and names values.
package nearest

import (
	"fmt"
	"strings"
)

// Of is the name of a value, and where there is none what it is of, with the number.
func Of[I ~int | ~uint8](names []string, what string, i I) string {
	if i < 0 || int(i) >= len(names) {
		return fmt.Sprintf("%s(%d)", what, int(i))
	}
	return names[i]
}

// maxName bounds what is compared, in characters: nobody means a name with a page.
const maxName = 64

// Name is the known name at the smallest edit distance from what was written, whatever
// the case; "" if none is near enough to be meant. The distance counts insertions,
// deletions, substitutions and exchanges of neighbours (optimal string alignment). Near
// enough is at most half of the characters of the shorter one of the two, and less than
// all of what was written. Of several at the same distance the one wins that begins as what was
// written for longer, since first letters are seldom wrong, and then the first.
func Name(written string, known []string) string {
	in := []rune(strings.ToLower(written))
	if len(in) > maxName {
		return ""
	}
	best, bestD, shared := "", 1<<30, 0
	for _, n := range known {
		name := []rune(strings.ToLower(n))
		d, same := distance(in, name), prefix(in, name)
		if d < bestD || d == bestD && same > shared {
			best, bestD, shared = n, d, same
		}
	}
	limit := max(1, min(len([]rune(best)), len(in))/2)
	if bestD > limit || bestD >= len(in) && len(in) > 1 {
		return ""
	}
	return best
}

// Slip is the known name that differs from what was written by one edit, or two of names with eight
// characters and more, whatever the case; "" if none does. Names have to agree if both have fewer
// than five characters: too many words are one edit from them. The nearest wins, the first of
// several.
func Slip(written string, known []string) string {
	in := []rune(strings.ToLower(written))
	best, least := "", 3
	for _, n := range known {
		name := []rune(strings.ToLower(n))
		limit := 0
		switch {
		case len(in) > maxName:
			continue
		case min(len(in), len(name)) >= 8:
			limit = 2
		case max(len(in), len(name)) >= 5:
			limit = 1
		}
		if d := distance(in, name); d <= limit && d < least {
			best, least = n, d
		}
	}
	return best
}

// prefix is how many characters two names have in common at their beginning.
func prefix(a, b []rune) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

func distance(a, b []rune) int {
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
