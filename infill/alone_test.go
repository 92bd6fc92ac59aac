package infill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"infill/infill/internal/recall"
	"infill/infill/internal/text"
	"infill/mlm"
)

// plainOracle knows what the model says of blanks of one token, asked in another way than targets
// do: blank by blank, without a memo.
type plainOracle struct {
	t      *testing.T
	m      *mlm.Model
	s      *mlm.Sentence
	glued  []bool // blanks that go on with a word
	states [][]string
	begins map[string]bool // what states begin with
	rows   map[string][]float32
}

func newPlainOracle(t *testing.T, m *mlm.Model, tm *Template, states [][]string) *plainOracle {
	o := &plainOracle{t: t, m: m, s: &mlm.Sentence{IDs: tm.IDs()}, states: states,
		begins: map[string]bool{}, rows: map[string][]float32{}}
	for i, b := range tm.Blanks() {
		o.s.Blanks = append(o.s.Blanks, b.Pos)
		before := tm.Text()[:b.Start]
		o.glued = append(o.glued, strings.HasSuffix(before, "]") && i > 0 ||
			before != "" && text.IsLetterOrDigit(text.LastRune(before)))
	}
	for _, s := range states {
		for i := range len(s) + 1 {
			o.begins[strings.Join(s[:i], " ")] = true
		}
	}
	return o
}

func (o *plainOracle) id(blank int, word string) int32 {
	if o.glued[blank] {
		word = "##" + word
	}
	id, ok := o.m.Tokenizer().ID(word)
	if !ok {
		o.t.Fatalf("no token %q", word)
	}
	return id
}

// log is log f of a word at a blank, given words before it, the blanks from open on masked.
func (o *plainOracle) log(before []string, blank int, word string) float64 {
	return o.given(append(slices.Clone(before), make([]string, len(o.s.Blanks)-len(before))...), blank,
		word)
}

// given is log f of a word at a blank, given the words of others; blanks without one are masked.
func (o *plainOracle) given(words []string, blank int, word string) float64 {
	key := fmt.Sprintf("%d %q", blank, words)
	if o.rows[key] == nil {
		state := make([]int32, len(o.s.Blanks))
		for i, w := range words {
			if state[i] = o.m.Tokenizer().MaskID(); w != "" {
				state[i] = o.id(i, w)
			}
		}
		out := recall.Resized[float32](nil, 1, o.m.VocabSize())
		err := o.m.Conditional(context.Background(), o.s, [][]int32{state}, []int{blank}, out)
		if err != nil {
			o.t.Fatal(err)
		}
		o.rows[key] = out[0]
	}
	return float64(o.rows[key][o.id(blank, word)])
}

// A plainFilling is a filling with its score.
type plainFilling struct {
	words []string
	score float64
}

func best(all []plainFilling, n int) []plainFilling {
	slices.SortStableFunc(all, func(a, b plainFilling) int { return cmp.Compare(b.score, a.score) })
	return all[:min(n, len(all))]
}

// alone enumerates all states.
func (o *plainOracle) alone(n int) []plainFilling {
	var all []plainFilling
	for _, s := range o.states {
		f := plainFilling{words: s}
		for i, w := range s {
			f.score += o.log(nil, i, w)
		}
		all = append(all, f)
	}
	return best(all, n)
}

// beam goes from the left, over everything that states begin with.
func (o *plainOracle) beam(n int) []plainFilling {
	at := []plainFilling{{}}
	for i := range o.s.Blanks {
		var next []plainFilling
		for _, f := range at {
			seen := map[string]bool{}
			for _, s := range o.states {
				if seen[s[i]] || !slices.Equal(s[:i], f.words) {
					continue
				}
				seen[s[i]] = true
				next = append(next, plainFilling{append(slices.Clone(f.words), s[i]),
					f.score + o.log(f.words, i, s[i])})
			}
		}
		at = best(next, n)
	}
	return at
}

// greedy is the beam of one, and then what else is in the beam.
func (o *plainOracle) greedy(n int) []plainFilling { return led(o.beam(1), o.beam(n), n) }

// led is a leader, if there is one, and then what else is in a beam.
func led(lead, beam []plainFilling, n int) []plainFilling {
	out := lead
	for _, f := range beam {
		if len(out) == 0 || !slices.Equal(f.words, out[0].words) && len(out) < n {
			out = append(out, f)
		}
	}
	return out
}

