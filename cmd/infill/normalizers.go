package main

import (
	"fmt"
	"math"
	"strings"

	"infill/infill"
)

// normalizersTable has a line for log Z of every combination of lengths.
func normalizersTable(list []infill.Normalizer) string {
	var b strings.Builder
	for i := range list {
		n := &list[i]
		if i == 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "log Z %s ± %s", nats("%.2f", n.LogZ), nats("%.2f", n.Error))
		switch {
		case n.Chains == 0:
			b.WriteString(", computed")
		case !math.IsNaN(n.Above):
			fmt.Fprintf(&b, ", %.2f and %.2f by the %d chains of either way", n.Below, n.Above, n.Chains)
		case !math.IsNaN(n.ESS):
			fmt.Fprintf(&b, ", %.1f effective chains of %d", n.ESS, n.Chains)
		}
		if n.Lengths != nil {
			b.WriteString(", tokens in the blanks:")
			for _, l := range n.Lengths {
				if l == 0 {
					b.WriteString(" listed")
					continue
				}
				fmt.Fprintf(&b, " %d", l)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// nats is a number, or a question mark where it is not known.
func nats(format string, v float64) string {
	if math.IsNaN(v) {
		return "?"
	}
	return fmt.Sprintf(format, v)
}
