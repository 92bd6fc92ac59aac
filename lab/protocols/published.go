package protocols

import (
	"fmt"
	"strings"
)

// published are the numbers of BERT-base in Table 3 of DLP, by sampler, in the order of
// publishedAt.
var published = map[string][8]float64{
	"gibbs": {86.84, 10.98, 16.08, 18.57, 32.21, 21.22, 33.05, 23.82},
	"gwg":   {81.97, 15.12, 21.79, 22.76, 37.59, 24.72, 37.98, 22.84},
	"dula":  {72.37, 23.33, 32.88, 27.74, 45.85, 30.02, 46.75, 21.82},
	"dmala": {72.59, 23.26, 32.64, 27.99, 45.77, 30.32, 46.49, 21.85},
}

// publishedAt is the place of a metric in published, -1 for one that the table has not: self-BLEU,
// unique 2-grams and 3-grams of the fillings themselves, against WT103 and against TBC, corpus
// BLEU. Files of references are of the paper's corpus that their name begins with.
func publishedAt(key string) int {
	switch key {
	case "":
		return -1
	case "self_bleu":
		return 0
	case "bleu":
		return 7
	}
	n := strings.IndexByte("23", key[len(key)-1])
	for i, begin := range []string{"unique.self.", "unique.wiki103", "unique.tbc"} {
		if strings.HasPrefix(key, begin) && n >= 0 {
			return 1 + 2*i + n
		}
	}
	return -1
}

func paperNumber(sampler string, at int) string {
	v, ok := published[sampler]
	if !ok {
		return "–"
	}
	return fmt.Sprintf("%.2f", v[at])
}

func paperDifference(a, b string, at int) string {
	x, ok := published[a]
	y, also := published[b]
	if !ok || !also {
		return "–"
	}
	return fmt.Sprintf("%+.2f", x[at]-y[at])
}
