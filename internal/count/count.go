// Package count writes numbers of things in messages and reports: 1 chain, 2 chains.
package count

import (
	"fmt"
	"strconv"
)

// S is the ending of a noun that counts n things: "" for one, "s" for any other number.
func S(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// Of is a number of things whose plural ends in s.
func Of(n int, noun string) string { return fmt.Sprintf("%d %s%s", n, noun, S(n)) }

// Thousands is a number with a comma between its thousands, from 10,000 on.
func Thousands(n int) string {
	if n < 0 {
		return "-" + Thousands(-n)
	}
	s := strconv.Itoa(n)
	if n < 10_000 {
		return s
	}
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// Bytes writes a size for people.
func Bytes(n int64) string {
	switch {
	case n < 1e6:
		return fmt.Sprintf("%.0f kB", max(float64(n)/1e3, 1))
	case n < 1e7:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.0f MB", float64(n)/1e6)
}
