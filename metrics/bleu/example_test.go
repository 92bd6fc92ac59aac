package bleu_test

import (
	"fmt"
	"log"

	"infill/metrics/bleu"
	"infill/metrics/corpus"
)

var sentences = []string{
	"The cat sat on the mat .",
	"The dog sat on the mat .",
	"A bird sang in the tree .",
}

// Self-BLEU of texts of one's own: how much each sentence repeats the others.
func ExampleSelf() {
	c := corpus.New(nil, nil) // split on white space, in lower case
	for _, s := range sentences {
		if err := c.Add(s); err != nil {
			log.Fatal(err)
		}
	}
	r, err := bleu.Self(c, bleu.SelfOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f %s\n", r.Percent(), r.Signature)
	// Output: 44.58 selfBLEU|n:4|agg:corpus|N:3|tok:ws|case:lc|smooth:none|den:nltk|v:1
}
