package infill

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"infill/infill/internal/target"
	"infill/infill/text"
	"infill/internal/testmode"
)

// Word blanks take whole words, as many as they say, each of at most five pieces that the tokenizer
// makes of it. What constraints say holds for the words. Enumeration of all sequences is the truth.
func TestWordBlanks(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	tok := e.Tokenizer()
	plain := func(opt WordOptions) Options { return Options{Words: opt} }
	for _, c := range []struct {
		text   string
		opt    Options
		fits   func(words []string) bool
		pieces int // at most, of what is enumerated
	}{
		{"the [MASK*w] saw a cat .", Options{}, func(w []string) bool { return len(w) == 1 }, 2},
		{"the [MASK*w/ing$/] saw a cat .", Options{}, func(w []string) bool {
			return len(w) == 1 && strings.HasSuffix(w[0], "ing")
		}, 2},
		{"the [MASK*2w] .", Options{}, func(w []string) bool { return len(w) == 2 }, 2},
		{"the [MASK*w] .", plain(WordOptions{Ban: list(t, "runs", "dogs")}), func(w []string) bool {
			return len(w) == 1 && w[0] != "runs" && w[0] != "dogs"
		}, 2},
	} {
		tm := parsed(t, e, c.text)
		opt := c.opt
		opt.Search.Effort = EffortThorough // has two pieces too
		if err := opt.Prepare(); err != nil {
			t.Fatal(err)
		}
		p, err := e.resolve(t.Context(), tm, &opt)
		if err != nil {
			t.Fatal(c.text, err)
		}
		got := map[string]bool{}
		for _, pt := range p.Choices {
			if len(pt.Target.Coords) > c.pieces {
				continue
			}
			x := make([]int32, len(pt.Target.Coords))
			for {
				if pt.Target.Valid(x) {
					word := pt.Target.Word(x, 0)
					enc, err := tok.Pieces(word)
					if ids := pt.Target.Filling(0, x, nil); err != nil || !slices.Equal(enc.IDs, ids) {
						t.Errorf("%s: %q is not cut as %v: %v", c.text, word, ids, err)
					}
					if !c.fits(strings.Fields(word)) {
						t.Errorf("%s: takes %q", c.text, word)
					}
					got[word] = true
				}
				if !count(x, pt) {
					break
				}
			}
		}
		// Every pair of pieces that makes such words is there.
		for _, a := range p.Choices[0].Target.Coords[0].IDs {
			for b := int32(-1); int(b) < tok.VocabSize(); b++ {
				ids := []int32{a}
				if b >= 0 {
					ids = append(ids, b)
				}
				word := text.Word(tok, ids)
				enc, err := tok.Pieces(word)
				if err != nil || !slices.Equal(enc.IDs, ids) || len(ids) > c.pieces ||
					strings.IndexFunc(word, func(r rune) bool { return (r < 'a' || r > 'z') && r != ' ' }) >= 0 ||
					!c.fits(strings.Fields(word)) {
					continue
				}
				if !got[word] {
					t.Errorf("%s: does not take %q", c.text, word)
				}
			}
		}
		if len(got) < 3 {
			t.Errorf("%s: takes %v", c.text, got)
		}
	}
}

// count goes on to the next state of a choice, and reports whether there is one.
func count(x []int32, pt target.Choice) bool {
	for i := range x {
		if x[i]++; int(x[i]) < pt.Target.Coords[i].K() {
			return true
		}
		x[i] = 0
	}
	return false
}

// With the unit word a plain blank takes words of several pieces beside those of one, each with its
// part for the length.
func TestUnitWord(t *testing.T) {
	t.Parallel()
	testmode.Long(t)
	e := New(openSmall(t))
	const line = "They went to [MASK] for their holiday."
	pieces := exactFill(t, e, line, Options{Results: ResultOptions{Top: 30}})
	words := exactFill(t, e, line, Options{Words: WordOptions{Unit: text.UnitWord},
		Results: ResultOptions{Top: 30}})
	spelt := exactFill(t, e, "They went to [MASK*w] for their holiday.",
		Options{Results: ResultOptions{Top: 30}})
	if fmt.Sprint(words.Fillings) != fmt.Sprint(spelt.Fillings) {
		t.Error("the unit and the count of one word differ")
	}
	score := map[string]float64{}
	for _, f := range pieces.Fillings {
		score[f.Text] = f.Score
	}
	for _, f := range words.Fillings {
		if s, ok := score[f.Text]; ok && math.Abs(f.Score-f.Parts.Length-s) > 1e-5 {
			t.Errorf("%q scores %v with %v for its length, and %v as a piece", f.Text, f.Score,
				f.Parts.Length, s)
		}
	}
}
