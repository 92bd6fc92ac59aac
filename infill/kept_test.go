package infill

import (
	"context"
	"slices"
	"testing"

	"infill/samplers"
)

// A memo with room for two rows of the vocabulary holds all that chains over a list can ask, and of
// candidates as well: only their values are remembered.
func TestListsFitSmallMemos(t *testing.T) {
	t.Parallel()
	m := openSmall(t)
	ctx := context.Background()
	for _, c := range []struct {
		name, text string
		opt        Options
	}{
		{"rows of a list", "the [MASK|dog|cat|red] and the [MASK|dog|cat|old|red] .",
			Options{Sampler: &samplers.GibbsMH{}}},
		{"gradients of a list", "the [MASK|dog|cat|red] and the [MASK|dog|cat|old|red] .",
			Options{Sampler: &samplers.DMALA{}}},
		{"candidates", "the [MASK] and the [MASK] .", Options{Sampler: &samplers.GibbsMH{}, Shortlist: 3}},
	} {
		tm, err := Parse(m.Tokenizer(), c.text)
		if err != nil {
			t.Fatal(err)
		}
		c.opt.Steps, c.opt.Chains, c.opt.Score = 30, 4, ScorePLL
		// Candidates are chosen by whole rows, which fall out of the memo.
		bytes := int64(2*4*m.VocabSize() + 20*entryBytes + 20*200)
		e, small := New(m), NewWithMemo(m, bytes)
		want, err := e.Fill(ctx, tm, c.opt)
		if err != nil {
			t.Fatal(err)
		}
		got, err := small.Fill(ctx, tm, c.opt)
		if err != nil {
			t.Fatal(err)
		}
		if got.Evaluated != want.Evaluated || want.Repeated == 0 {
			t.Errorf("%s: %d rows evaluated with room for two, %d with room for all; %d repeated", c.name,
				got.Evaluated, want.Evaluated, want.Repeated)
		}
	}
}

// Values are found where they were put, and tokens that are not kept are said to be missing.
func TestKept(t *testing.T) {
	t.Parallel()
	k := newKept([][]int32{{7, 3}, {3, 1}}, 9)
	if !slices.Equal(k.ids, []int32{1, 3, 7}) || k.width(9) != 3 || len(k.name) != keptBytes {
		t.Fatalf("%+v", k)
	}
	row, back := make([]float32, 6), slices.Repeat([]float32{-1}, 18)
	all := []float32{10, 11, 12, 13, 14, 15, 16, 17, 18}
	k.pick(row[:3], all)
	k.pick(row[3:], all[:8])
	if !slices.Equal(row[:3], []float32{11, 13, 17}) || k.value(row, 7) != 17 {
		t.Errorf("%v", row)
	}
	k.spreadAll(back, row, 2)
	if back[9+3] != 13 || back[9+7] != 17 || back[9+4] != -1 || back[1] != 11 {
		t.Errorf("%v", back)
	}
	if !k.covers([][]int32{{1, 3}, {7}}) || k.covers([][]int32{{1, 2}}) {
		t.Error("covers says what is not so")
	}
	other := newKept([][]int32{{1, 3, 8}}, 9)
	if other.name == k.name {
		t.Error("two sets have one name")
	}
	var nothing *kept
	if newKept([][]int32{{0, 1, 2, 3, 4, 5, 6, 7}}, 9) != nil || !nothing.covers([][]int32{{1}}) ||
		nothing.width(9) != 9 || nothing.value(all, 2) != 12 {
		t.Error("a set of nearly all tokens is not the whole vocabulary")
	}
}
