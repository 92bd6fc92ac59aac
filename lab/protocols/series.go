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

// bySteps takes out the groups that are the same chains after several steps, each in the order of
// its steps. The others are those that make no series, and those of the paper's number of steps.
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
		early := slices.DeleteFunc(longest[m.key], func(e *measured) bool { // runs are missing
			return !slices.Equal(e.sentences, m.sentences) || !slices.Equal(e.seeds, m.seeds)
		})
		switch {
		case len(early) > 0:
			slices.SortFunc(early, func(a, b *measured) int { return cmp.Compare(a.Steps, b.Steps) })
			for _, e := range early {
				m.early = append(m.early, e.Steps)
			}
			series = append(series, append(early, m))
			if m.Steps == infill.PublishedSteps {
				others = append(others, m)
			}
		case m.Of == 0:
			others = append(others, m)
		}
	}
	return series, others
}

// longer are the groups of the last step of the series that go on beyond the paper's.
func longer(series [][]*measured) (out []*measured) {
	for _, s := range series {
		if end := s[len(s)-1]; end.Steps != infill.PublishedSteps {
			out = append(out, end)
		}
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
		fmt.Fprintf(w, "| steps | U of %s | R-hat of U | self-BLEU of %s | less that of %s: %s |\n",
			strings.Join(end.samplers, ", "), end.samplers[0], end.samplers[0], strings.Join(others, " | "))
		fmt.Fprintf(w, "|--:|---|---|--:|%s\n", strings.Repeat("--:|", len(others)))
		for _, m := range s {
			set := &m.sets[merged]
			at := set.index("self-BLEU")
			fmt.Fprintf(w, "| %d | %s | %s | %.1f |", m.Steps, m.levels("nats a blank, all"),
				m.levels("R-hat of U"), average(set.whole[0][at]))
			for _, name := range others {
				i := slices.Index(m.samplers, name)
				if i < 0 {
					fmt.Fprint(w, " – |")
					continue
				}
				d := pair(set.whole[i][at], set.whole[0][at], set.without[i][at], set.without[0][at])
				fmt.Fprintf(w, " %s |", column{decimals: 1}.difference(d))
			}
			fmt.Fprintln(w)
		}
		for _, of := range []struct{ what, column string }{
			{"U", "nats a blank, all"}, {"U of the best", "nats a blank, best"},
		} {
			var row []string
			for _, name := range others {
				row = append(row, equalScore(s, name, of.column))
			}
			if slices.ContainsFunc(row, func(c string) bool { return c != "–" }) {
				fmt.Fprintf(w, "| equal %s | | | | %s |\n", of.what, strings.Join(row, " | "))
			}
		}
		fmt.Fprintln(w)
	}
}

// index is the place of a column.
func (n *numbers) index(title string) int {
	return slices.IndexFunc(n.used, func(c column) bool { return c.title == title })
}

// average is the mean of values.
func average(v []float64) float64 { m, _ := spread(v); return m }

// levels are the means of a column over the seeds, of all samplers.
func (m *measured) levels(title string) string {
	set := &m.sets[merged]
	i := set.index(title)
	var out []string
	for s := range m.samplers {
		v := average(set.whole[s][i])
		if v == 0 { // R-hat of too few steps
			out = append(out, "–")
			continue
		}
		out = append(out, fmt.Sprintf("%.2f", v))
	}
	return strings.Join(out, ", ")
}

// equalScore is the difference of self-BLEU between a sampler after the paper's number of steps and
// the first sampler where it has the same score, a column. Between two steps of the series that is
// interpolated, on all sentences and without each.
func equalScore(s []*measured, name, by string) string {
	at := slices.IndexFunc(s, func(m *measured) bool { return m.Steps == infill.PublishedSteps })
	if at < 0 || slices.Index(s[at].samplers, name) < 0 {
		return "–"
	}
	set, sampler := &s[at].sets[merged], slices.Index(s[at].samplers, name)
	const bleu = "self-BLEU"
	first := func(want float64, value func(n *numbers, title string) float64) float64 {
		for i := 1; i < len(s); i++ {
			before, after := &s[i-1].sets[merged], &s[i].sets[merged]
			a, b := value(before, by), value(after, by)
			if a <= want && want <= b && a < b {
				x, y := value(before, bleu), value(after, bleu)
				return x + (y-x)*(want-a)/(b-a)
			}
		}
		return math.NaN()
	}
	whole := average(set.whole[sampler][set.index(bleu)]) -
		first(average(set.whole[sampler][set.index(by)]), func(n *numbers, title string) float64 {
			return average(n.whole[0][n.index(title)]) // groups need not have the same columns
		})
	if math.IsNaN(whole) {
		return "–"
	}
	var without []float64
	for k, score := range set.without[sampler][set.index(by)] {
		without = append(without, set.without[sampler][set.index(bleu)][k]-
			first(score, func(n *numbers, title string) float64 {
				return n.without[0][n.index(title)][k]
			}))
	}
	return column{decimals: 1}.difference(jackknife(whole, without))
}
