// Package bleu computes BLEU (Papineni et al. 2002) and self-BLEU the way the
// literature's tools do, in time linear in the number of tokens.
//
// The same sentences score very differently under different definitions, so
// every [Result] carries a signature that names each choice:
//
//	selfBLEU|n:4|agg:corpus|N:100|tok:ws|case:lc|smooth:none|den:nltk|v:1
//
// # Definitions
//
// Corpus BLEU: for every order k the clipped matches and the totals are summed
// over all hypotheses before the precision p_k = matches/total is taken.
//
//	BLEU = BP · exp(Σ_k w_k ln p_k),   BP = min(1, exp(1 − r/h))
//
// with h the summed hypothesis lengths and r the summed lengths of each
// hypothesis's closest reference, the shorter of two equally close ones.
//
// Self-BLEU: corpus BLEU with each sentence as hypothesis and all the others as
// its references, pooled over the set (Wang & Cho 2019, DISCS).
//
// NLTK and sacrebleu differ in two things, which [Options.Denominator] switches:
// a sentence too short for an order counts 1 (NLTK) or 0 (sacrebleu) in that
// order's total, and a precision of zero is taken as the smallest positive
// float (NLTK ≥ 3.3) or makes the score exactly 0 (sacrebleu).
//
// Numbers that are formally defined but mean little come with warnings in
// [Result.Warnings]. An undefined one is an error, never a silent 0 or NaN.
package bleu

import (
	"encoding/binary"
	"fmt"
	"slices"

	"infill/metrics/corpus"
	"infill/metrics/ngram"
)

// Corpus scores every hypothesis against the whole reference set. The index must
// share the corpus's vocabulary and have at least [Options.IndexOrder].
func Corpus(hyps *corpus.Corpus, refs *ngram.Index, o Options) (*Result, error) {
	s, err := o.check()
	if err != nil {
		return nil, err
	}
	switch {
	case hyps == nil || hyps.Len() == 0:
		return nil, errNoHypotheses
	case refs == nil || refs.Sentences() == 0:
		return nil, errNoReferences
	case refs.Vocab() != hyps.Vocab():
		return nil, errVocab
	case refs.Order() < s.counted:
		return nil, fmt.Errorf("%w: the references are indexed to order %d, order %d is needed",
			ErrOption, refs.Order(), s.counted)
	}
	st := newStats(hyps, s.counted)
	m := refs.NewMatcher()
	for i := range st.N {
		m.Match(hyps.Sentence(i), st.row(i))
		st.RefLens[i] = int32(refs.ClosestLength(int(st.HypLens[i])))
	}
	return st.finish(s, signature{
		name: "BLEU", agg: "corpus", n: st.N, refs: fmt.Sprintf("set%d", refs.Sentences()),
		refClean: refs.Cleaning, text: hyps.Pipeline().Signature(),
	}, st.bootstrap)
}

// Paired scores hypothesis i against sentence i of each reference corpus, as
// sacrebleu does with reference streams. All corpora must be of equal length.
func Paired(hyps *corpus.Corpus, refs []*corpus.Corpus, o Options) (*Result, error) {
	if len(refs) == 0 {
		return nil, errNoReferences
	}
	if hyps == nil {
		return nil, errNoHypotheses
	}
	for k, r := range refs {
		if r == nil {
			return nil, fmt.Errorf("reference %d is nil: %w", k+1, errNoReferences)
		}
		if r.Len() != hyps.Len() {
			return nil, fmt.Errorf("%w: %d hypotheses, %d sentences in reference %d; paired references "+
				"need one line each", ErrUnequal, hyps.Len(), r.Len(), k+1)
		}
		if r.Vocab() != hyps.Vocab() {
			return nil, errVocab
		}
	}
	return paired(hyps, func(i int) [][]uint32 {
		out := make([][]uint32, len(refs))
		for k, r := range refs {
			out[k] = r.Sentence(i)
		}
		return out
	}, fmt.Sprintf("paired%d", len(refs)), "corpus", o)
}

// paired scores hypotheses that each have references of their own.
func paired(hyps *corpus.Corpus, refs func(i int) [][]uint32, refName, agg string,
	o Options) (*Result, error) {
	s, err := o.check()
	if err != nil {
		return nil, err
	}
	if hyps.Len() == 0 {
		return nil, errNoHypotheses
	}
	st := newStats(hyps, s.counted)
	for i := range st.N {
		st.RefLens[i] = int32(pairMatches(hyps.Sentence(i), refs(i), st.row(i)))
	}
	return st.finish(s, signature{name: "BLEU", agg: agg, n: st.N, refs: refName,
		text: hyps.Pipeline().Signature()}, st.bootstrap)
}

// pairMatches adds the matches of hyp against its own references, which must not be empty, to
// clipped, one order per element. It returns the closest reference length, the shorter of two.
func pairMatches(hyp []uint32, refs [][]uint32, clipped []int32) (closest int) {
	for n := 1; n <= min(len(clipped), len(hyp)); n++ {
		own := grams(hyp, n, nil)
		most := map[string]int32{} // in one reference
		for _, r := range refs {
			for g, k := range grams(r, n, own) {
				most[g] = max(most[g], k)
			}
		}
		for g, k := range own {
			clipped[n-1] += min(k, most[g])
		}
	}
	var lengths []int
	for _, r := range refs {
		lengths = append(lengths, len(r))
	}
	slices.Sort(lengths)
	return ngram.Closest(lengths, len(hyp))
}

// grams counts the n-grams of a sentence by their bytes, those among others if that is not nil.
func grams(tokens []uint32, n int, among map[string]int32) map[string]int32 {
	out := map[string]int32{}
	var key []byte
	for p := 0; p+n <= len(tokens); p++ {
		key = key[:0]
		for _, t := range tokens[p : p+n] {
			key = binary.LittleEndian.AppendUint32(key, t)
		}
		if among == nil || among[string(key)] > 0 {
			out[string(key)]++
		}
	}
	return out
}
