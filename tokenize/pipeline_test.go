package tokenize

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// TestQuick holds the words that BERT's faster way finds equal to those of the general way.
func TestQuick(t *testing.T) {
	parts := []string{"Ab", "c", "x1", ".", "'", "[", " ", "\t", "\n", "\r\n", "É", "e\u0301",
		"\u0323\u0301", "\u00a0", "\u0001", "\u200b", "中", "İ", "한", "\u2028", "\x7f", "ß", "—"}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 20000 {
		p := bertText(bertNormalizer{i&1 == 0, i&2 == 0, i&4 == 0, i&8 == 0})
		if i&16 == 0 {
			p.norm = append([]normalizer{straight{}}, p.norm...)
		}
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		quick, general := new(scratch), new(scratch)
		p.words(quick, b.String(), 5)
		p.general(general, b.String(), 5)
		if !reflect.DeepEqual(quick, general) && len(quick.words)+len(general.words) > 0 {
			t.Fatalf("%q with %+v: %q %+v, want %q %+v", b.String(), *p.bert, quick.norm.text, quick,
				general.norm.text, general)
		}
	}
}

// TestEncodeAllocates holds that most of what an encoding takes is what it returns.
func TestEncodeAllocates(t *testing.T) {
	tok := hfTokenizer(t, "bert-uncased")
	text := passages[0]
	per := testing.AllocsPerRun(200, func() {
		if _, err := tok.Encode(text); err != nil {
			t.Fatal(err)
		}
	})
	if per > 40 {
		t.Errorf("%v allocations for a sentence, want at most 40", per)
	}
}
