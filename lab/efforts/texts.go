package efforts

import (
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
)

// Sentences that texts are made of have this many words.
const leastWords, mostWords = 8, 22

// whole reports whether a word is one of letters, so that a person would call it a word.
func whole(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) })
}

// A place is a run of words of a sentence.
type place struct {
	words    []string
	from, to int
}

func (p place) run() string { return strings.Join(p.words[p.from:p.to], " ") }

// with is the sentence with something else in the place.
func (p place) with(s string) string {
	return strings.Join(slices.Concat(p.words[:p.from], []string{s}, p.words[p.to:]), " ")
}

// places draws sentences in random order, and in each a run of at most most words of letters. Those
// that were masked as unknown, or have blanks or brackets, are left out.
func places(texts []string, most int, rng *rand.Rand) (out []place) {
	for _, i := range rng.Perm(len(texts)) {
		words := strings.Fields(texts[i])
		if len(words) < leastWords || len(words) > mostWords || strings.ContainsAny(texts[i], "@[]_|\\") {
			continue
		}
		n := 1 + rng.IntN(most)
		from := 1 + rng.IntN(len(words)-1-n)
		if !slices.ContainsFunc(words[from:from+n], func(w string) bool { return !whole(w) }) {
			out = append(out, place{words, from, from + n})
		}
	}
	return out
}

// withGaps are at most n sentences with a gap in the place of one to three words: [MASK*1-3], and
// in every second [MASK*1-5].
func withGaps(texts []string, n int, seed uint64) (out []string) {
	all := places(texts, 3, rand.New(rand.NewPCG(seed, 1))) //nolint:gosec // a sample
	for i, p := range all[:min(n, len(all))] {
		out = append(out, p.with([]string{"[MASK*1-3]", "[MASK*1-5]"}[i%2]))
	}
	return out
}

// listed is how many entries a list has.
const listed = 20

// withLists are at most n sentences with the same list in two blanks: the words that stood there,
// and words or pairs of words of other sentences.
func withLists(texts []string, n int, seed uint64) (out []string) {
	rng := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // a sample
	all := places(texts, 2, rng)
	for i, p := range all[:min(n, len(all))] {
		var others []int
		for at, word := range p.words {
			if whole(word) && (at < p.from || at >= p.to) {
				others = append(others, at)
			}
		}
		if len(others) == 0 {
			continue
		}
		at := others[rng.IntN(len(others))]
		entries := []string{p.run(), p.words[at]}
		for k := 1; k < len(all) && len(entries) < listed; k++ {
			if run := all[(i+k)%len(all)].run(); !slices.Contains(entries, run) {
				entries = append(entries, run)
			}
		}
		blank := "[MASK|" + strings.Join(entries, "|") + "]"
		words := slices.Clone(p.words)
		words[at] = blank
		out = append(out, place{words, p.from, p.to}.with(blank))
	}
	return out
}
