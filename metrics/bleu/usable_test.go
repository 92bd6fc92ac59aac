package bleu

import (
	"errors"
	"testing"

	"infill/metrics/corpus"
	"infill/metrics/ngram"
)

// What is nil is empty, and corpora of two vocabularies have an error to compare with.
func TestMissingCorpora(t *testing.T) {
	c, other := corpus.New(nil, nil), corpus.New(nil, nil)
	for _, x := range []*corpus.Corpus{c, other} {
		if err := x.Add("a b c d e"); err != nil {
			t.Fatal(err)
		}
	}
	index, err := ngram.NewIndex(4, other.Vocab())
	if err != nil {
		t.Fatal(err)
	}
	if err := addCorpus(index, other, nil); err != nil {
		t.Fatal(err)
	}
	second := func(_ *Result, err error) error { return err }
	for _, x := range []struct {
		name      string
		err, want error
	}{
		{"self", second(Self(nil, SelfOptions{})), errFewSentences},
		{"hypotheses", second(Corpus(nil, index, Options{})), errNoHypotheses},
		{"index", second(Corpus(c, nil, Options{})), errNoReferences},
		{"paired hypotheses", second(Paired(nil, []*corpus.Corpus{c}, Options{})), errNoHypotheses},
		{"paired reference", second(Paired(c, []*corpus.Corpus{nil}, Options{})), errNoReferences},
		{"other vocabulary", second(Corpus(c, index, Options{})), errVocab},
		{"other paired", second(Paired(c, []*corpus.Corpus{other}, Options{})), errVocab},
	} {
		if !errors.Is(x.err, x.want) {
			t.Errorf("%s: %v, want %v", x.name, x.err, x.want)
		}
	}
	if !errors.Is(errVocab, ngram.ErrVocab) {
		t.Error("two errors for one thing")
	}
}