// surest fills, in each filling of a beam, the blank whose best word is the likeliest.
func (o *plainOracle) surest(n int) []plainFilling {
	m := len(o.s.Blanks)
	may := make([]map[string]bool, m) // words by blank
	for i := range may {
		may[i] = map[string]bool{}
		for _, s := range o.states {
			may[i][s[i]] = true
		}
	}
	at := []plainFilling{{words: make([]string, m)}}
	for step := range m {
		var next []plainFilling
		seen := map[string]bool{}
		for _, f := range at {
			blank, top := -1, math.Inf(-1)
			for i := range f.words {
				for w := range may[i] {
					if f.words[i] == "" && (step < m-1 || o.full(f.words, i, w)) {
						if lp := o.given(f.words, i, w); lp > top {
							blank, top = i, lp
						}
					}
				}
			}
			if blank < 0 {
				continue
			}
			for w := range may[blank] {
				words := slices.Clone(f.words)
				if words[blank] = w; step == m-1 && !o.full(f.words, blank, w) {
					continue
				}
				if key := strings.Join(words, " "); !seen[key] {
					seen[key] = true
					next = append(next, plainFilling{words, f.score + o.given(f.words, blank, w)})
				}
			}
		}
		at = best(next, n)
	}
	return at
}

// full reports whether a word completes a state.
func (o *plainOracle) full(words []string, blank int, w string) bool {
	words = slices.Clone(words)
	words[blank] = w
	return o.begins[strings.Join(words, " ")]
}

// confident is the surest filling, and then what else is in the beam.
func (o *plainOracle) confident(n int) []plainFilling {
	return led(o.surest(1), o.surest(n), n)
}

// plainCases are texts with blanks of one token, and all that may fill them.
func plainCases(t *testing.T, e *Engine) []constraintCase {
	t.Helper()
	tok := e.Tokenizer()
	words := wordsOf(tok, nil)
	var two, three [][]string
	for _, a := range words {
		for _, b := range words {
			two = append(two, []string{a, b})
		}
	}
	for _, a := range words[:20] {
		for _, b := range words[:20] {
			for _, c := range words[:20] {
				three = append(three, []string{a, b, c})
			}
		}
	}
	var apart [][]string
	for _, s := range two {
		if s[0] != s[1] {
			apart = append(apart, s)
		}
	}
	whole := Options{Words: WordOptions{Vocab: VocabWholeWords}}
	cases := []constraintCase{
		{"two words", "the [MASK] sleeps in the [MASK] .", whole, two},
		{"hot", "the [MASK] sleeps in the [MASK] .", Options{Words: WordOptions{Vocab: VocabWholeWords},
			Sampling: SamplingOptions{Temperature: 7}}, two},
		{"two in a row", "the [MASK] [MASK] sleeps .",
			Options{Words: WordOptions{Vocab: VocabWholeWords, NoRepeat: true}},
			apart},
		{"three", "the [MASK] and the [MASK] [MASK] .", Options{Words: WordOptions{Vocab: VocabWholeWords,
			Allow: list(t, words[:20]...)}}, three},
	}
	for _, c := range constraintCases(t, tok) {
		if slices.Contains([]string{"expression", "ban", "no repeat", "expression inside a word",
			"expression over two blanks", "whole words inside a word"}, c.name) {
			cases = append(cases, c)
		}
	}
	return cases
}

// Blanks that are filled alone, and in turn, get what enumeration gives: the best products of what
// the model says of each with all masked, and the beam of its conditionals from the left.
func TestPlainWaysAreEnumeration(t *testing.T) {
	t.Parallel()
	m := tiny(t)
	for _, e := range []*Engine{New(m), NewWithMemo(m, 0)} {
		tok := e.Tokenizer()
		for _, c := range plainCases(t, e) {
			tm := parsed(t, e, c.text)
			o := newPlainOracle(t, m, tm, c.states)
			for _, top := range []int{1, 5, 40} {
				c.opt.Results.Top = top
				alone, err := e.Alone(t.Context(), tm, c.opt)
				if err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
				greedy, err := e.Greedy(t.Context(), tm, c.opt)
				if err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
				samePlain(t, c.name+", alone", tm, e, alone, o.alone(top))
				if c.name == "expression over two blanks" {
					// That a beginning cannot go on is seen at the next blank.
					for _, f := range greedy.Fillings {
						if !slices.ContainsFunc(c.states, func(s []string) bool {
							text, _ := text.Splice(&tm.in, tok, s, CaseAuto)
							return text == f.Text
						}) {
							t.Errorf("%s: greedy makes %q", c.name, f.Text)
						}
					}
					continue
				}
				samePlain(t, c.name+", greedy", tm, e, greedy, o.greedy(top))
				confident, err := e.Confident(t.Context(), tm, c.opt)
				if err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
				samePlain(t, c.name+", confident", tm, e, confident, o.confident(top))
				if n := len(tm.in.Blanks); alone.Rows != n || greedy.Rows < n ||
					greedy.Rows > 2+(n-1)*(top+1) || alone.Evaluated > n {
					t.Errorf("%s: %d and %d rows, %d evaluated", c.name, alone.Rows, greedy.Rows,
						alone.Evaluated)
				}
			}
		}
	}
}

