package bleu

import (
	"fmt"
	"strings"

	"infill/metrics/corpus"
)

// PairedTokens scores hypothesis i against its own list of references refs[i], as
// NLTK's corpus_bleu does. Sentences are given as tokens. It is for hypotheses that
// do not all have the same number of references.
func PairedTokens(hyps [][]string, refs [][][]string, o Options) (*Result, error) {
	return pairedTokens(hyps, refs, "corpus", o)
}

// Sentence scores one hypothesis against its references, as NLTK's sentence_bleu
// and sacrebleu's sentence_score do.
func Sentence(hyp []string, refs [][]string, o Options) (*Result, error) {
	return pairedTokens([][]string{hyp}, [][][]string{refs}, "sentence", o)
}

func pairedTokens(hyps [][]string, refs [][][]string, agg string, o Options) (*Result, error) {
	if len(hyps) != len(refs) {
		return nil, fmt.Errorf("%w: %d hypotheses, %d lists of references", ErrUnequal, len(hyps),
			len(refs))
	}
	var v corpus.Vocab
	count := -1
	for i, list := range refs {
		if len(list) == 0 {
			return nil, fmt.Errorf("hypothesis %d: %w", i+1, errNoReferences)
		}
		if i == 0 {
			count = len(list)
		} else if len(list) != count {
			count = -1
		}
	}
	name := "pairedvar"
	if count > 0 {
		name = fmt.Sprintf("paired%d", count)
	}
	ids := func(tokens []string) []uint32 {
		out := make([]uint32, len(tokens))
		for p, t := range tokens {
			out[p] = v.ID(t)
		}
		return out
	}
	return paired(fromTokens(&v, hyps), func(i int) [][]uint32 {
		out := make([][]uint32, len(refs[i]))
		for k, r := range refs[i] {
			out[k] = ids(r)
		}
		return out
	}, name, agg, o)
}

// fromTokens is a corpus of sentences that are cut into tokens without white space.
func fromTokens(v *corpus.Vocab, sentences [][]string) *corpus.Corpus {
	asTheyAre, err := corpus.NewPipeline(corpus.Options{Case: "mixed"})
	if err != nil {
		panic(err)
	}
	c := corpus.New(v, asTheyAre)
	for _, s := range sentences {
		if err := c.Add(strings.Join(s, " ")); err != nil {
			panic(err)
		}
	}
	return c
}
