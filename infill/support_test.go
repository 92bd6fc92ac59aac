package infill

import "testing"

// However many constraints there are, every one of their keys counts, and so does their order.
func TestJoinedKeys(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 9, 20} {
		keys := make([]any, n)
		for i := range keys {
			keys[i] = i
		}
		whole := joined(keys)
		if whole != joined(append([]any(nil), keys...)) {
			t.Errorf("%d equal keys differ", n)
		}
		if whole == joined(keys[:n-1]) || whole == joined(append(keys[:n:n], n)) {
			t.Errorf("%d keys equal fewer or more", n)
		}
		for i := range keys {
			other := append([]any(nil), keys...)
			other[i] = "another"
			if whole == joined(other) {
				t.Errorf("key %d of %d does not count", i, n)
			}
		}
	}
}
