package space

import (
	"strings"
	"testing"

	"infill/infill/request"
	"infill/infill/text"
	"infill/tokenize/tokenizetest"
)

// In a vocabulary that marks spaces a word has other pieces after a space than after a bracket, and
// comes back by those of its place.
func TestReachesMarked(t *testing.T) {
	t.Parallel()
	const line = "The cat sat (down) near the unlikeliest-named house."
	for _, name := range tokenizetest.MarkedNames {
		s := NewSupports(tokenizetest.Marked(t, name))
		p, err := text.Read(s.tok, line)
		if err != nil {
			t.Fatal(err)
		}
		all, err := text.Masking{Rate: 1}.Choose(p, 1, "")
		if err != nil || len(all) != 8 {
			t.Fatalf("%d words, %v", len(all), err)
		}
		for _, w := range all {
			word := line[w[0]:w[1]]
			tm, _, err := text.BlankOut(s.tok, line, [][2]int{w})
			if err != nil {
				t.Fatal(err)
			}
			whole, err := text.Parse(s.tok, line[:w[1]]+" [MASK]")
			if err != nil {
				t.Fatal(err)
			}
			before, err := text.Parse(s.tok, line[:w[0]]+"[MASK]")
			if err != nil {
				t.Fatal(err)
			}
			// The text up to the end of the word has one piece more than up to its beginning.
			one := len(whole.IDs)-len(before.IDs) == 1
			long := strings.Repeat("the cat sat ", 80) // of which a part is read
			in := [2]int{len(long) + w[0], len(long) + w[1]}
			if got := s.Reaches(line, w, request.WordOptions{}); got != one ||
				w[0] > 0 && s.Reaches(long+line+" "+long, in, request.WordOptions{}) != one {
				t.Errorf("%s: %q: %v, want %v; %s", name, word, got, one, tm.Text)
			}
		}
	}
}
