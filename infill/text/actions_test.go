package text

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// placed are the spans of words of a text, in order.
func placed(text string, words ...string) [][2]int {
	var out [][2]int
	last := 0
	for _, w := range words {
		a := last + strings.Index(text[last:], w)
		last = a + len(w)
		out = append(out, [2]int{a, last})
	}
	return out
}

func TestDelete(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, words, want string }{
		{"the old dog sleeps", "old", "the dog sleeps"},
		{"The old dog sleeps.", "The", "Old dog sleeps."},
		{"The old dog sleeps.", "sleeps", "The old dog."},
		{"The old dog sleeps.", "dog sleeps", "The old."},
		{"The old dog sleeps.", "old dog sleeps", "The."},
		{"He met Ann there", "Ann", "He met there"},
		{"\"Old dogs sleep\"", "Old", "\"Dogs sleep\""},
		{"It runs. They sleep", "They", "It runs. Sleep"},
		{"go\tby  day", "by", "go\t day"},
		{"我今天去。", "今", "我天去。"},
	} {
		left, from, to := Delete(c.text, placed(c.text, strings.Fields(c.words)...))
		if left != c.want {
			t.Errorf("%q without %s: %q, want %q", c.text, c.words, left, c.want)
		}
		// What goes put back where it was gives the text.
		back := left
		for i := len(to) - 1; i >= 0; i-- {
			back = back[:to[i][0]] + c.text[from[i][0]:from[i][1]] + back[to[i][1]:]
		}
		if !strings.EqualFold(back, c.text) {
			t.Errorf("%q without %s, back %q", c.text, c.words, back)
		}
	}
	for text, word := range map[string]string{"an old, red car": "old", "However, he": "However",
		"a (small) dog": "small", "the 'dog'": "dog"} {
		if deletable(text, placed(text, word)[0]) {
			t.Errorf("%q of %q", word, text)
		}
	}
}

// Any words together can be taken out and put back.
func TestDeleteBack(t *testing.T) {
	t.Parallel()
	const text = "The U.S. sent 3.5 tons of old, red 'cars' to Mr. Ann (today). I saw it! 我们走。"
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var words [][2]int
		for _, w := range wordSpans(text) {
			if deletable(text, w) && rng.IntN(2) == 0 {
				words = append(words, w)
			}
		}
		left, from, to := Delete(text, words)
		for i := len(to) - 1; i >= 0; i-- {
			left = left[:to[i][0]] + text[from[i][0]:from[i][1]] + left[to[i][1]:]
		}
		if !strings.EqualFold(left, text) {
			t.Fatalf("%q, words %v", left, words)
		}
	}
}

func TestGaps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, want string // the text with | where a word may go
		m          Masking
	}{
		{"The old dog, it sleeps.", "The |old |dog, |it |sleeps.", Masking{}},
		{"state-of-the-art (big) cat", "state-of-the-art (big) |cat", Masking{}},
		{"I love New York a lot", "I |love |New York |a |lot", Masking{Keep: wordSet(t, "new york")}},
		{"I love New York", "I |love |New York", Masking{Spans: []LabelledSpan{{7, 15, "p"}},
			KeepLabels: []string{"p"}}},
		{"I love New York", "I love New |York", Masking{Spans: []LabelledSpan{{7, 15, "p"}},
			MaskLabels: []string{"p"}}},
		{"I love New York", "I love New |York", Masking{Only: wordSet(t, "new york", "love")}},
		{"今天好，走 a", "今|天|好，走 |a", Masking{}},
	} {
		found := c.m.gaps(c.text, wordsOf(c.text))
		got, last := "", 0
		for _, g := range found {
			got += c.text[last:g[0]] + "|"
			last = g[0]
		}
		if got += c.text[last:]; got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	tm, masked, err := BlankOut(tokenizerOf(t, "a"), "a b 今天", [][2]int{{2, 2}, {7, 7}})
	if err != nil || tm.Text != "a [MASK] b 今[MASK]天" || strings.Join(masked, "") != "" {
		t.Errorf("%q, %q, %v", tm.Text, masked, err)
	}
}
