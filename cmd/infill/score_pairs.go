package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"infill/infill/batch/input"
	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/metrics/interval"
)

// blimpPair are the fields of BLiMP's files.
var blimpPair = []string{"sentence_good", "sentence_bad"}

// ofBLiMP reports whether the first record of a file has the fields of BLiMP's.
func ofBLiMP(path string) bool {
	in, err := input.Open(path, strings.NewReader(""), input.Options{}) // a stream is not looked at
	if err != nil {
		return false
	}
	it, err := in.Next()
	_ = in.Close()
	return err == nil && !slices.ContainsFunc(blimpPair, func(name string) bool {
		return !slices.ContainsFunc(it.Fields, func(f jsonl.Field) bool { return f.Name == name })
	})
}

// checkPairs takes the file of pairs from the arguments, and the first text of a pair as its text.
func (f *scoreFlags) checkPairs(c *cli.Context) error {
	f.file, f.TextField = cmp.Or(f.file, c.Args().First()), f.ranking.Pairs[0]
	switch {
	case f.file == "" || c.NArg() > 1:
		return usagef("--pairs wants one file: infill score pairs.csv --pairs good,bad")
	case c.IsSet("text-field") || f.Per == settings.PerWord || f.Sentence != "":
		return usagef("--pairs names the columns of both texts: leave out --text-field, --per and " +
			"--sentence")
	case f.ranking.Shared && f.ranking.Energy != nil:
		return usagef("--shared sums over words, and --energy judges whole texts: leave one out")
	}
	return nil
}

// differences holds the differences of a file's pairs, of all and by the values of a field. Its
// methods are safe for concurrent use.
type differences struct {
	pairs bool   // of texts, whose first should be likelier; else of candidates
	by    string // "" for no groups

	mu     sync.Mutex
	groups map[string][]float64 // "" has all
}

// add counts a record.
func (d *differences) add(it *input.Item, rec jsonl.Record) error {
	var difference *float64
	switch r := rec.(type) {
	case *jsonl.Scored:
		difference = r.Difference
	case *jsonl.Ranked:
		difference = r.Difference
	}
	if difference == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.groups[""] = append(d.groups[""], *difference)
	for _, f := range it.Fields {
		if f.Name != d.by || d.by == "" {
			continue
		}
		name := string(f.Value)
		_ = json.Unmarshal(f.Value, &name) // another value is named as it is written
		if name != "" {
			d.groups[name] = append(d.groups[name], *difference)
		}
	}
	return nil
}

// table says how often the first is likelier, and how far apart they are, "" without pairs.
func (d *differences) table() string {
	if len(d.groups) == 0 {
		return ""
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	share := "first likelier"
	if d.pairs {
		share = "accuracy"
	}
	fmt.Fprintf(w, "pairs\tties\t%s (%%)\tmean difference (nats)\t  group\n", share)
	for _, name := range slices.Sorted(maps.Keys(d.groups)) { // all before the others
		list := d.groups[name]
		ties, right := 0, make([]float64, len(list))
		for i, v := range list {
			switch {
			case v > 0:
				right[i] = 100
			case v == 0:
				ties++
				right[i] = 50
			}
		}
		mean, half := meanOf(right)
		fmt.Fprintf(w, "%d\t%d\t%.1f", len(list), ties, mean)
		if half > 0 {
			fmt.Fprintf(w, " %.1f–%.1f", max(0, mean-half), min(100, mean+half))
		}
		mean, half = meanOf(list)
		fmt.Fprintf(w, "\t%+.2f", mean)
		if half > 0 {
			fmt.Fprintf(w, " ±%.2f", half)
		}
		fmt.Fprintf(w, "\t  %s\n", cmp.Or(name, "all"))
	}
	_ = w.Flush()
	return b.String()
}

// meanOf is a mean, and half of its interval of level .95 by Student's t: 0 where all are alike,
// NaN for a single one. Deviations from the first one keep alike ones exactly alike.
func meanOf(list []float64) (mean, half float64) {
	n, square := float64(len(list)), 0.0
	for _, v := range list {
		mean += (v - list[0]) / n
	}
	for _, v := range list {
		square += (v - list[0] - mean) * (v - list[0] - mean)
	}
	return list[0] + mean, interval.Student(.95, len(list)-1) * math.Sqrt(square/(n-1)/n)
}
