package protocols

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"infill/infill"
)

// bySteps takes apart the groups that are the same chains after several steps, each in the order of
// its steps, and the other ones.
func bySteps(groups []*measured) (series [][]*measured, others []*measured) {
	longest := map[key][]*measured{} // by group of the last step
	for _, m := range groups {
		if m.Of > 0 {
			k := m.key
			k.Steps, k.Of = m.Of, 0
			longest[k] = append(longest[k], m)
		}
	}
	for _, m := range groups {
		switch early := longest[m.key]; {
		case early != nil:
			slices.SortFunc(early, func(a, b *measured) int { return cmp.Compare(a.Steps, b.Steps) })
			for _, e := range early {
				m.early = append(m.early, e.Steps)
			}
			series = append(series, append(early, m))
		case m.Of == 0:
			others = append(others, m)
		}
	}
	return series, others
}

// last are the groups of the last step of each series.
func last(series [][]*measured) (out []*measured) {
	for _, s := range series {
		out = append(out, s[len(s)-1])
	}
	return out
}

// series prints what becomes of the differences as chains go on, and those at equal scores.
func (p *pager) series(w io.Writer, all [][]*measured) {
	for _, s := range all {
		end := s[len(s)-1]
		others := end.samplers[1:]
		fmt.Fprintf(w, "The same chains after more steps, protocol %s%s, sentences: %d, seeds: %d. U is "+
			"the mean over all chains, in nats a blank:\n\n", end.Protocol, end.about(),
			len(end.sentences), len(end.seeds))
		fmt.Fprintf(w, "| steps | U of %s | R-hat of U | self-BLEU less that of %s: %s |\n",
			strings.Join(end.samplers, ", "), end.samplers[0], strings.Join(others, " | "))
		fmt.Fprintf(w, "|--:|---|---|%s\n", strings.Repeat("--:|", len(others)))
		for _, m := range s {
			fmt.Fprintf(w, "| %d | %s | %s |", m.Steps, m.levels("nats a blank, all"),
				m.levels("R-hat of U"))
			set := &m.sets[merged]
			at := set.index("self-BLEU")
			for i := range others {
				d := pair(set.whole[i+1][at], set.whole[0][at], set.without[i+1][at], set.without[0][at])
				fmt.Fprintf(w, " %s |", column{decimals: 1}.difference(d))
			}
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "| equal U | %s | |", s[reference(s)].levels("nats a blank, all", 0))
		for i := range others {
			fmt.Fprintf(w, " %s |", equalScore(s, i+1))
		}
		fmt.Fprint(w, "\n\n")
	}
}

// index is the place of a column.
func (n *numbers) index(title string) int {
	return slices.IndexFunc(n.used, func(c column) bool { return c.title == title })
}

// levels are the means of a column over the seeds, of the samplers or of those at the places.
func (m *measured) levels(title string, at ...int) string {
	set := &m.sets[merged]
	i := set.index(title)
	var out []string
	for s := range m.samplers {
		if len(at) > 0 && !slices.Contains(at, s) {
			continue
		}
		v, _ := spread(set.whole[s][i])
		out = append(out, fmt.Sprintf("%.2f", v))
	}
	return strings.Join(out, ", ")
}

// reference is the place in a series of the paper's number of steps, or 0.
func reference(s []*measured) int {
	published := func(m *measured) bool { return m.Steps == infill.PublishedSteps }
	return max(0, slices.IndexFunc(s, published))
}

// equalScore is the difference of self-BLEU between the first sampler after the paper's steps and
// another one where its mean U is that of the first. Between two steps of the series it is
// interpolated, on all sentences and without each.
func equalScore(s []*measured, sampler int) string {
	at := reference(s)
	first := &s[at].sets[merged]
	bleu, score := first.index("self-BLEU"), first.index("nats a blank, all")
	mean := func(v []float64) float64 { m, _ := spread(v); return m }
	lookup := func(want float64, value func(m *measured, column int) float64) float64 {
		for i := 1; i < len(s); i++ {
			a, b := value(s[i-1], score), value(s[i], score)
			if a <= want && want <= b && a < b {
				x, y := value(s[i-1], bleu), value(s[i], bleu)
				return x + (y-x)*(want-a)/(b-a)
			}
		}
		return math.NaN()
	}
	whole := lookup(mean(first.whole[0][score]), func(m *measured, c int) float64 {
		return mean(m.sets[merged].whole[sampler][c])
	}) - mean(first.whole[0][bleu])
	var without []float64
	for k := range first.without[0][score] {
		without = append(without, lookup(first.without[0][score][k], func(m *measured, c int) float64 {
			return m.sets[merged].without[sampler][c][k]
		})-first.without[0][bleu][k])
	}
	if math.IsNaN(whole) {
		return "not reached"
	}
	return column{decimals: 1}.difference(jackknife(whole, without))
}
