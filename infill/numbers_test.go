package infill

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unicode"

	"infill/infill/text"
	"infill/mlm"
	"infill/samplers"
)

// A plain blank takes numbers where tokens with digits have more than half of what the model gives
// to words and numbers, summed here over the vocabulary, and what nothing else decides.
func TestNumbers(t *testing.T) {
	t.Parallel()
	m := openSmall(t)
	tok := m.Tokenizer()
	share := func(line string, at int) float64 {
		tm := parsed(t, New(m), line)
		state := slices.Repeat([]int32{tok.MaskID()}, len(tm.Blanks))
		s := &mlm.Sentence{IDs: tm.IDs, Blanks: tm.Positions()}
		out := [][]float32{make([]float32, m.VocabSize())}
		if err := m.Conditional(t.Context(), s, [][]int32{state}, []int{at}, out); err != nil {
			t.Fatal(err)
		}
		words, numbers := 0.0, 0.0
		for id := range int32(tok.VocabSize()) {
			p := tok.Token(id)
			if tok.IsSpecial(id) || tok.IsUnused(id) || tok.IsContinuation(id) ||
				!strings.ContainsFunc(p[:1], func(r rune) bool { return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' }) {
				continue // letters that are not of ASCII have next to nothing here
			}
			if strings.ContainsAny(p, "0123456789") {
				numbers += math.Exp(float64(out[0][id]))
			} else {
				words += math.Exp(float64(out[0][id]))
			}
		}
		return numbers / (numbers + words)
	}
	texts := []string{"She was born on 4 July [MASK].", "She was born in [MASK].", "The [MASK] sat on the [MASK].",
		"It was popular in the [MASK] of the [MASK].", "On [MASK] May [MASK] he left.",
		"In the summer of [MASK] we met [MASK] times."}
	seen := map[bool]int{}
	for _, line := range texts {
		for _, opt := range []Options{{}, {Method: MethodSample, Sampling: SamplingOptions{Chains: 2,
			Steps: 2, Sampler: &samplers.DMALA{}}}} {
			e := New(m).WithMemo(0)
			r, err := e.FillText(t.Context(), line, opt)
			if err != nil {
				t.Fatal(err)
			}
			for b := range r.Fillings[0].Spans {
				p := share(line, b)
				if math.Abs(p-0.5) < 0.02 {
					t.Fatalf("%s: blank %d is undecided, %.3f", line, b+1, p)
				}
				if seen[p > 0.5]++; slices.Contains(r.Numbers, b) != (p > 0.5) {
					t.Errorf("%s: numbers in %v, those of blank %d have %.3f", line, r.Numbers, b+1, p)
				}
			}
		}
	}
	if seen[true] < 4 || seen[false] < 4 {
		t.Errorf("%v blanks with numbers and without", seen)
	}
	const born = "She was born on 4 July [MASK]."
	r, err := New(m).FillText(t.Context(), born, Options{})
	if err != nil || !strings.ContainsFunc(r.Fillings[0].Tokens[0], unicode.IsDigit) {
		t.Errorf("%+v, %v", r, err)
	}
	whole := Options{Words: WordOptions{Vocab: text.VocabWholeWords}}
	known := Options{Words: WordOptions{Original: []string{"she"}}}
	for _, opt := range []Options{whole, known} {
		if r, err := New(m).FillText(t.Context(), born, opt); err != nil || r.Numbers != nil ||
			strings.ContainsFunc(r.Fillings[0].Tokens[0], unicode.IsDigit) {
			t.Errorf("%+v, %v", r, err)
		}
	}
	for _, line := range []string{"She was born on 4 July [MASK/^[a-z]+$/].",
		"She was born on 4 July [MASK|in|at].", "She was born on 4 July [MASK*1-2]."} {
		if r, err := New(m).FillText(t.Context(), line, Options{}); err != nil || r.Numbers != nil {
			t.Errorf("%s: %+v, %v", line, r, err)
		}
	}
}

// A rank that is asked of a number lets a plain blank take numbers, with the model's shares.
func TestRankOfNumber(t *testing.T) {
	t.Parallel()
	m := openSmall(t)
	opt := Options{Results: ResultOptions{Rank: []string{"1984", "paris"}}}
	r, err := New(m).FillText(t.Context(), "She was happy in the [MASK].", opt)
	if err != nil || len(r.Ranks) != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	tm := parsed(t, New(m), "She was happy in the [MASK].")
	state := [][]int32{{m.Tokenizer().MaskID()}}
	out := [][]float32{make([]float32, m.VocabSize())}
	s := &mlm.Sentence{IDs: tm.IDs, Blanks: tm.Positions()}
	if err := m.Conditional(t.Context(), s, state, []int{0}, out); err != nil {
		t.Fatal(err)
	}
	id := func(word string) int32 {
		enc, err := m.Tokenizer().Pieces(word)
		if err != nil || len(enc.IDs) != 1 {
			t.Fatal(word, enc, err)
		}
		return enc.IDs[0]
	}
	want := float64(out[0][id("1984")] - out[0][id("paris")])
	if got := math.Log(r.Ranks[0].Probability / r.Ranks[1].Probability); math.Abs(got-want) > 1e-4 {
		t.Errorf("%v, want %v", got, want)
	}
	if len(r.Numbers) > 0 {
		t.Errorf("blanks %v are doubtful, and were asked for", r.Numbers)
	}
}
