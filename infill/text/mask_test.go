package text

import (
	"errors"
	"infill/tokenize/tokenizetest"
	"math"
	"reflect"
	"strings"
	"testing"
)

// wordSpans are the words that a Masking takes if it may take all.
func wordSpans(text string) [][2]int {
	var words [][2]int
	for _, w := range wordsOf(text) {
		if !w.fixed {
			words = append(words, w.span)
		}
	}
	return words
}

func TestWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                                    nil,
		" -- ... ":                            nil,
		"She said, \"don't!\" (twice).":       {"She", "said", "don't", "twice"},
		"a\tb\u00a0c\r\nd":                    {"a", "b", "c", "d"},
		"state-of-the-art 3.5%":               {"state-of-the-art", "3.5"},
		"\U0001F600 cafe\u0301 \u732b \u05d0": {"cafe\u0301", "\u732b", "\u05d0"},
	} {
		var got []string
		for _, w := range wordSpans(text) {
			got = append(got, text[w[0]:w[1]])
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestMaskWords(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Tiny(t)
	const text = "One two,\tthree four \u2013 five six seven eight."
	for rate, n := range map[float64]int{0.01: 1, 0.25: 2, 0.5: 4, 1: 8} {
		tm, words, err := Masking{Rate: rate}.Template(tok, text, 1, "7")
		if err != nil {
			t.Fatal(err)
		}
		masked := tm.Text
		if err != nil || len(words) != n || strings.Count(masked, "[MASK]") != n {
			t.Fatalf("rate %v: %q, %q, %v", rate, masked, words, err)
		}
		// The words put back give the text back.
		for _, w := range words {
			masked = strings.Replace(masked, "[MASK]", w, 1)
		}
		if masked != text {
			t.Errorf("rate %v: %q", rate, masked)
		}
	}
	// Every word is taken about equally often.
	count := map[string]int{}
	const runs = 4000
	for s := range uint64(runs) {
		_, words, err := Masking{Rate: 0.25}.Template(tok, text, s, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range words {
			count[w]++
		}
	}
	for w, n := range count {
		// Five standard deviations of a binomial with p = 1/4.
		if math.Abs(float64(n)-runs/4) > 5*math.Sqrt(runs*3/16.0) {
			t.Errorf("%q taken %d times of %d", w, n, runs)
		}
	}
	for _, bad := range []struct {
		text string
		rate float64
		is   error
	}{{text, 0, ErrOption}, {text, 1.1, ErrOption}, {text, math.NaN(), ErrOption}, {"a ___", 0.5, ErrBlank}, {" . ", 0.5, ErrEmpty}} {
		if _, _, err := (Masking{Rate: bad.rate}).Template(tok, bad.text, 1, ""); !errors.Is(
			err, bad.is,
		) {
			t.Errorf("%q at %v: %v, want %v", bad.text, bad.rate, err, bad.is)
		}
	}
}

// Masking takes words and nothing else: put back, they give the text byte for byte,
// and what stands between the blanks of the masked text is what stood there.
func TestMaskingKeepsBytes(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Tiny(t)
	for _, text := range []string{
		"the\tbig\t\tdog  sleeps .",
		"\u00a0the dog sleeps\u00a0.\u2003",
		"the \U0001F469\u200d\U0001F680 dog \U0001F600 e\u0301\u0302le\u0300ve sleeps .",
		"\u202e\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd\u202c \u0645\u0631\u062d\u0628\u0627 dog",
		"\u2018quotes\u2019 \u201cand\u201d \u2026 (more)!! <b>bold</b> & \\ \" {\"text\": 1}",
		"caf\u00e9 \ufb01 \u2167 \uff26\uff35\uff2c\uff2c x",
		"\ufeffUnicode ends \ufeff",
		"\u732b\u304c\u5bdd\u308b the cat",
		"line\r\nwith words\nmore\rlines\r\n",
	} {
		for n := 1; n <= len(wordSpans(text)); n++ {
			made, words, err := Masking{Words: n}.Template(tok, text, 3, "7")
			if err != nil {
				t.Fatal(err)
			}
			masked := made.Text
			if err != nil || len(words) != n {
				t.Fatalf("%q, %d words: %q, %v", text, n, words, err)
			}
			back := masked
			for _, w := range words {
				back = strings.Replace(back, "[MASK]", w, 1)
			}
			if back != text {
				t.Errorf("%q became %q, and back %q", text, masked, back)
			}
			// The template belongs to the masked text.
			tm, err := Parse(tok, masked)
			made.Masked = nil
			if err != nil || !reflect.DeepEqual(tm, made) {
				t.Errorf("%q: %+v, parsed %+v, %v", masked, made, tm, err)
			}
		}
	}
}

// Words are counted as they are masked.
func TestCountWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 0, " . ,": 0, "the dog .": 2, "don't — 'tis (so)": 3,
		"a\tb\u00a0c": 3} {
		if got := CountWords(text); got != want || got != len(wordSpans(text)) {
			t.Errorf("%q has %d words, want %d", text, got, want)
		}
	}
}
