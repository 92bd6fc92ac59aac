package recall

import (
	"slices"
	"testing"
)

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
