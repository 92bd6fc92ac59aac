package infill

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"infill/infill/text"
	"infill/internal/testmode"
	"infill/samplers"
	"infill/tokenize"
)

// oracle is U of the filled blanks of a text by another way than the samplers'
// target: the pieces of the finished text, scored one by one, of which those
// inside the spans are summed.
func oracle(t *testing.T, e *Engine, text string, spans [][2]int) (u float64, pieces int) {
	t.Helper()
	s, err := e.Score(context.Background(), text, ScoreOptions{By: ScorePLL})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.Pieces {
		for _, sp := range spans {
			if p.Span[0] >= sp[0] && p.Span[1] <= sp[1] {
				u += p.LogProb
				pieces++
			}
		}
	}
	return u, pieces
}

// wordsOf lists the whole words of the tiny vocabulary.
func wordsOf(tok *tokenize.Tokenizer, keep func(string) bool) []string {
	var out []string
	for _, id := range tok.WholeWords() {
		if w := tok.Token(id); keep == nil || keep(w) {
			out = append(out, w)
		}
	}
	return out
}

// wordSet is a set of one word.
func wordSet(t *testing.T, word string) *text.WordSet {
	t.Helper()
	s, err := text.NewWordSet([]string{word})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A constraintCase is a text under constraints, and all that may fill its blanks,
// listed by other code than the samplers use.
type constraintCase struct {
	name, text string
	opt        Options
	states     [][]string // fillings of the blanks, as many as blanks
}

// constraintCases has every constraint, and some of them together.
func constraintCases(t *testing.T, tok *tokenize.Tokenizer) []constraintCase {
	t.Helper()
	animal := "/^(dog|cat|bird|fish|horse|cow|fox|bear)$/"
	animals := []string{"dog", "cat", "bird", "fish", "horse", "cow", "fox", "bear"}
	pairs := func(a, b []string, keep func(x, y string) bool) [][]string {
		var out [][]string
		for _, x := range a {
			for _, y := range b {
				if keep == nil || keep(x, y) {
					out = append(out, []string{x, y})
				}
			}
		}
		return out
	}
	single := func(words []string) [][]string {
		var out [][]string
		for _, w := range words {
			out = append(out, []string{w})
		}
		return out
	}
	// Two pieces: what the tokenizer reads back as two, the first beginning a word.
	var two []string
	for a := int32(7); int(a) < tok.VocabSize(); a++ {
		for b := int32(7); int(b) < tok.VocabSize(); b++ {
			text := text.BoundaryOf(tok).Join([]int32{a, b})
			if enc, err := tok.Pieces(text); err == nil && !tok.IsContinuation(a) &&
				slices.Equal(enc.IDs, []int32{a, b}) {
				two = append(two, text)
			}
		}
	}
	return []constraintCase{
		{"tied", "the [MASK:a] saw the big [MASK:a] .",
			Options{Words: WordOptions{Vocab: text.VocabWholeWords}},
			pairs(wordsOf(tok, nil), wordsOf(tok, nil), func(x, y string) bool { return x == y })},
		{"count", "the [MASK*2] .", Options{Words: WordOptions{Vocab: text.VocabAll}}, single(two)},
		{"count, asked in the blank", "the [MASK*2.] .", Options{}, single(two)},
		{
			"count of words and pieces", "the [MASK*2] .", Options{},
			single(slices.DeleteFunc(slices.Clone(two),
				func(s string) bool { return strings.ContainsAny(s, ".,") })),
		},
		{"count of whole words", "the [MASK*2] sleeps .",
			Options{Words: WordOptions{Vocab: text.VocabWholeWords}},
			single(strings.Split(joinPairs(wordsOf(tok, nil)), "\n"))},
		{
			"list",
			"the [MASK|red|green|dogs|big dog|small red fox|dog] sleeps in the [MASK|house|road|big river] .",
			Options{},
			pairs(
				[]string{"red", "green", "dogs", "big dog", "small red fox", "dog"},
				[]string{"house", "road", "big river"}, nil,
			),
		},
		{
			"list and tie",
			"the [MASK:a|dogs|big dog|old dog|fox] and the [MASK:a] in the [MASK|river|house] .", Options{},
			tripled(pairs([]string{"dogs", "big dog", "old dog", "fox"}, []string{"river", "house"}, nil)),
		},
		{"expression", "the [MASK/^[a-d]/] [MASK/s$/] in the house .", Options{},
			pairs(
				wordsOf(tok, func(w string) bool { return w[0] <= 'd' }),
				wordsOf(tok, func(w string) bool { return strings.HasSuffix(w, "s") }), nil,
			)},
		{
			"ban", "the [MASK" + animal + "] saw the [MASK" + animal + "] .",
			Options{Words: WordOptions{Ban: list(t, "dog", "fox", "bear", "red fox")}},
			pairs(animals[1:6], animals[1:6], nil),
		},
		{
			"ban in several tokens", "the [MASK*2] .",
			Options{Words: WordOptions{Vocab: text.VocabAll, Ban: list(t, "the", "house", "dogs", "river")}},
			single(slices.DeleteFunc(slices.Clone(two), func(s string) bool {
				for _, w := range strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' || r == '.' }) {
					if slices.Contains([]string{"the", "house", "dogs", "river"}, w) {
						return true
					}
				}
				return false
			})),
		},
		{
			"allow", "the [MASK] saw the [MASK*2] .",
			Options{Words: WordOptions{Allow: list(t, "dog", "cats", "red fox", "he", "old bear", "big dog",
				"old dog")}},
			pairs(
				[]string{"dog", "cats", "red fox", "he", "old bear", "big dog", "old dog"},
				[]string{"cats", "red fox", "old bear", "big dog", "old dog"}, nil,
			),
		},
		{"no repeat", "the [MASK" + animal + "] saw the [MASK" + animal + "] .",
			Options{Words: WordOptions{NoRepeat: text.RepeatText}},
			pairs(animals, animals, func(x, y string) bool { return x != y })},
		{
			"no repeat with lists", "a [MASK|dog|big dog|cat] saw a [MASK" + animal + "] .",
			Options{Words: WordOptions{NoRepeat: text.RepeatText}},
			pairs(
				[]string{"dog", "big dog", "cat"}, animals,
				func(x, y string) bool { return !strings.HasSuffix(x, y) },
			),
		},
		{"no repeat of the text",
			"Dogs, the [MASK" + animal + "] saw the bear and the [MASK" + animal + "] .",
			Options{Words: WordOptions{NoRepeat: text.RepeatText}},
			pairs(animals[:7], animals[:7], func(x, y string) bool { return x != y })},
		{
			"no repeat of the text in several tokens", "the old dog saw the [MASK*2] .",
			Options{Words: WordOptions{NoRepeat: text.RepeatText}},
			single(slices.DeleteFunc(slices.Clone(two), func(s string) bool {
				words := strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' || r == '.' })
				return strings.ContainsAny(s, ",.") || len(words) == 2 && words[0] == words[1] ||
					slices.ContainsFunc(words, func(w string) bool {
						return slices.Contains([]string{"old", "dog", "saw"}, w)
					})
			})),
		},
		{
			"no repeat of the text in lists and words",
			"the dogs saw a [MASK|dog|big dogs|the|cat|Dogs] and a dog[MASK|s|y] .",
			Options{Words: WordOptions{NoRepeat: text.RepeatText}},
			pairs([]string{"dog", "the", "cat"}, []string{"y"}, nil),
		},
		{
			"no repeat, function words of its own", "the dog saw a [MASK|the|saw|dog|cat] .",
			Options{Words: WordOptions{NoRepeat: text.RepeatText, Function: wordSet(t, "dog")}},
			single([]string{"dog", "cat"}),
		},
		{
			"minimum distance", "the [MASK] sleeps .",
			Options{Words: WordOptions{Vocab: text.VocabWholeWords, MinDistance: 3, Original: []string{"fox"}}},
			single(wordsOf(tok, func(w string) bool { return text.EditDistance(w, "fox", 3) >= 3 })),
		},
		{"open count", "the [MASK*1-2/^(dog|big|red|cat|old)$/] sleeps .", Options{},
			single(
				append(
					strings.Split(joinPairs([]string{"dog", "big", "red", "cat", "old"}), "\n"), "dog", "big",
					"red", "cat", "old",
				),
			)},
		{
			"inside a word", "the dog[MASK|s|y|ing big cat] sleeps .", Options{},
			single([]string{"s", "y", "ing big cat"}),
		},
		{"expression inside a word", "the dog[MASK/^dog(s|y)$/] and the cat[MASK/[sg]$/] .", Options{},
			pairs([]string{"s", "y"}, []string{"s", "ing"}, nil)},
		{"expression over two blanks", "the [MASK/^(dog|cat|bird|runsy)/][MASK/([st]s|y)$/] .", Options{},
			[][]string{{"cat", "s"}, {"dog", "y"}, {"cat", "y"}, {"bird", "y"}, {"runs", "y"}}},
		{
			"whole words inside a word", "the dog[MASK] and the [MASK/^(cat|fox)/]s .",
			Options{Words: WordOptions{Vocab: text.VocabWholeWords}},
			pairs([]string{"s", "y", "ing"}, []string{"cat", "fox"}, nil),
		},
		{
			"temperature 1", "the [MASK|dog|fox|cats] runs .",
			Options{Sampling: SamplingOptions{Temperature: 1}},
			single([]string{"dog", "fox", "cats"}),
		},
	}
}

