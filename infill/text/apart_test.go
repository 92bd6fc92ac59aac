package text

import (
	"math"
	"strings"
	"testing"
)

// The z-scores are those of the formula, computed here by hand for two labels: "good" stands nine
// times in one of them and once in the other, of twenty words each.
func TestContrast(t *testing.T) {
	t.Parallel()
	var c Contrast
	m := Masking{Class: ClassContent}
	c.Add(m, strings.Repeat("Good. ", 9)+strings.Repeat("film, ", 11), "pos")
	c.Add(m, "the good of it "+strings.Repeat("film ", 11)+strings.Repeat("waste ", 8), "neg")
	if c.Labels() != 2 {
		t.Errorf("%d labels", c.Labels())
	}
	// α is a fifth of a word's count in all: 2 for good, 4.4 for film, 1.6 for waste; α₀ = 8.
	z := func(y, other, alpha float64) float64 {
		in, out := y+alpha, other+alpha
		return (math.Log(in/(28-in)) - math.Log(out/(28-out))) / math.Sqrt(1/in+1/out)
	}
	want := []Telling{{"waste", "neg", z(8, 0, 1.6)}, {"good", "pos", z(9, 1, 2)}}
	got := c.Telling()
	if len(got) != len(want) {
		t.Fatalf("%+v, want %+v", got, want)
	}
	for i, w := range want {
		if g := got[i]; g.Word != w.Word || g.Label != w.Label || math.Abs(g.Z-w.Z) > 1e-12 {
			t.Errorf("%+v, want %+v", g, w)
		}
	}
	if film := z(11, 11, 4.4); film != 0 {
		t.Errorf("a word that tells nothing has %v", film)
	}
	// A label among three is held against the others together.
	c.Add(m, strings.Repeat("film ", 20), "none")
	for _, w := range c.Telling() {
		if w.Word == "film" && w.Label != "none" {
			t.Errorf("%+v", w)
		}
	}
	if none := (&Contrast{}).Telling(); none != nil {
		t.Errorf("of no text %+v", none)
	}
}

// Content words are those with a letter that a list of function words does not cover.
func TestContent(t *testing.T) {
	t.Parallel()
	own := wordSet(t, "boycott")
	for word, want := range map[string]bool{"boycott": true, "The": false, "didn't": false, "12": false,
		"of the": false, "end of the": true, "": false} {
		if got := (*WordSet)(nil).Content(word); got != want {
			t.Errorf("%q: %v", word, got)
		}
	}
	if own.Content("Boycott") || !own.Content("the") {
		t.Error("another list of function words")
	}
}
