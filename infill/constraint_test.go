package infill

import (
	"context"
	"errors"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"infill/samplers"
	"infill/tokenize"
)

func TestBlankGrammar(t *testing.T) {
	tok := tinyTokenizer(t)
	for _, c := range []struct {
		text string
		want Blank
	}{
		{"[MASK]", Blank{Min: 1, Max: 1}},
		{"____", Blank{Min: 1, Max: 1}},
		{"[MASK:a]", Blank{Name: "a", Min: 1, Max: 1}},
		{"[MASK*3]", Blank{Min: 3, Max: 3, counted: true}},
		{"[MASK*1-3]", Blank{Min: 1, Max: 3, counted: true}},
		{"[MASK*2-2]", Blank{Min: 2, Max: 2, counted: true}},
		{"[MASK|red]", Blank{Min: 1, Max: 1, Words: []string{"red"}}},
		{"[MASK|red| big dog |a\\]b\\|c\\\\]", Blank{Min: 1, Max: 1, Words: []string{"red", "big dog", "a]b|c\\"}}},
		{"[MASK/^[a-z]+ing$/]", Blank{Min: 1, Max: 1, Pattern: regexp.MustCompile("^[a-z]+ing$")}},
		{"[MASK/a\\/b[]/\\]]/]", Blank{Min: 1, Max: 1, Pattern: regexp.MustCompile(`a/b[]/\]]`)}},
		{"[MASK:x-1*1-2/s$/]", Blank{Name: "x-1", Min: 1, Max: 2, counted: true, Pattern: regexp.MustCompile("s$")}},
		{"[MASK:n*2|big dog|dogs]", Blank{Name: "n", Min: 2, Max: 2, counted: true, Words: []string{"big dog", "dogs"}}},
	} {
		tm, err := Parse(tok, "the "+c.text+" .")
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		c.want.Start, c.want.End, c.want.Pos = 4, 4+len(c.text), 2
		if len(tm.Blanks) != 1 || !reflect.DeepEqual(tm.Blanks[0], c.want) {
			t.Errorf("%s: %+v", c.text, tm.Blanks)
		}
	}
	// What only looks like a blank is text.
	if _, err := Parse(tok, "the [MASKED] __ [MASK-1] ."); !errors.Is(err, ErrNoBlank) {
		t.Errorf("%v", err)
	}
}

func TestBlankErrors(t *testing.T) {
	tok := tinyTokenizer(t)
	for text, says := range map[string]string{
		"the [MASK:] .":                     "name",
		"the [MASK:a b] .":                  "order",
		"the [MASK*0] .":                    "count",
		"the [MASK*] .":                     "count",
		"the [MASK*3-1] .":                  "count",
		"the [MASK*-1] .":                   "count",
		"the [MASK*1-] .":                   "count",
		"the [MASK*33] .":                   "from 1 to 32",
		"the [MASK*99999999999999999999] .": "count",
		"the [MASK*2:a] .":                  "order",
		"the [MASK:a:b] .":                  "once",
		"the [MASK*2*2] .":                  "once",
		"the [MASK||] .":                    "empty",
		"the [MASK|red|] .":                 "empty",
		"the [MASK|red":                     "not closed",
		"the [MASK:a":                       "not closed",
		"the [MASK|red\\":                   "not closed",
		"the [MASK/ab] .":                   "end it with /]",
		"the [MASK//] .":                    "bytes",
		"the [MASK/(/] .":                   "RE2",
		"the [MASK/a{1001}/] .":             "RE2",
		"the [MASK/s/|red] .":               "end it with /]",
		"the [MASK/" + strings.Repeat("a", 1001) + "/]": "bytes",
		"the [MASK:a*2] [MASK:a*3]":                     "called a",
		"the [MASK:a|red] [MASK:a|blue]":                "called a",
	} {
		_, err := Parse(tok, text)
		var te *TextError
		if !errors.Is(err, ErrBlank) || !errors.As(err, &te) || te.Offset < 4 || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error %v, want %q", text, err, says)
		}
	}
}

