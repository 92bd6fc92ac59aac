package text

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
)

// A Contrast counts the words of texts that have labels, and finds those that tell the labels
// apart. Its zero value has counted nothing.
type Contrast struct {
	counts map[string]map[string]float64 // by label and word
	all    map[string]float64            // by word
}

// A Telling is a word that stands in the texts of a label more often than in the others.
type Telling struct {
	Word  string // in lower case
	Label string
	Z     float64 // standard errors of its log-odds ratio above 0
}

// The prior of [Contrast.Telling] has priorShare pseudo-counts for each word of the texts. Of the
// words that stand in one label alone it finds most where there are few of each. apartZ is the
// least Z: one in ten of the words that tell nothing comes so far. lab/notebook/augment.md has both
// measured.
const (
	priorShare = 0.2
	apartZ     = 1.28
)

// maxContrast bounds the different words that are counted; further ones are passed over.
const maxContrast = 1 << 20

// Add counts the words of a text that a masking may mask, under a label.
func (c *Contrast) Add(m Masking, text, label string) {
	if c.all == nil {
		c.all, c.counts = map[string]float64{}, map[string]map[string]float64{}
	}
	of := c.counts[label]
	if of == nil {
		of = map[string]float64{}
		c.counts[label] = of
	}
	for _, span := range m.candidates(text, wordsOf(text)) {
		w := strings.ToLower(text[span[0]:span[1]])
		if _, known := c.all[w]; !known && len(c.all) >= maxContrast {
			continue
		}
		of[w]++
		c.all[w]++
	}
}

// Labels is the number of labels.
func (c *Contrast) Labels() int { return len(c.counts) }

// Telling are the words that tell a label from all others, by label and there the clearest first.
// A word's Z is the log-odds ratio of the two, over its standard error, under a Dirichlet prior
// whose counts are in proportion to those of all texts together (Monroe, Colaresi and Quinn 2008,
// equations 16 and 22).
func (c *Contrast) Telling() []Telling {
	total := sum(c.all)
	prior := priorShare * total
	var out []Telling
	for label, of := range c.counts {
		n := sum(of)
		for w, y := range of {
			a := priorShare * c.all[w]
			in, rest := y+a, c.all[w]-y+a
			odds := math.Log(in/(n+prior-in)) - math.Log(rest/(total-n+prior-rest))
			if z := odds / math.Sqrt(1/in+1/rest); z >= apartZ {
				out = append(out, Telling{w, label, z})
			}
		}
	}
	slices.SortFunc(out, func(a, b Telling) int {
		return cmp.Or(cmp.Compare(a.Label, b.Label), cmp.Compare(b.Z, a.Z), cmp.Compare(a.Word, b.Word))
	})
	return out
}

// sum adds counts, which are whole: the order plays no part.
func sum(counts map[string]float64) (n float64) {
	for v := range maps.Values(counts) {
		n += v
	}
	return n
}
