package protocols

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Two samplers on three sentences after 5, 50 and 100 steps. The second is as likely after 50 steps
// as the first between 50 and 100, whose self-BLEU there is between those of these.
func TestSeries(t *testing.T) {
	// Only the last step is compared with references, which is a column more.
	refs := filepath.Join(t.TempDir(), "refs.txt")
	if err := os.WriteFile(refs, []byte("one two three four of nothing\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &pager{job: &job{samplers: "a b", seeds: "1"}, top: 5, references: []string{refs}}
	texts := func(same bool, i int) []state {
		words := []string{"one two three four five", "six seven eight nine ten", "red blue pink grey gold"}
		first, second := words[i], words[i]+" more"
		if !same {
			second = "all of " + strings.Repeat(string(rune('a'+i))+" ", 5) + "is else"
		}
		return []state{{first, 0, 1}, {second, 0, 1}}
	}
	var all []record
	for _, at := range []struct {
		steps    int
		a, b     float64 // U a blank
		asA, asB bool    // their two texts are alike
	}{{5, -12, -12, false, false}, {50, -10, -8, true, false}, {100, -6, -6, false, false}} {
		for i, sentence := range []string{"1", "2", "3"} {
			for _, name := range []string{"a", "b"} {
				u, same := at.a, at.asA
				if name == "b" {
					u, same = at.b, at.asB
				}
				r := record{Blanks: 1, RHat: 1.5, States: texts(same, i)}
				r.key = key{Model: "m", Data: "in.txt", Protocol: fromRandom, Budget: "steps",
					Steps: at.steps, Of: 100, Chains: 2, Sampler: name, Sentence: sentence, Seed: 1}
				if at.steps == 100 {
					r.Of = 0
				}
				for k := range r.States {
					r.States[k].Score = u
				}
				all = append(all, r)
			}
		}
	}
	var b strings.Builder
	if err := p.write(&b, all); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	early := fieldsOf(t, page, "| 50 |")
	late := fieldsOf(t, page, "| 100 |")
	equal := fieldsOf(t, page, "| equal U |")
	if !slices.Equal(early[:2], []string{"-10.00, -8.00", "1.50, 1.50"}) {
		t.Errorf("%q, %q", early, equal)
	}
	// By hand: a is at −8 half of the way from −10 to −6. Its texts after 100 steps are as those of b
	// after 50.
	var d [3]float64
	for i, row := range []string{early[3], late[3], equal[3]} {
		d[i] = numberIn(t, row)
	}
	if d[0] > -10 || d[1] != 0 || !(d[2] > d[0]/2-0.06 && d[2] < d[0]/2+0.06) {
		t.Errorf("self-BLEU differs by %v", d)
	}
	if !strings.Contains(page, "-protocols R -seeds 1") || !strings.Contains(page, "-steps 100 -at 5,50") ||
		strings.Count(page, "\n## ") != 0 {
		t.Errorf("commands and sections of\n%s", page)
	}
}

// numberIn is the first number of a cell.
func numberIn(t *testing.T, cell string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(strings.Fields(cell)[0], 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
