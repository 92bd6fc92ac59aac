package nearest

import (
	"strings"
	"testing"
)

func TestName(t *testing.T) {
	t.Parallel()
	known := []string{"dmala", "gibbs", "gibbs-mh", "seed", "top", "whole-words", "Österreich"}
	for written, want := range map[string]string{
		"dmala": "dmala", "dmalla": "dmala", "DMALA": "dmala", "dmlaa": "dmala", "gibs": "gibbs",
		"whole-word": "whole-words",
		"sead":       "seed", "tpo": "top", "österreihc": "Österreich", // neighbours exchanged
		"foo":   "", // one letter of "top"
		"xyzzy": "", "gibberish": "", "ab": "", "": "", strings.Repeat("dmala", 20): "",
	} {
		if got := Name(written, known); got != want {
			t.Errorf("%q: %q, want %q", written, got, want)
		}
	}
	if got := Name("ax", []string{"ay", "az"}); got != "ay" {
		t.Errorf("a tie: %q, want the first", got)
	}
	if got := Name("dmla", []string{"dula", "dmala", "dmma"}); got != "dmala" {
		t.Errorf("a tie: %q, want the one that begins with the same two letters", got)
	}
	if got := Name("x", nil); got != "" {
		t.Errorf("nothing known: %q", got)
	}
}

func TestSlip(t *testing.T) {
	t.Parallel()
	known := []string{"steps", "top", "start", "chains", "temperature"}
	for written, want := range map[string]string{
		"stepz": "steps", "Steps": "steps", "step": "steps", "TOP": "top", "tops": "", "chain": "chains",
		"stars": "start", "state": "", "temprture": "temperature", "tmprture": "", "": "",
		strings.Repeat("temperature", 9): "",
	} {
		if got := Slip(written, known); got != want {
			t.Errorf("%q: %q, want %q", written, got, want)
		}
	}
}

// Known distances, counted by hand.
func TestDistance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"ab", "ba", 1}, {"ca", "abc", 3},
		{"flaw", "lawn", 2}} {
		if got := distance([]rune(c.a), []rune(c.b)); got != c.want {
			t.Errorf("%q, %q: %d, want %d", c.a, c.b, got, c.want)
		}
		if got := distance([]rune(c.b), []rune(c.a)); got != c.want {
			t.Errorf("%q, %q: %d, want %d", c.b, c.a, got, c.want)
		}
	}
}
