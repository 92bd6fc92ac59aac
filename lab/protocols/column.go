package protocols

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
)

// A column is a number that the tables have. Those with a key are report.Compare's.
type column struct {
	title    string
	key      string
	own      func([]record) float64 // of the runs of a sampler and a seed
	decimals int
	detail   bool // not for the first tables
	ratio    bool // own is a logarithm: e to its power is printed, and of differences the factor
}

func (t *tabler) columns() []column {
	all := []column{
		{title: "self-BLEU", key: "self_bleu", decimals: 2},
		{title: "unique 2-grams, %", key: "unique.self.2", decimals: 2},
		{title: "corpus BLEU", key: "bleu", decimals: 2},
		{title: "nats a blank, best", own: t.best, decimals: 2},
		{title: "nats a blank, all", own: allChains, decimals: 2},
		{title: "different", own: different, decimals: 1},
		{title: "counted", own: t.counted, decimals: 1},
		{title: "R-hat of U", own: rhat, decimals: 2},
		{title: "steps", own: made, decimals: 0},
		{title: "moves, %", own: moves, decimals: 0},
		{title: "rows", own: logarithm(func(r record) float64 { return float64(r.Rows) }), ratio: true},
		{title: "CPU seconds", own: logarithm(func(r record) float64 { return r.Seconds }),
			decimals: 2, ratio: true},
	}
	if len(t.references) == 0 {
		all = slices.DeleteFunc(all, func(c column) bool { return c.key == "bleu" })
	}
	all = append(all, column{title: "3-grams, itself", key: "unique.self.3", decimals: 2,
		detail: true})
	for _, path := range t.references {
		name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		for n := 2; n <= 3; n++ {
			all = append(all, column{title: fmt.Sprintf("%d-grams, %s", n, name),
				key: fmt.Sprintf("unique.%s.%d", name, n), decimals: 2, detail: true})
		}
	}
	return all
}

// best is the mean score a blank of the fillings that count.
func (t *tabler) best(rs []record) float64 {
	sum, n := 0.0, 0.0
	for _, r := range rs {
		kept := t.sentence(r).Fillings
		for _, f := range kept[:min(t.top, len(kept))] {
			sum += f.Score / float64(r.Blanks)
			n++
		}
	}
	return sum / n
}

// allChains is the mean U a blank of all chains.
func allChains(rs []record) float64 {
	return mean(rs, func(r record) float64 {
		u, n := 0.0, 0.0
		for _, s := range r.States {
			u += s.Score * float64(s.Count)
			n += float64(s.Count)
		}
		return u / n / float64(r.Blanks)
	})
}

// counted is the mean number of fillings of a sentence that count.
func (t *tabler) counted(rs []record) float64 {
	return mean(rs, func(r record) float64 {
		return float64(min(t.top, len(t.sentence(r).Fillings)))
	})
}

// different is the mean number of different texts.
func different(rs []record) float64 {
	return mean(rs, func(r record) float64 { return float64(len(r.States)) })
}

// made is the mean number of steps of a chain.
func made(rs []record) float64 {
	return mean(rs, func(r record) float64 { return float64(r.Made) })
}

// rhat is the mean of the R-hat of U.
func rhat(rs []record) float64 { return mean(rs, func(r record) float64 { return r.RHat }) }

// of reports whether runs of a group have the column.
func (c column) of(g key) bool {
	return c.title != "R-hat of U" || g.Protocol == fromRandom || g.Protocol == fromMasks
}

func moves(rs []record) float64 { return mean(rs, func(r record) float64 { return 100 * r.Moves }) }

// logarithm makes a column of the geometric mean.
func logarithm(f func(record) float64) func([]record) float64 {
	return func(rs []record) float64 {
		return mean(rs, func(r record) float64 { return math.Log(f(r)) })
	}
}

func mean(rs []record, f func(record) float64) float64 {
	sum := 0.0
	for _, r := range rs {
		sum += f(r)
	}
	return sum / float64(len(rs))
}

// mean prints the mean over seeds and the deviation between them.
func (c column) mean(v []float64) string {
	m, sd := spread(v)
	switch {
	case math.IsNaN(m):
		return "–"
	case c.ratio:
		return fmt.Sprintf("%.*f", c.decimals, math.Exp(m))
	case math.IsNaN(sd):
		return fmt.Sprintf("%.*f", c.decimals, m)
	}
	return fmt.Sprintf("%.*f (%.*f)", c.decimals, m, c.decimals, sd)
}

func (c column) difference(d difference) string {
	switch {
	case math.IsNaN(d.value): // one of the two has no figure
		return "–"
	case c.ratio && math.IsNaN(d.half):
		return fmt.Sprintf("× %.2f", math.Exp(d.value))
	case c.ratio:
		return fmt.Sprintf("× %.2f (%.2f–%.2f)", math.Exp(d.value), math.Exp(d.value-d.half),
			math.Exp(d.value+d.half))
	case math.IsNaN(d.half):
		return fmt.Sprintf("%+.*f", c.decimals, d.value)
	}
	return fmt.Sprintf("%+.*f ± %.*f", c.decimals, d.value, c.decimals, d.half)
}
