package space

import (
	"testing"

	"infill/infill/request"
	"infill/infill/text"
	"infill/tokenize/tokenizetest"
)

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

// What the model does not read of a word makes no other word of it.
func TestDistantAsRead(t *testing.T) {
	t.Parallel()
	tm, err := text.Parse(tokenizetest.Tiny(t), "the [MASK] sat")
	if err != nil {
		t.Fatal(err)
	}
	d := distant(base{t: tm}, &request.WordOptions{MinDistance: 1, Original: []string{"D\u00f6g"}})
	ask, _ := d.alone(slot{Group: &tm.Groups[0]})
	for word, want := range map[string]bool{"dog": false, "d\u00f6g": false, "fox": true} {
		if ask(text.Phrase{Text: word}) != want {
			t.Errorf("%q: %v", word, !want)
		}
	}
}
