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

	"infill/mlm"
)

func TestBlankGrammar(t *testing.T) {
	t.Parallel()
	tok := tinyTokenizer(t)
	for _, c := range []struct {
		text string
		want Blank
	}{
		{"[MASK]", Blank{Min: 1, Max: 1}},
		{"____", Blank{Min: 1, Max: 1}},
		{"[MASK:a]", Blank{Name: "a", Min: 1, Max: 1}},
		{"[MASK*3]", Blank{Min: 3, Max: 3, counted: true}},
		{"[MASK.]", Blank{Min: 1, Max: 1, Punctuation: true}},
		{"[MASK:a*2.]", Blank{Name: "a", Min: 2, Max: 2, counted: true, Punctuation: true}},
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
		if len(tm.blanks) != 1 || !reflect.DeepEqual(tm.blanks[0], c.want) {
			t.Errorf("%s: %+v", c.text, tm.blanks)
		}
	}
	// What only looks like a blank is text.
	if _, err := Parse(tok, "the [MASKED] __ [MASK-1] ."); !errors.Is(err, ErrNoBlank) {
		t.Errorf("%v", err)
	}
}

func TestBlankErrors(t *testing.T) {
	t.Parallel()
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
		"the [MASK..] .":                    "once",
		"the [MASK.|a] .":                   "order",
		"the [MASK.*2] .":                   "order",
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
		if !errors.Is(err, ErrBlank) || !errors.As(err, &te) || te.Offset < 4 ||
			!strings.Contains(err.Error(), says) {
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
	t.Parallel()
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
	t.Parallel()
	tok := tinyTokenizer(t)
	for _, w := range []string{"", "  ", "zebra!", "[MASK]", "a\xff", strings.Repeat("dog ", 33), strings.Repeat("d", 201)} {
		if _, err := NewWordList(tok, []string{"dog", w}); !errors.Is(err, ErrOption) {
			t.Errorf("%q: %v", w, err)
		}
	}
	if _, err := ReadWordList(tok, strings.NewReader("# comment\n\ndog\r\nqqq\n")); !errors.Is(
		err, ErrOption,
	) ||
		!strings.Contains(err.Error(), "line 4") {
		t.Errorf("%v", err)
	}
	if _, err := ReadWordList(tok, strings.NewReader("#\n\n")); !errors.Is(err, ErrOption) {
		t.Errorf("%v", err)
	}
	if l, err := ReadWordList(tok, strings.NewReader("\ufeffdog\r\n Big Dog \nDOG\n")); err != nil ||
		l.Len() != 2 {
		t.Errorf("%v, %v", l, err)
	}
}

func TestNearer(t *testing.T) {
	t.Parallel()
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

// Lengths that are left open come out equally often, whatever the energies.
func TestOpenLengths(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	tm, err := Parse(e.model.Tokenizer(), "the [MASK*1-3] saw a [MASK*2-3] .")
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{Chains: 24, Steps: 2, Seed: 9, AllFillings: true, Score: ScorePLL}
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
	t.Parallel()
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
	t.Parallel()
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
		if len(cut.ids)+2 > limit || limit < 100 && len(cut.ids)+2 < limit-2 {
			t.Errorf("limit %d: %d ids", limit, len(cut.ids))
		}
		seen := text[cut.window[0]:cut.window[1]]
		if !strings.Contains(seen, "[MASK]") || !strings.Contains(seen, "[MASK*3]") {
			t.Errorf("limit %d: the window %q lacks a blank", limit, seen)
		}
		// What the model sees is what the window says.
		again, err := Parse(tok, seen)
		if err != nil || !slices.Equal(again.ids, cut.ids) ||
			!slices.Equal(again.Positions(), cut.Positions()) {
			t.Errorf(
				"limit %d: %q is read as %v, the model sees %v (%v)", limit, seen, again.ids, cut.ids, err,
			)
		}
		if cut.text != text {
			t.Error("the text changed")
		}
	}
	for _, room := range []int{-10, 0} {
		if cut, err := tm.Cut(12, room); err != nil || len(cut.ids) > 12 {
			t.Errorf("room %d: %d ids, %v", room, len(cut.ids), err)
		}
	}
	if _, err := tm.Cut(7, 2); err == nil || !strings.Contains(err.Error(), "span 6 pieces") {
		t.Errorf("blanks too far apart: %v", err)
	}
}

// A long text is filled with what is near its blanks; the rest stays.
func TestWindow(t *testing.T) {
	t.Parallel()
	m := tiny(t)
	e := New(m)
	text := strings.Repeat(
		"a dog runs . ", 30,
	) + "the [MASK] sleeps ." + strings.Repeat(
		" a cat sees it .", 30,
	)
	tm, err := Parse(m.Tokenizer(), text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Fill(context.Background(), tm, Options{Chains: 3, Steps: 4, Score: ScorePLL})
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
	if _, err := e.Fill(context.Background(), tm, Options{Chains: 3, Steps: 4, Long: LongError}); !errors.Is(
		err, mlm.ErrTooLong,
	) {
		t.Errorf("%v", err)
	}
}
