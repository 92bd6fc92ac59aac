package text

import (
	"errors"
	"fmt"
	"infill/tokenize/tokenizetest"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func wordSet(t testing.TB, words ...string) *WordSet {
	t.Helper()
	s, err := NewWordSet(words)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// maskable are the words of a text that a masking may take.
func maskable(t *testing.T, m Masking, text string) []string {
	t.Helper()
	m.Rate, m.Words = 1, 0
	_, words, err := m.Template(tokenizetest.Tiny(t), text, 1, "")
	if err != nil && !errors.Is(err, ErrFewWords) {
		t.Fatalf("%q: %v", text, err)
	}
	return words
}

func TestKeep(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		keep, text string
		want       []string
	}{
		{"ann", "Ann saw ANN's dog, and Annie.", []string{"saw", "dog", "and", "Annie"}},
		{"New York", "new york, New-York or York", []string{"or", "York"}},
		{"don't", "I don\u2019t do it", []string{"I", "do", "it"}},
		{"dog", "Ann/dog dogs", []string{"dogs"}},
		{"cafe\u0301", "a cafe\u0301 cafe", []string{"a", "cafe"}},
		{"3.5", "3.5% of 3", []string{"of", "3"}},
	} {
		if got := maskable(t, Masking{Keep: wordSet(t, c.keep)}, c.text); !reflect.DeepEqual(got,
			c.want) {
			t.Errorf("%q without %q: %q, want %q", c.text, c.keep, got, c.want)
		}
	}
	if _, err := NewWordSet([]string{"a", " - "}); !errors.Is(err, ErrOption) {
		t.Errorf("%v", err)
	}
	s, err := ReadWordSet(strings.NewReader("# names\nAnn\n\n New York \n"))
	if err != nil || s.Len() != 2 {
		t.Errorf("%v, %+v", err, s)
	}
	if _, err := ReadWordSet(strings.NewReader("Ann\n--\n")); !errors.Is(err, ErrOption) ||
		!strings.Contains(err.Error(), "line 2") {
		t.Errorf("%v", err)
	}
	m := Masking{Rate: 1, Keep: wordSet(t, "the", "dog")}
	if _, _, err := m.Template(tokenizetest.Tiny(t), "The dog!", 1, ""); !errors.Is(err, ErrFewWords) {
		t.Errorf("a text of kept words: %v", err)
	}
}

func TestMaskOnly(t *testing.T) {
	t.Parallel()
	in := []LabelledSpan{{0, 10, "x"}}
	for _, c := range []struct {
		m    Masking
		text string
		want []string
	}{
		{Masking{}, "New York or york", []string{"New", "York"}},
		{Masking{}, "Ann's cat, ANN!", []string{"Ann", "ANN"}},
		{Masking{}, "Annie met a dog-lover", []string{"dog"}},
		{Masking{}, "https://ann.org/dog, @ann", nil},
		{Masking{Class: classEverything}, "https://ann.org/dog, @ann", nil},
		{Masking{}, "no such word", nil},
		{Masking{Keep: wordSet(t, "dog")}, "Ann's dog", []string{"Ann"}},
		{Masking{Class: ClassContent, Stop: wordSet(t, "ann")}, "Ann, dog", []string{"dog"}},
		{Masking{Spans: in, KeepLabels: []string{"x"}}, "Ann's dogs, Ann", []string{"Ann"}},
		{Masking{Spans: in, MaskLabels: []string{"x"}}, "Ann's dogs, Ann", []string{"Ann"}},
	} {
		c.m.Only = wordSet(t, "ann", "dog", "new york")
		if got := maskable(t, c.m, c.text); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestContentWords(t *testing.T) {
	t.Parallel()
	const text = "It's the mother-in-law who didn't give us 25 good books in 1999, isn't it?"
	want := []string{"mother-in-law", "give", "good", "books"}
	if got := maskable(t, Masking{Class: ClassContent}, text); !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	got := maskable(t, Masking{Class: ClassContent, Stop: wordSet(t, "good", "it's")}, "It's good, in 3")
	if !reflect.DeepEqual(got, []string{"in"}) {
		t.Errorf("%q", got)
	}
	if n := englishStops().Len(); n < 200 {
		t.Errorf("%d stop words", n)
	}
}

func TestLabels(t *testing.T) {
	t.Parallel()
	const text = "Ann's aunt Mary Ann lives in Annapolis."
	spans := []LabelledSpan{{0, 3, "name"}, {11, 19, "name"}, {29, 32, "name"}, {29, 38, "place"},
		{6, 10, "kin"}}
	for _, c := range []struct {
		mask, keep []string
		want       []string
	}{
		{nil, []string{"name"}, []string{"aunt", "lives", "in"}},
		{nil, []string{"place", "kin"}, []string{"Ann's", "Mary", "Ann", "lives", "in"}},
		// A span that ends within a word has nothing of it.
		{[]string{"name"}, nil, []string{"Ann", "Mary", "Ann"}},
		{[]string{anyLabel}, []string{"kin"}, []string{"Ann", "Mary", "Ann", "Annapolis"}},
		{[]string{"none"}, nil, nil},
	} {
		m := Masking{Spans: spans, MaskLabels: c.mask, KeepLabels: c.keep}
		if got := maskable(t, m, text); !reflect.DeepEqual(got, c.want) {
			t.Errorf("mask %q, keep %q: %q, want %q", c.mask, c.keep, got, c.want)
		}
	}
	for _, bad := range []LabelledSpan{{-1, 2, ""}, {3, 3, ""}, {0, 99, ""}, {4, 5, ""}} {
		m := Masking{Rate: 1, Spans: []LabelledSpan{bad}, KeepLabels: []string{anyLabel}}
		if _, _, err := m.Template(tokenizetest.Tiny(t), "caf\u00e9 au lait", 1, ""); !errors.Is(err, ErrSpan) {
			t.Errorf("%v: %v", bad, err)
		}
	}
	// Spans are of the text without its escapes.
	m := Masking{Spans: []LabelledSpan{{19, 22, "name"}}, KeepLabels: []string{anyLabel}}
	if got := maskable(t, m, `Bob [MASKED \[MASK] Ann`); !slices.Equal(got, []string{"Bob", "MASKED"}) {
		t.Errorf("%q", got)
	}
}

// Spans without a label to go by were passed over without a word, those outside the text too.
func TestSpansWithoutLabels(t *testing.T) {
	for _, spans := range [][]LabelledSpan{{{0, 3, "name"}}, {{-1, 99, ""}}} {
		m := Masking{Rate: 1, Spans: spans}
		_, _, err := m.Template(tokenizetest.Tiny(t), "Ann left.", 1, "")
		for _, err := range []error{err, m.Check()} {
			if !errors.Is(err, ErrOption) || !strings.Contains(err.Error(), `"*"`) {
				t.Errorf("%v: %v", spans, err)
			}
		}
	}
}

// Whatever is masked: no kept word, no byte of a kept span, no function word, nothing outside the
// spans that are to be masked, and the words put back give the text.
func FuzzMaskingKeeps(f *testing.F) {
	f.Add("Ann's aunt Mary Ann lives in New York.", "ann,new york", 3, 9, 11, 19, uint64(1), 0.5, true)
	f.Add("cafe\u0301 \u00e9t\u00e9 \u732b the don't", "caf\u00e9", 0, 4, 2, 30, uint64(2), 1.0, false)
	tok := tokenizetest.Tiny(f)
	letters := regexp.MustCompile(`[\pL\p{Nd}\pM]+`) // another way to find the parts of words
	f.Fuzz(func(t *testing.T, text, keep string, a, b, c, d int, seed uint64, rate float64,
		content bool) {
		set, err := NewWordSet(strings.Split(keep, ","))
		if err != nil {
			return
		}
		m := Masking{Rate: rate, Keep: set, KeepLabels: []string{"k"}, MaskLabels: []string{"m"},
			Spans: []LabelledSpan{{a, b, "k"}, {c, d, "m"}}}
		if content {
			m.Class = ClassContent
		}
		tm, words, err := m.Template(tok, text, seed, "")
		if err != nil {
			return
		}
		back, blanks := "", tm.Blanks
		last := 0
		for i, bl := range blanks {
			back += tm.Text[last:bl.Start]
			from := len(back)
			back += words[i]
			if last = bl.End; from < b && a < len(back) {
				t.Errorf("%q of the kept span %d to %d", words[i], a, b)
			}
			if from < c || len(back) > d {
				t.Errorf("%q outside of the span %d to %d", words[i], c, d)
			}
			if content && strings.Contains("the of and don't", strings.ToLower(words[i])) {
				t.Errorf("%q is not a content word", words[i])
			}
		}
		if back += tm.Text[last:]; back != text {
			t.Fatalf("%q, masked %q, back %q", text, tm.Text, back)
		}
		var parts []string
		for _, p := range letters.FindAllString(text, -1) {
			parts = append(parts, strings.ToLower(p))
		}
		masked := letters.FindAllString(strings.ReplaceAll(tm.Text, "[MASK]", " \u0001 "), -1)
		for _, entry := range strings.Split(keep, ",") {
			want := letters.FindAllString(strings.ToLower(entry), -1)
			if n, m := occurrences(parts, want), occurrences(lowered(masked), want); n > m {
				t.Errorf("%q stands %d times in %q, %d times in %q", entry, n, text, m, tm.Text)
			}
		}
	})
}

func lowered(list []string) []string {
	out := slices.Clone(list)
	for i := range out {
		out[i] = strings.ToLower(out[i])
	}
	return out
}

func occurrences(list, of []string) int {
	n := 0
	for i := 0; i+len(of) <= len(list); i++ {
		if slices.Equal(list[i:i+len(of)], of) {
			n++
		}
	}
	return n
}

// Words in a row are masked, each run of them as often as another.
func TestMaskAdjacent(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Tiny(t)
	const text = "the dog saw, a cat and the fox"
	seen := map[string]int{}
	const draws = 3000
	for k := range draws {
		tm, words, err := Masking{Words: 3, Adjacent: true}.Template(tok, text, 1, fmt.Sprint(k))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text, strings.Join(words, " ")) ||
			strings.Replace(text, strings.Join(words, " "), "[MASK] [MASK] [MASK]", 1) != tm.Text {
			t.Fatalf("%q: %q", tm.Text, words)
		}
		seen[strings.Join(words, " ")]++
	}
	if len(seen) != 4 { // nothing but white space stands between, so none has the comma within
		t.Errorf("%v", seen)
	}
	for words, n := range seen {
		if math.Abs(float64(n)-draws/4) > 5*math.Sqrt(draws*3./16) {
			t.Errorf("%q %d times of %d", words, n, draws)
		}
	}
	for _, m := range []Masking{
		{Words: 6, Adjacent: true},
		{Words: 2, Adjacent: true, Class: ClassContent}, // "dog saw" apart, and no two others
		{Words: 1, Adjacent: true, Fits: func(string, [2]int) bool { return false }},
	} {
		_, words, err := m.Template(tok, "the dog, saw the cat", 1, "")
		if !errors.Is(err, ErrFewWords) {
			t.Errorf("%+v: %q, %v", m, words, err)
		}
	}
	fits := func(text string, w [2]int) bool { return text[w[0]:w[1]] != "dog" }
	if got := maskable(t, Masking{Fits: fits}, "the dog saw"); !slices.Equal(got,
		[]string{"the", "saw"}) {
		t.Errorf("%q", got)
	}
}

// Joined words are one blank, of all that stood between the first and the last.
func TestMaskJoined(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Tiny(t)
	const line = "the dog  sleeps, she saw it ."
	seen := map[string]bool{}
	for seed := range uint64(50) {
		tm, taken, err := Masking{Words: 2, Adjacent: true, Joined: true}.Template(tok, line, seed, "")
		if err != nil || len(taken) != 1 || len(tm.Blanks) != 1 {
			t.Fatal(tm, taken, err)
		}
		if got := strings.Replace(tm.Text, "[MASK]", taken[0], 1); got != line {
			t.Errorf("%q back in its blank makes %q", taken[0], got)
		}
		seen[taken[0]] = true
	}
	for _, want := range []string{"the dog", "dog  sleeps", "she saw", "saw it"} {
		if !seen[want] {
			t.Errorf("%q is never a gap", want)
		}
	}
	if len(seen) != 4 {
		t.Errorf("gaps are %v", seen)
	}
	if err := (Masking{Words: 2, Joined: true}).Check(); !errors.Is(err, ErrOption) {
		t.Errorf("words from anywhere: %v", err)
	}
}
