package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// summary prints, for every group, the differences of self-BLEU from the first sampler, beside
// those of the paper.
func (p *pager) summary(w io.Writer, groups []*measured, names []string) {
	fmt.Fprint(w, "| model | sentences | protocol | equal | seeds |")
	for _, what := range []string{"", ", repeats"} {
		for _, name := range names[1:] {
			fmt.Fprintf(w, " %s%s |", name, what)
		}
	}
	fmt.Fprintf(w, "\n|---|---|---|---|--:|%s\n", strings.Repeat("--:|", 2*len(names)-2))
	fmt.Fprint(w, "| BERT-base, the paper | 20 | ? | steps | ? |")
	for _, name := range names[1:] {
		fmt.Fprintf(w, " %s |", paperDifference(name, names[0], 0))
	}
	fmt.Fprintln(w, strings.Repeat(" |", len(names)-1))
	for _, m := range groups {
		fmt.Fprintf(w, "| %s | %d%s | %s | %s | %d |", m.Model, len(m.sentences), m.blanks(), m.Protocol,
			m.Budget, len(m.seeds))
		for i := range m.sets {
			set := &m.sets[i]
			for _, name := range names[1:] {
				s := slices.Index(m.samplers, name)
				if s < 1 || m.samplers[0] != names[0] {
					fmt.Fprint(w, " – |")
					continue
				}
				d := pair(set.whole[s][0], set.whole[0][0], set.without[s][0], set.without[0][0])
				fmt.Fprintf(w, " %s |", column{decimals: 1}.difference(d))
			}
		}
		fmt.Fprintln(w)
	}
}

// blanks says how the words to fill were chosen, where it was not by hand.
func (k key) blanks() string {
	if k.MaskRate == 0 {
		return ""
	}
	return fmt.Sprintf(", %.0f %% masked", 100*k.MaskRate)
}