// samePlain compares a result with an oracle's. Fillings that are equally good may change places.
func samePlain(t *testing.T, name string, tm *Template, e *Engine, r *Result, want []plainFilling) {
	t.Helper()
	if len(r.Fillings) != len(want) {
		t.Errorf("%s: %d fillings, want %d", name, len(r.Fillings), len(want))
		return
	}
	scores := map[string]float64{}
	for _, w := range want {
		text, _ := text.Splice(&tm.in, e.Tokenizer(), w.words, CaseAuto)
		scores[text] = w.score
	}
	for i, f := range r.Fillings {
		w, ok := scores[f.Text]
		if !ok && math.Abs(f.Score-want[len(want)-1].score) < 1e-4 {
			continue // a tie with the last
		}
		if !ok || math.Abs(f.Score-w) > 1e-4 || math.Abs(f.Score-want[i].score) > 1e-4 ||
			math.Abs(f.ScorePerToken*float64(f.Len())-f.Score) > 1e-9 {
			t.Errorf("%s: filling %d is %q with %v, want %q with %v", name, i, f.Text, f.Score,
				want[i].words, want[i].score)
		}
	}
}

// A greedy choice that leaves nothing for the next blank is not the end.
func TestGreedyGoesBack(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	tm := parsed(t, e, "the [MASK|dog|cat] saw the [MASK|dog] and the [MASK|cat|fox] .")
	for name, way := range plainWays(e) {
		for _, top := range []int{1, 5} {
			r, err := way(t.Context(), tm,
				Options{Words: WordOptions{NoRepeat: true}, Results: ResultOptions{Top: top}})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if len(r.Fillings) != 1 || r.Fillings[0].Text != "the cat saw the dog and the fox ." {
				t.Errorf("%s: %+v", name, r.Fillings)
			}
		}
		_, err := way(t.Context(), parsed(t, e, "the [MASK|dog] saw the [MASK|dog] ."),
			Options{Words: WordOptions{NoRepeat: true}})
		if !errors.Is(err, ErrEmptySupport) {
			t.Errorf("%s: %v, want ErrEmptySupport", name, err)
		}
	}
}

func plainWays(e *Engine) map[string]func(context.Context, *Template, Options) (*Result, error) {
	return map[string]func(context.Context, *Template, Options) (*Result, error){
		"alone": e.Alone, "greedy": e.Greedy, "confident": e.Confident,
	}
}

// Options that a way of its own cannot hold are refused, and nothing panics.
func TestPlainWaysRefuse(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	tm := parsed(t, e, "the [MASK] sleeps in the [MASK] .")
	for name, way := range plainWays(e) {
		for _, c := range []struct {
			tm  *Template
			opt Options
		}{
			{nil, Options{}},
			{tm, Options{Results: ResultOptions{Marginals: true}}},
			{tm, Options{Results: ResultOptions{Normalize: true}}},
			{tm, Options{Results: ResultOptions{Top: AllFillings}}},
			{tm,
				Options{Words: WordOptions{Filter: Filter{MinEdits: 1}, Original: []string{"dog", "house"}}}},
			{tm, Options{Results: ResultOptions{Top: -1}}},
			{parsed(t, e, "the [MASK*1-2] sleeps ."), Options{}},
		} {
			if _, err := way(t.Context(), c.tm, c.opt); !errors.Is(err, ErrOption) {
				t.Errorf("%s with %+v: %v, want ErrOption", name, c.opt, err)
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		if _, err := way(ctx, tm, Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want the end of the context", name, err)
		}
	}
	if _, err := New(nil).Alone(t.Context(), tm, Options{}); !errors.Is(err, ErrOption) {
		t.Errorf("no model: %v", err)
	}
}

// A word can come back if the vocabulary has it in one piece and the blank may take it.
func TestReaches(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	const text = "The dog, dogs and (fox) sleeps in unheard ."
	span := func(word string) [2]int {
		i := strings.Index(text, word)
		return [2]int{i, i + len(word)}
	}
	for _, c := range []struct {
		word string
		opt  Options
		want bool
	}{
		{"dog", Options{}, true},
		{"The", Options{}, true},      // the model knows lower case only
		{"fox", Options{}, true},      // after a bracket
		{"dogs", Options{}, false},    // two pieces
		{"unheard", Options{}, false}, // none
		{"dog", Options{Words: WordOptions{Ban: list(t, "dog")}}, false},
		{"dog", Options{Words: WordOptions{Allow: list(t, "fox", "dog")}}, true},
		{"dog", Options{Words: WordOptions{Allow: list(t, "fox", "big dog")}}, false},
		{"dog", Options{Words: WordOptions{Vocab: VocabWholeWords, NoRepeat: true},
			Sampling: SamplingOptions{Steps: 3}}, true},
	} {
		if got := e.Reaches(text, span(c.word), c.opt); got != c.want {
			t.Errorf("%s with %+v: %v", c.word, c.opt, got)
		}
	}
	for _, bad := range [][2]int{{0, 0}, {-1, 3}, {3, 1}, {0, len(text) + 1}} {
		if e.Reaches(text, bad, Options{}) || New(nil).Reaches(text, span("dog"), Options{}) {
			t.Errorf("%v can come back", bad)
		}
	}
}
