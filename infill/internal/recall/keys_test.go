package recall

import (
	"testing"

	"infill/mlm"
)

// The key of a row is what the model sees and the place that is asked about; what else is a blank
// of the sentence does not matter.
func TestKeys(t *testing.T) {
	t.Parallel()
	const mask = 4
	row := func(blanks []int, state []int32, i int) string {
		s := &mlm.Sentence{IDs: []int32{2, mask, 300, mask, 3}, Blanks: blanks}
		for j, p := range blanks {
			s.IDs[p] = int32(90 + j) // ignored
		}
		return string(contextKey(nil, "", s, state, i, mask))
	}
	same := row([]int{1, 3}, []int32{7, 8}, 0)
	for i, other := range []string{
		row([]int{1, 3}, []int32{9, 8}, 0), row([]int{1, 2, 3}, []int32{5, 300, 8}, 0),
	} {
		if other != same {
			t.Errorf("%d: the same row has another key", i)
		}
	}
	seen := map[string]int{same: -1}
	for i, other := range []string{
		row([]int{1, 3}, []int32{7, 9}, 0), row([]int{1, 3}, []int32{7, 8}, 1),
		row([]int{1, 3}, []int32{7, mask}, 0), row([]int{1, 3}, []int32{mask, 7}, 1),
		row([]int{1, 2, 3}, []int32{5, 301, 8}, 0),
		string(stateKey(nil, "", &mlm.Sentence{IDs: []int32{2, 0, 3}, Blanks: []int{1}}, []int32{7})),
		string(stateKey(nil, "", &mlm.Sentence{IDs: []int32{2, 7, 3}, Blanks: []int{}}, []int32{})),
	} {
		if j, ok := seen[other]; ok {
			t.Errorf("%d and %d have the same key", i, j)
		}
		seen[other] = i
	}
}
