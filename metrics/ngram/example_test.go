package ngram_test

import (
	"fmt"
	"log"

	"infill/metrics/corpus"
	"infill/metrics/ngram"
)

// Different n-grams of a set of sentences, and those that a reference lacks.
func ExampleCount() {
	vocab := &corpus.Vocab{} // one for all that is compared
	own, reference := corpus.New(vocab, nil), corpus.New(vocab, nil)
	for _, s := range []string{"the cat sat on the mat", "the dog sat on the mat"} {
		if err := own.Add(s); err != nil {
			log.Fatal(err)
		}
	}
	if err := reference.Add("the cat sat on a chair"); err != nil {
		log.Fatal(err)
	}
	index, err := ngram.NewIndex(2, vocab)
	if err != nil {
		log.Fatal(err)
	}
	for i := range reference.Len() {
		index.Add(reference.Sentence(i))
	}
	counts, err := ngram.Count(own, 2, index)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range counts {
		fmt.Printf("n=%d: %d different of %d, %d not in the reference\n",
			c.N, c.Distinct, c.Total, c.Absent[0])
	}
	// Output:
	// n=1: 6 different of 12, 2 not in the reference
	// n=2: 7 different of 10, 4 not in the reference
}