// Every constraint leaves exactly the distribution that enumeration gives: the
// last states of many chains are compared with exp(U) of every filling that
// the constraint allows, each listed and scored by other code than the
// samplers use.
//
// The long tests see smaller deviations, with more chains, and have more samplers. Acceptance with
// 4/5 of its probability was seen in each of them (scores of all cases together 8.4 to 14), with
// 9/10 in DMALA alone (6.6, and 4.9 in the short test; the others 1.7 to 3.2).
// TestConstraintsInvariant sees 9/10 in all of them.
func TestConstraintDistributions(t *testing.T) {
	t.Parallel()
	if testmode.All() {
		constraintDistributions(t, 1500, "dmala", "gibbs-mh", "rows", "gwg")
	} else {
		constraintDistributions(t, 1000, "dmala")
	}
}

// constraintDistributions makes chains that are as long as they need to arrive: of 80 steps, of 60
// where there are many states, which the model has to evaluate, and of 250 where constraints leave
// narrow ways between them.
func constraintDistributions(t *testing.T, chains int, names ...string) {
	e := New(tiny(t))
	tok := e.model.Tokenizer()
	all := newScores(t)
	for seed, c := range constraintCases(t, tok) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tm, err := text.Parse(tok, c.text)
			if err != nil {
				t.Fatal(err)
			}
			if c.opt.Sampling.Temperature == 0 {
				// The modes of the tiny model are so far apart that chains of
				// a length fit for a test stay where they start.
				c.opt.Sampling.Temperature = 4
			}
			index := map[string]int{}
			p := make([]float64, len(c.states))
			mass := map[int]float64{} // by length
			lengths := make([]int, len(p))
			for i, s := range c.states {
				text, spans := tm.Splice(s)
				u, n := oracle(t, e, text, spans)
				index[text], lengths[i], p[i] = i, n, math.Exp(u/c.opt.Sampling.Temperature)
				mass[n] += p[i]
			}
			if len(index) != len(p) || len(p) < 2 {
				t.Fatalf("%d texts of %d states", len(index), len(p))
			}
			sum := 0.0
			for _, m := range mass {
				sum += m
			}
			for i := range p {
				if c.name == "open count" { // uniform over lengths, then π
					p[i] /= mass[lengths[i]] * float64(len(mass))
				} else {
					p[i] /= sum
				}
			}
			for _, name := range names {
				if name != "dmala" && len(p) > 1000 {
					continue
				}
				s, err := samplers.New(name, nil)
				if err != nil {
					t.Fatal(err)
				}
				opt := c.opt
				opt.Sampling.Sampler, opt.Sampling.Chains, opt.Sampling.Steps, opt.Results.All = s, chains, 80,
					true
				opt.Seed = uint64(seed)
				opt.Results.Collect, opt.Results.Score = CollectLast, ScorePLL
				switch {
				case c.name == "expression over two blanks" || c.name == "allow":
					opt.Sampling.Steps = 250
				case len(p) > 100:
					opt.Sampling.Steps = 60
				}
				r, err := e.Fill(context.Background(), tm, opt)
				if err != nil {
					t.Fatal(err)
				}
				counts := make([]int, len(p))
				for _, f := range r.Fillings {
					i, ok := index[f.Text]
					if !ok {
						t.Fatalf("%s: %q is not in the support", name, f.Text)
					}
					u, n := oracle(t, e, f.Text, f.Spans)
					if math.Abs(u-f.Score) > 1e-4 || math.Abs(u/float64(n)-f.ScorePerToken) > 1e-4 {
						t.Errorf(
							"%s: %q scores %v, %v per token, want %v of %d", name, f.Text, f.Score, f.ScorePerToken, u,
							n,
						)
					}
					counts[i] += f.Count
				}
				z := chiSquare(counts, p)
				t.Logf("%s: %d states, score %.2f", name, len(p), z)
				all.add(name, z)
				if !(math.Abs(z) < 4.8) {
					t.Errorf(
						"%s: differs from the enumerated distribution of %d states: score %.1f (acceptance %.2f)",
						name, len(p), z, r.Acceptance,
					)
				}
			}
		})
	}
}

func joinPairs(words []string) string {
	var b strings.Builder
	for i, x := range words {
		for j, y := range words {
			if i+j > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(x + " " + y)
		}
	}
	return b.String()
}

// tripled repeats the first word: (x, y) becomes (x, x, y).
func tripled(states [][]string) [][]string {
	for i, s := range states {
		states[i] = []string{s[0], s[0], s[1]}
	}
	return states
}

// With one state only there is nothing to sample, for any sampler.
func TestOneState(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	tm, err := text.Parse(e.model.Tokenizer(), "the [MASK:a|big dog] runs near the [MASK:a] .")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range samplers.Names() {
		s, err := samplers.New(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := e.Fill(context.Background(), tm, Options{Sampling: SamplingOptions{Sampler: s,
			Chains: 2, Steps: 3}, Results: ResultOptions{Score: ScorePLL}})
		if err != nil || len(r.Fillings) != 1 ||
			r.Fillings[0].Text != "the big dog runs near the big dog ." ||
			r.Fillings[0].Count != 2 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}