// list prepares words or fails the test.
func list(t *testing.T, words ...string) *WordList {
	t.Helper()
	l, err := NewWordList(tinyTokenizer(t), words)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Every way to leave a blank without a filling is an error that names it.
func TestEmptySupports(t *testing.T) {
	e := New(tiny(t))
	for _, c := range []struct {
		text, blank string
		opt         Options
	}{
		{"the [MASK] and the [MASK/^q/] .", "blank 2, [MASK/^q/]", Options{}},
		{"the [MASK|red] .", "blank 1", Options{Ban: list(t, "red")}},
		{"the [MASK|red] .", "blank 1", Options{Allow: list(t, "green", "dog")}},
		{"the [MASK|big dog] .", "blank 1", Options{Ban: list(t, "big dog")}},
		{"the [MASK*3|red|big dog] .", "blank 1", Options{}},
		{"a [MASK] the [MASK*2] .", "blank 2", Options{Allow: list(t, "red", "small")}},
		{"the [MASK] .", "blank 1", Options{Allow: list(t, "red", "small"), MinDistance: 6, Original: []string{"bed"}}},
		{"the [MASK/^(dog|cat)$/] .", "blank 1", Options{Ban: list(t, "dog", "cat")}},
		{"the [MASK|red] and [MASK|red] .", "blank 2", Options{NoRepeat: true}},
		{"[MASK/^(dog|cat)$/] [MASK/^(dog|cat)$/] [MASK/^(dog|cat)$/]", "blank 3", Options{NoRepeat: true}},
		{"the [MASK*3/^(dog|cat)$/] .", "blank 1", Options{NoRepeat: true}},
		{"the [MASK*2/^dog$/] .", "blank 1", Options{Ban: list(t, "dog")}},
		{"the [MASK:a|dog] run[MASK:a] .", "blank 2", Options{}},
		{"run[MASK|ing|s] .", "blank 1", Options{Ban: list(t, "dog"), Allow: list(t, "cat")}},
	} {
		tm, err := Parse(e.model.Tokenizer(), c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		c.opt.Steps, c.opt.Chains = 1, 2
		_, err = e.Fill(context.Background(), tm, c.opt)
		var te *TextError
		if !errors.Is(err, ErrEmptySupport) || !errors.As(err, &te) {
			t.Errorf("%s: error %v", c.text, err)
		} else if !strings.Contains(err.Error(), c.blank) {
			t.Errorf("%s: %q does not name %s", c.text, err, c.blank)
		}
	}
}

func TestWordListErrors(t *testing.T) {
	tok := tinyTokenizer(t)
	for _, w := range []string{"", "  ", "zebra!", "[MASK]", "a\xff", strings.Repeat("dog ", 33), strings.Repeat("d", 201)} {
		if _, err := NewWordList(tok, []string{"dog", w}); !errors.Is(err, ErrOption) {
			t.Errorf("%q: %v", w, err)
		}
	}
	if _, err := ReadWordList(tok, strings.NewReader("# comment\n\ndog\r\nqqq\n")); !errors.Is(err, ErrOption) || !strings.Contains(err.Error(), "line 4") {
		t.Errorf("%v", err)
	}
	if _, err := ReadWordList(tok, strings.NewReader("#\n\n")); !errors.Is(err, ErrOption) {
		t.Errorf("%v", err)
	}
	if l, err := ReadWordList(tok, strings.NewReader("\ufeffdog\r\n Big Dog \nDOG\n")); err != nil || l.Len() != 2 {
		t.Errorf("%v, %v", l, err)
	}
}

func TestNearer(t *testing.T) {
	distance := func(a, b string) int {
		for d := 0; ; d++ {
			if nearer(a, b, d+1) {
				return d
			}
		}
	}
	for _, c := range []struct {
		a, b string
		want int
	}{{"dog", "dog", 0}, {"Dog", "dOG", 0}, {"dog", "fog", 1}, {"kitten", "sitting", 3}, {"", "abc", 3}, {"naïve", "naive", 1}, {"flaw", "lawn", 2}} {
		if got := distance(c.a, c.b); got != c.want || distance(c.b, c.a) != got {
			t.Errorf("%s, %s: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// oracle is U of the filled blanks of a text by another way than the samplers'
// target: the pieces of the finished text, scored one by one, of which those
// inside the spans are summed.
func oracle(t *testing.T, e *Engine, text string, spans [][2]int) (u float64, pieces int) {
	t.Helper()
	s, err := e.Score(context.Background(), text)
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

// Every constraint leaves exactly the distribution that enumeration gives: the
// last states of many chains are compared with exp(U) of every filling that
// the constraint allows, each listed and scored by other code than the
// samplers use.
func TestConstraintDistributions(t *testing.T) {
	e := New(tiny(t))
	tok := e.model.Tokenizer()
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
			text := join(tok, []int32{a, b})
			if enc, err := tok.Pieces(text); err == nil && !tok.IsContinuation(a) && slices.Equal(enc.IDs, []int32{a, b}) {
				two = append(two, text)
			}
		}
	}
	for _, c := range []struct {
		name, text string
		opt        Options
		states     [][]string // fillings of the blanks, as many as blanks
	}{
		{"tied", "the [MASK:a] saw the big [MASK:a] .", Options{Vocab: VocabWholeWords},
			pairs(wordsOf(tok, nil), wordsOf(tok, nil), func(x, y string) bool { return x == y })},
		{"count", "the [MASK*2] .", Options{}, single(two)},
		{"count of whole words", "the [MASK*2] sleeps .", Options{Vocab: VocabWholeWords},
			single(strings.Split(joinPairs(wordsOf(tok, nil)), "\n"))},
		{"list", "the [MASK|red|green|dogs|big dog|small red fox|dog] sleeps in the [MASK|house|road|big river] .", Options{},
			pairs([]string{"red", "green", "dogs", "big dog", "small red fox", "dog"}, []string{"house", "road", "big river"}, nil)},
		{"list and tie", "the [MASK:a|dogs|big dog|fox] and the [MASK:a] in the [MASK|river|house] .", Options{},
			tripled(pairs([]string{"dogs", "big dog", "fox"}, []string{"river", "house"}, nil))},
		{"expression", "the [MASK/^[a-d]/] [MASK/s$/] in the house .", Options{},
			pairs(wordsOf(tok, func(w string) bool { return w[0] <= 'd' }), wordsOf(tok, func(w string) bool { return strings.HasSuffix(w, "s") }), nil)},
		{"ban", "the [MASK" + animal + "] saw the [MASK" + animal + "] .", Options{Ban: list(t, "dog", "fox", "bear", "red fox")},
			pairs(animals[1:6], animals[1:6], nil)},
		{"ban in several tokens", "the [MASK*2] .", Options{Ban: list(t, "the", "house", "dogs", "river")},
			single(slices.DeleteFunc(slices.Clone(two), func(s string) bool {
				for _, w := range strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' || r == '.' }) {
					if slices.Contains([]string{"the", "house", "dogs", "river"}, w) {
						return true
					}
				}
				return false
			}))},
		{"allow", "the [MASK] saw the [MASK*2] .", Options{Allow: list(t, "dog", "cats", "red fox", "he", "old bear")},
			pairs([]string{"dog", "cats", "red fox", "he", "old bear"}, []string{"cats", "red fox", "old bear"}, nil)},
		{"no repeat", "the [MASK" + animal + "] saw the [MASK" + animal + "] .", Options{NoRepeat: true},
			pairs(animals, animals, func(x, y string) bool { return x != y })},
		{"no repeat with lists", "a [MASK|dog|big dog|cat] saw a [MASK" + animal + "] .", Options{NoRepeat: true},
			pairs([]string{"dog", "big dog", "cat"}, animals, func(x, y string) bool { return !strings.HasSuffix(x, y) })},
		{"minimum distance", "the [MASK] sleeps .", Options{Vocab: VocabWholeWords, MinDistance: 3, Original: []string{"fox"}},
			single(wordsOf(tok, func(w string) bool { return !nearer(w, "fox", 3) }))},
		{"open count", "the [MASK*1-2/^(dog|big|red|cat|old)$/] sleeps .", Options{},
			single(append(strings.Split(joinPairs([]string{"dog", "big", "red", "cat", "old"}), "\n"), "dog", "big", "red", "cat", "old"))},
		{"inside a word", "the dog[MASK|s|y|ing big cat] sleeps .", Options{}, single([]string{"s", "y", "ing big cat"})},
		{"temperature 1", "the [MASK|dog|cow|cats] runs .", Options{Temperature: 1}, single([]string{"dog", "cow", "cats"})},
	} {
		t.Run(c.name, func(t *testing.T) {
			tm, err := Parse(tok, c.text)
			if err != nil {
				t.Fatal(err)
			}
			if c.opt.Temperature == 0 {
				// The modes of the tiny model are so far apart that chains of
				// a length fit for a test stay where they start.
				c.opt.Temperature = 4
			}
			index := map[string]int{}
			p := make([]float64, len(c.states))
			mass := map[int]float64{} // by length
			lengths := make([]int, len(p))
			for i, s := range c.states {
				text, spans := splice(tm, tok, s, CaseAuto)
				u, n := oracle(t, e, text, spans)
				index[text], lengths[i], p[i] = i, n, math.Exp(u/c.opt.Temperature)
				mass[n] += p[i]
			}
			if len(index) != len(p) || len(p) < 2 {
				t.Fatalf("%d texts of %d states", len(index), len(p))
			}
			all := 0.0
			for _, m := range mass {
				all += m
			}
			for i := range p {
				if c.name == "open count" { // uniform over lengths, then π
					p[i] /= mass[lengths[i]] * float64(len(mass))
				} else {
					p[i] /= all
				}
			}
			for _, name := range []string{"dmala", "gibbs-mh", "gwg"} {
				if name != "dmala" && (testing.Short() || len(p) > 1000) {
					continue
				}
				s, err := samplers.New(name, nil)
				if err != nil {
					t.Fatal(err)
				}
				opt := c.opt
				opt.Sampler, opt.Chains, opt.Steps, opt.Top, opt.Seed = s, 3000, 60, -1, 1
				if len(p) < 100 { // long runs are cheap: a state is evaluated once for all chains
					opt.Steps = 400
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
						t.Errorf("%s: %q scores %v, %v per token, want %v of %d", name, f.Text, f.Score, f.ScorePerToken, u, n)
					}
					counts[i] += f.Count
				}
				if z := chiSquare(counts, p); !(math.Abs(z) < 4.8) {
					t.Errorf("%s: differs from the enumerated distribution of %d states: score %.1f (acceptance %.2f)", name, len(p), z, r.Acceptance)
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

// Lengths that are left open come out equally often, whatever the energies.
func TestOpenLengths(t *testing.T) {
	e := New(tiny(t))
	tm, err := Parse(e.model.Tokenizer(), "the [MASK*1-3] saw a [MASK*2-3] .")
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{Chains: 24, Steps: 2, Seed: 9, Top: -1}
	if err := opt.fill(); err != nil {
		t.Fatal(err)
	}
	marginal := [2]map[int]int{{}, {}}
	joint := map[[2]int]int{}
	for seed := range uint64(200) {
		opt.Seed = seed
		p, err := e.plan(tm, &opt)
		if err != nil {
			t.Fatal(err)
		}
		first := [2]map[int]int{{}, {}}
		for _, pt := range p.parts {
			for g, n := range pt.tgt.counts {
				marginal[g][n] += len(pt.chains)
				first[g][n] += len(pt.chains)
			}
			joint[[2]int{pt.tgt.counts[0], pt.tgt.counts[1]}] += len(pt.chains)
		}
		if first[0][1] != 8 || first[0][3] != 8 || first[1][2] != 12 {
			t.Fatalf("seed %d: not stratified: %v", seed, first)
		}
	}
	var counts []int
	for _, n := range joint {
		counts = append(counts, n)
	}
	if len(counts) != 6 {
		t.Fatalf("joint lengths %v", joint)
	}
	// Independent and uniform: 800 each; the strata only lessen the scatter.
	for k, n := range joint {
		if math.Abs(float64(n)-800) > 5*math.Sqrt(800) {
			t.Errorf("lengths %v: %d times, expected 800", k, n)
		}
	}
	r, err := e.Fill(context.Background(), tm, opt)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range r.Fillings {
		if i > 0 && f.ScorePerToken > r.Fillings[i-1].ScorePerToken {
			t.Error("not ranked by score per token")
		}
	}
}

func TestDiverse(t *testing.T) {
	f := []Filling{
		{Text: "a", ScorePerToken: -1, ids: []int32{1, 2}},
		{Text: "b", ScorePerToken: -1.1, ids: []int32{1, 2}},
		{Text: "c", ScorePerToken: -1.2, ids: []int32{1, 3}},
		{Text: "d", ScorePerToken: -2.1, ids: []int32{4, 5}},
		{Text: "e", ScorePerToken: -9, ids: []int32{6, 7}},
	}
	// c loses half of λ, b all of it, d nothing: −2.2, −3.1, −2.1.
	got := ""
	for _, x := range diverse(f, 4) {
		got += x.Text
	}
	if got != "adcb" {
		t.Errorf("chosen %s", got)
	}
	if s := shared([]int32{1, 1, 2}, []int32{1, 3}); math.Abs(s-1.0/3) > 1e-12 {
		t.Errorf("overlap %v", s)
	}
}

func TestCut(t *testing.T) {
	tok := tinyTokenizer(t)
	words := strings.Fields(strings.Repeat("the big dogs saw a small cat near the house . ", 12))
	words[60] = "[MASK]"
	words[63] = "[MASK*3]"
	text := strings.Join(words, " ")
	tm, err := Parse(tok, text)
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{8, 9, 12, 20, 40, 1000} {
		cut, err := tm.Cut(limit, 2)
		if err != nil {
			t.Fatalf("%d: %v", limit, err)
		}
		if len(cut.IDs)+2 > limit || limit < 100 && len(cut.IDs)+2 < limit-2 {
			t.Errorf("limit %d: %d ids", limit, len(cut.IDs))
		}
		seen := text[cut.Window[0]:cut.Window[1]]
		if !strings.Contains(seen, "[MASK]") || !strings.Contains(seen, "[MASK*3]") {
			t.Errorf("limit %d: the window %q lacks a blank", limit, seen)
		}
		// What the model sees is what the window says.
		again, err := Parse(tok, seen)
		if err != nil || !slices.Equal(again.IDs, cut.IDs) || !slices.Equal(again.Positions(), cut.Positions()) {
			t.Errorf("limit %d: %q is read as %v, the model sees %v (%v)", limit, seen, again.IDs, cut.IDs, err)
		}
		if cut.Text != text {
			t.Error("the text changed")
		}
	}
	if _, err := tm.Cut(7, 2); err == nil || !strings.Contains(err.Error(), "span 6 pieces") {
		t.Errorf("blanks too far apart: %v", err)
	}
}

// A long text is filled with what is near its blanks; the rest stays.
func TestWindow(t *testing.T) {
	m := tiny(t)
	e := New(m)
	text := strings.Repeat("a dog runs . ", 30) + "the [MASK] sleeps ." + strings.Repeat(" a cat sees it .", 30)
	tm, err := Parse(m.Tokenizer(), text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Fill(context.Background(), tm, Options{Chains: 3, Steps: 4})
	if err != nil {
		t.Fatal(err)
	}
	if r.Window == nil || r.Window[0] == 0 || r.Window[1] == len(text) {
		t.Fatalf("window %v", r.Window)
	}
	before, after, _ := strings.Cut(text, "[MASK]")
	for _, f := range r.Fillings {
		if !strings.HasPrefix(f.Text, before) || !strings.HasSuffix(f.Text, after) {
			t.Errorf("%q", f.Text)
		}
	}
	if _, err := e.Fill(context.Background(), tm, Options{Chains: 3, Steps: 4, Long: LongError}); err == nil || !strings.Contains(err.Error(), "--long") {
		t.Errorf("%v", err)
	}
}
