package main

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	"infill/infill/batch/input"
	"infill/infill/jsonl"
	"infill/metrics/interval"
)

// blimpPair are the fields of BLiMP's files.
var blimpPair = []string{"sentence_good", "sentence_bad"}

// ofBLiMP reports whether the first record of a file has the fields of BLiMP's.
func ofBLiMP(path string) bool {
	if path == "" || path == "-" {
		return false
	}
	in, err := input.Open(path, nil, input.Options{})
	if err != nil {
		return false
	}
	defer func() { _ = in.Close() }()
	it, err := in.Next()
	return err == nil && !slices.ContainsFunc(blimpPair, func(name string) bool {
		return !slices.ContainsFunc(it.Fields, func(f jsonl.Field) bool { return f.Name == name })
	})
}

// differences holds the differences of a file's pairs, of all and by the values of a field. Its
// methods are safe for concurrent use.
type differences struct {
	pairs bool   // of texts, whose first should be likelier; else of candidates
	by    string // "" for no groups

	mu     sync.Mutex
	groups map[string][]float64
}

// allPairs is the group of all.
const allPairs = "all"

// levelOfPairs is the level of their intervals.
const levelOfPairs = .95

// add counts a record.
func (d *differences) add(it *input.Item, rec *jsonl.Record) error {
	if rec.Difference == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.groups == nil {
		d.groups = map[string][]float64{}
	}
	d.groups[""] = append(d.groups[""], *rec.Difference)
	for _, f := range it.Fields {
		if f.Name != d.by || d.by == "" {
			continue
		}
		name := string(f.Value)
		_ = json.Unmarshal(f.Value, &name) // another value is named as it is written
		if name != "" {
			d.groups[name] = append(d.groups[name], *rec.Difference)
		}
	}
	return nil
}

// table says how many pairs are right and how far apart they are, "" without pairs.
func (d *differences) table() string {
	if len(d.groups) == 0 {
		return ""
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "pairs\t")
	if d.pairs {
		fmt.Fprintf(w, "ties\taccuracy (%%)\t")
	}
	fmt.Fprintf(w, "mean difference (nats)\t  group\n")
	names := make([]string, 0, len(d.groups))
	for name := range d.groups {
		names = append(names, name)
	}
	slices.Sort(names) // all before the others
	for _, name := range names {
		list := d.groups[name]
		var right []float64
		ties := 0
		for _, v := range list {
			switch {
			case v > 0:
				right = append(right, 100)
			case v < 0:
				right = append(right, 0)
			default:
				ties++
				right = append(right, 50)
			}
		}
		fmt.Fprintf(w, "%d\t", len(list))
		if d.pairs {
			fmt.Fprintf(w, "%d\t%s\t", ties, meanOf("%.1f", right, 0, 100))
		}
		if name == "" {
			name = allPairs
		}
		fmt.Fprintf(w, "%s\t  %s\n", meanOf("%+.2f", list, math.Inf(-1), math.Inf(1)), name)
	}
	_ = w.Flush()
	return b.String()
}

// meanOf is a mean with half of its interval, by Student's t, or with the ends of it where it would
// leave what is possible.
func meanOf(format string, list []float64, least, most float64) string {
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	n := float64(len(list))
	without := make([]float64, len(list))
	for i, v := range list {
		without[i] = (sum - v) / max(n-1, 1)
	}
	out, unsigned := fmt.Sprintf(format, sum/n), strings.Replace(format, "+", "", 1)
	alike := !slices.ContainsFunc(list, func(v float64) bool { return v != list[0] })
	half := interval.Jackknife(levelOfPairs, without)
	switch {
	case alike || math.IsNaN(half):
		return out
	case sum/n-half < least || sum/n+half > most:
		return out + fmt.Sprintf(" "+unsigned+"–"+unsigned, max(least, sum/n-half), min(most, sum/n+half))
	}
	return out + fmt.Sprintf(" ±"+unsigned, half)
}
