package protocols

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"infill/infill"
)

// The headings of the first tables, by what counts.
var summaryHeads = [...]string{
	merged:   "Equal fillings merged:",
	repeated: "One chain, equal fillings counted as often as they came:",
	alike: "One chain, equal fillings merged, and of every sampler as many as of that with the " +
		"fewest, where all have at least two:",
}

// summary prints, for every group, the differences of self-BLEU from the first sampler, beside
// those of the paper. What counts makes a difference for one chain, which may be stuck.
func (p *pager) summary(w io.Writer, groups []*measured, names []string) {
	for i, heading := range summaryHeads {
		if counting(i) != merged {
			groups = slices.DeleteFunc(slices.Clone(groups), func(m *measured) bool {
				return m.Protocol != "C"
			})
		}
		if len(groups) == 0 {
			return
		}
		fmt.Fprintf(w, "%s\n\n| sentences | protocol | equal | seeds | %s |\n", heading,
			strings.Join(names[1:], " | "))
		fmt.Fprintf(w, "|---|---|---|--:|%s\n", strings.Repeat("--:|", len(names)-1))
		fmt.Fprint(w, "| 20, the paper on BERT-base | ? | steps | ? |")
		for _, name := range names[1:] {
			fmt.Fprintf(w, " %s |", paperDifference(name, names[0], 0))
		}
		fmt.Fprintln(w)
		for _, m := range groups {
			m.differences(w, counting(i), names)
		}
		fmt.Fprintln(w)
	}
}

// differences prints the row of a group in a first table.
func (m *measured) differences(w io.Writer, what counting, names []string) {
	fmt.Fprintf(w, "| %d%s | %s | %s | %d |", len(m.sentences), m.about(), m.Protocol, m.Budget,
		len(m.seeds))
	set := &m.sets[what]
	for _, name := range names[1:] {
		s := slices.Index(m.samplers, name)
		if s < 1 || m.samplers[0] != names[0] || math.IsNaN(set.whole[s][0][0]) {
			fmt.Fprint(w, " – |")
			continue
		}
		d := pair(set.whole[s][0], set.whole[0][0], set.without[s][0], set.without[0][0])
		fmt.Fprintf(w, " %s |", column{decimals: 1}.difference(d))
	}
	fmt.Fprintln(w)
}

// about says how the words to fill were chosen, where it was not by hand, what may fill them,
// where it is not words, and the precision of the chains, where it is not fp32.
func (k key) about() string {
	s := ""
	if k.MaskRate > 0 {
		s = fmt.Sprintf(", %.0f %% masked", 100*k.MaskRate)
	}
	if k.Protocol == fromRandom && k.Chains != infill.DefaultChains {
		s += fmt.Sprintf(", %d chains", k.Chains)
	}
	if k.Vocab != "" {
		s += ", vocabulary " + k.Vocab
	}
	if k.Precision != "" {
		s += ", chains in " + k.Precision
	}
	return s
}
